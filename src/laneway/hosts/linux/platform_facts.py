"""What a host can do for passthrough: its IOMMU, interrupt remapping, vfio-pci."""

from dataclasses import dataclass

from laneway.hosts.linux.system import read_operating_system
from laneway.hosts.linux.tree import HostTree

IOMMU_OFF = "off"
IOMMU_OTHER = "other"

_IOMMU_NAMES = {
    "dmar": "intel",
    "ivhd": "amd",
    "smmu": "arm",
    "arm-smmu": "arm",
    "s390-iommu": "s390",
    "iommu-phb": "power",
    "riscv": "riscv",
    "apple-dart": "apple",
    "virtio": "virtio",
}
"""How the names of the devices in /sys/class/iommu begin, with the kind each driver stands for."""

_KINDS_BY_VENDOR = {"GenuineIntel": "intel", "AuthenticAMD": "amd", "HygonGenuine": "amd", "ARM": "arm"}


@dataclass(frozen=True, slots=True)
class Cpu:
    """``vendor`` as CPUID gives it, ``ARM`` for Arm's; ``in_vm`` where a hypervisor is below."""

    vendor: str | None
    in_vm: bool


def read_cpu(tree: HostTree) -> Cpu:
    """From the first processor of /proc/cpuinfo."""
    vendor, in_vm = None, False
    for line in tree.head("proc/cpuinfo", 8192).splitlines():
        key, _, value = line.partition(":")
        key, value = key.strip(), value.strip()
        if key == "vendor_id":
            vendor = value
        elif key == "CPU implementer":
            vendor = "ARM"
        elif key == "flags":
            in_vm = "hypervisor" in value.split()
        elif not key and vendor:
            break
    return Cpu(vendor, in_vm)


def read_iommu(tree: HostTree, cpu: Cpu, *, has_groups: bool, live: bool) -> str | None:
    """The kind of IOMMU that the kernel uses, or ``off``; None where the tree does not tell.

    ``has_groups`` tells that some function is in an IOMMU group. Groups that VFIO makes without an
    IOMMU do not count.
    """
    devices = tree.names("sys/class/iommu")
    if devices:
        return _iommu_kind(devices[0])
    groups = tree.names("sys/kernel/iommu_groups")
    if tree.head("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", 1) == "Y":
        return IOMMU_OFF
    if has_groups or groups:
        return _KINDS_BY_VENDOR.get(cpu.vendor or "", IOMMU_OTHER)
    return IOMMU_OFF if live or devices is not None or groups is not None else None


def _iommu_kind(device: str) -> str:
    """virtio-iommu's devices have the name of their own place: a PCI address, or ``x.virtio_mmio``."""
    for start, kind in _IOMMU_NAMES.items():
        if device.startswith(start):
            return kind
    return "virtio" if device.count(":") == 2 or device.endswith("virtio_mmio") else IOMMU_OTHER


def read_interrupt_remapping(tree: HostTree) -> bool | None:
    """By the names of interrupt controllers in /proc/interrupts.

    On x86 all have ``IR-`` in front where interrupts are remapped; an Arm ITS always isolates
    devices. None where the table is missing or tells of neither.
    """
    table = tree.head("proc/interrupts", 1 << 16)
    if " IR-" in table or " ITS-" in table:
        return True
    return False if "IO-APIC" in table or "PCI-MSI" in table else None


def read_vfio_pci(tree: HostTree, *, live: bool) -> tuple[bool | None, bool]:
    """Whether the kernel has the driver vfio-pci, and whether it is loaded."""
    if tree.exists("sys/bus/pci/drivers/vfio-pci") or tree.exists("sys/module/vfio_pci"):
        return True, True
    release = read_operating_system(tree).release
    tables = [tree.data(f"lib/modules/{release}/{name}") for name in ("modules.dep", "modules.builtin")]
    if any(table is not None for table in tables):
        return any(b"/vfio-pci.ko" in table for table in tables if table is not None), False
    # A kernel that cannot load modules has what it shows, and no more.
    return (False if live and not tree.exists("proc/modules") else None), False
