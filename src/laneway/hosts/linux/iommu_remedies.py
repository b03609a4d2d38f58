"""What turns the IOMMU on, by what firmware, processor and kernel line show."""

from laneway.hosts.linux.platform_facts import Cpu
from laneway.hosts.linux.tree import HostTree

_TABLES = "sys/firmware/acpi/tables"
_KERNEL_LINE = "the kernel command line (GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub or grub2-mkconfig)"
_VT_D = "Intel VT-d ('Virtualization Technology for Directed I/O') in the firmware setup"
_AMD_VI = "the IOMMU (AMD-Vi, beside SVM) in the firmware setup"
_VIRTUAL = (
    "give this VM a virtual IOMMU (QEMU: -device intel-iommu,intremap=on,caching-mode=on; libvirt: "
    "<iommu model='intel'>), and intel_iommu=on on its kernel command line"
)


def iommu_remedy(tree: HostTree, cpu: Cpu) -> str:
    """The first thing to do so that the kernel uses an IOMMU."""
    options = tree.head("proc/cmdline", 4096).split()
    refused = next((option for option in options if option in {"intel_iommu=off", "amd_iommu=off", "iommu=off"}), None)
    if refused is not None:
        return f"take {refused} off {_KERNEL_LINE} and reboot"
    tables = tree.names(_TABLES)
    has_dmar, has_ivrs = "DMAR" in (tables or ()), "IVRS" in (tables or ())
    if cpu.in_vm and not has_dmar and not has_ivrs:
        return _VIRTUAL
    if has_dmar or (cpu.vendor == "GenuineIntel" and not has_ivrs):
        return _intel_remedy(options, has_dmar=has_dmar, knows_tables=tables is not None)
    if has_ivrs:
        return "the firmware offers an IOMMU that the kernel does not use: see 'dmesg | grep -i amd-vi' for the reason"
    if cpu.vendor in {"AuthenticAMD", "HygonGenuine"}:
        return f"turn on {_AMD_VI}; the kernel uses it without an option"
    if cpu.vendor == "ARM":
        return (
            "the firmware must describe the SMMU (ACPI table IORT, or the device tree); look for an option in its setup"
        )
    return f"turn on the IOMMU in the firmware setup; on Intel add intel_iommu=on iommu=pt to {_KERNEL_LINE}"


def _intel_remedy(options: list[str], *, has_dmar: bool, knows_tables: bool) -> str:
    asked = "intel_iommu=on" in options
    if has_dmar and asked:
        return "intel_iommu=on is given and the firmware offers VT-d: see 'dmesg | grep -i dmar' for why it is not used"
    if has_dmar:
        return f"add intel_iommu=on iommu=pt to {_KERNEL_LINE} and reboot"
    if asked:
        return f"turn on {_VT_D}: intel_iommu=on is given, but the firmware offers none"
    if knows_tables:
        return f"turn on {_VT_D}, add intel_iommu=on iommu=pt to {_KERNEL_LINE} and reboot"
    return f"add intel_iommu=on iommu=pt to {_KERNEL_LINE} and reboot; if that is not enough, turn on {_VT_D}"
