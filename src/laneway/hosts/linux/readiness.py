"""Whether a host is ready to give functions to VMs, and what to do where it is not."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from laneway.domain.inventory import PciFunction, Platform, ReadinessNote
from laneway.hosts.linux.group_readiness import group_notes
from laneway.hosts.linux.iommu_remedies import iommu_remedy
from laneway.hosts.linux.platform_facts import (
    IOMMU_OFF,
    Cpu,
    read_cpu,
    read_interrupt_remapping,
    read_iommu,
    read_vfio_pci,
)
from laneway.hosts.linux.tree import HostTree

_SEVERITIES = ("error", "warning", "info")
_FIRST_VF_RESOURCE = 7
_VF_RESOURCES = 6
_UNASSIGNED = 0x20000000
"""IORESOURCE_UNSET (linux/ioport.h): the kernel found no place for it."""


def readiness(
    root: Path, functions: Sequence[PciFunction], *, live: bool
) -> tuple[Platform, tuple[ReadinessNote, ...]]:
    """What the platform can do, and what stands in the way of passthrough, worst first, each with a remedy.

    Needs of the functions: group, driver, SR-IOV and ``in_use_by``. ``live`` tells that ``root`` is
    the running system. Reads only, and raises nothing.
    """
    tree = HostTree(root)
    cpu = read_cpu(tree)
    has_groups = any(function.iommu_group is not None for function in functions)
    vfio_pci, is_loaded = read_vfio_pci(tree, live=live)
    platform = Platform(
        iommu=read_iommu(tree, cpu, has_groups=has_groups, live=live),
        interrupt_remapping=read_interrupt_remapping(tree),
        vfio_pci=vfio_pci,
    )
    notes = (
        *_iommu_notes(tree, cpu, platform),
        *_vfio_notes(platform, is_loaded=is_loaded),
        *_sriov_notes(tree, functions),
        *group_notes(functions),
    )
    return platform, tuple(sorted(notes, key=lambda note: _SEVERITIES.index(note.severity)))


def _iommu_notes(tree: HostTree, cpu: Cpu, platform: Platform) -> Iterator[ReadinessNote]:
    if cpu.in_vm:
        yield ReadinessNote(
            code="inside_vm",
            severity="info",
            message="This host runs below a hypervisor: it can pass on only what it was given itself",
            remedy="for passthrough from within it needs a virtual IOMMU with interrupt remapping",
        )
    if platform.iommu == IOMMU_OFF:
        yield ReadinessNote(
            code="iommu_off",
            severity="error",
            message="The kernel uses no IOMMU: no function can be given to a VM",
            remedy=iommu_remedy(tree, cpu),
        )
    elif platform.iommu is not None and platform.interrupt_remapping is False:
        yield _interrupt_note(tree)


def _interrupt_note(tree: HostTree) -> ReadinessNote:
    if tree.head("sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", 1) == "Y":
        return ReadinessNote(
            code="unsafe_interrupts",
            severity="warning",
            message="Interrupts are not remapped and vfio allows that: a VM with a device can inject interrupts into "
            "the host",
            remedy="give devices to trusted VMs only, or turn on interrupt remapping in the firmware setup (x2APIC)",
        )
    return ReadinessNote(
        code="interrupt_remapping_off",
        severity="error",
        message="Interrupts are not remapped: VFIO refuses to open any device",
        remedy="turn on interrupt remapping in the firmware setup and take intremap=off off the kernel command line; "
        "for trusted VMs only, vfio_iommu_type1.allow_unsafe_interrupts=1 does without",
    )


def _vfio_notes(platform: Platform, *, is_loaded: bool) -> Iterator[ReadinessNote]:
    if platform.vfio_pci is False:
        yield ReadinessNote(
            code="vfio_pci_missing",
            severity="error",
            message="The kernel has no driver vfio-pci, which VMs get their devices through",
            remedy="install the rest of the kernel's modules (linux-modules-extra, kernel-modules), or a kernel with "
            "CONFIG_VFIO_PCI",
        )
    elif platform.vfio_pci and not is_loaded:
        yield ReadinessNote(
            code="vfio_pci_not_loaded",
            severity="info",
            message="The driver vfio-pci is there, but not loaded",
            remedy="modprobe vfio-pci; for every boot write vfio-pci to /etc/modules-load.d/vfio-pci.conf",
        )


def _sriov_notes(tree: HostTree, functions: Sequence[PciFunction]) -> Iterator[ReadinessNote]:
    capable = [function for function in functions if function.sriov is not None]
    disabled = [f for f in capable if f.sriov is not None and f.sriov.total_vfs == 0]
    if disabled:
        yield ReadinessNote(
            code="sriov_disabled",
            severity="warning",
            message=f"SR-IOV is there, but the firmware allows no VFs: {_names(disabled)}",
            remedy="turn on SR-IOV in the firmware setup, and in the card's own (such as 'mlxconfig set SRIOV_EN=1 "
            "NUM_OF_VFS=8')",
        )
    homeless = [f for f in capable if f.sriov is not None and f.sriov.total_vfs and _lacks_vf_memory(tree, f)]
    if homeless:
        yield ReadinessNote(
            code="sriov_no_memory",
            severity="warning",
            message=f"The firmware left no address space for VFs, so making them fails: {_names(homeless)}",
            remedy="turn on 'Above 4G decoding' and SR-IOV in the firmware setup, or add pci=realloc to the kernel "
            "command line",
        )


def _lacks_vf_memory(tree: HostTree, function: PciFunction) -> bool:
    """Whether a VF register of the PF has no place (Documentation/filesystems/sysfs-pci.rst, ``resource``).

    A kernel that knows SR-IOV lists them in lines 8 to 13, as start, end and flags. It clears those
    that it found no place for, or marks them; one that was not there to begin with is clear too.
    """
    lines = (tree.text(f"sys/bus/pci/devices/{function.address}/resource") or "").splitlines()
    try:
        registers = [
            tuple(int(value, 16) for value in line.split())
            for line in lines[_FIRST_VF_RESOURCE : _FIRST_VF_RESOURCE + _VF_RESOURCES]
        ]
    except ValueError:
        return False
    if len(registers) < _VF_RESOURCES or any(len(register) != 3 for register in registers):
        return False
    placed = [end > start and not flags & _UNASSIGNED for start, end, flags in registers]
    return not any(placed) or any(flags and not here for (_, _, flags), here in zip(registers, placed, strict=True))


def _names(functions: Sequence[PciFunction]) -> str:
    return ", ".join(str(function.address) for function in functions)
