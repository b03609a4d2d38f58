"""The graphics function that the host's own console is on."""

from collections.abc import Mapping

from laneway.domain.address import PciAddress
from laneway.hosts.linux.function_paths import FunctionPaths, device_path
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.use_findings import UseCode, UseFindings


def find_boot_console(
    tree: HostTree, directories: Mapping[PciAddress, str], paths: FunctionPaths, findings: UseFindings
) -> None:
    """The VGA device that the firmware booted on (``boot_vga``) and the one of the first framebuffer.

    The console of a boot VGA device that is bound to a vfio driver is gone already. Only the first
    framebuffer counts: consoles are on it unless ``fbcon=map`` says otherwise, and every other
    graphics card has one as well.
    """
    first = min(
        (name for name in tree.names("sys/class/graphics") or () if name[2:].isdigit()), key=_number, default=None
    )
    if first is not None:
        target = tree.link(f"sys/class/graphics/{first}") or ""
        findings.add(paths.functions_of(device_path(target)), UseCode.BOOT_CONSOLE, first)
    for address, directory in directories.items():
        place = f"sys/devices/{device_path(directory)}"
        if (tree.text(f"{place}/boot_vga") or "").strip() == "1" and "vfio" not in (tree.link(f"{place}/driver") or ""):
            findings.add((address,), UseCode.BOOT_CONSOLE, "boot_vga")


def _number(name: str) -> int:
    return int(name[2:])
