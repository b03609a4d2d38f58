"""The graphics function that the host's own console is on."""

from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.hosts.linux.function_paths import FunctionPaths, device_path
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.use_findings import UseCode, UseFindings


def find_boot_console(tree: HostTree, paths: FunctionPaths, findings: UseFindings) -> None:
    """The VGA device that the firmware booted on (``boot_vga``) and the one of the first framebuffer.

    The console of a boot VGA device that is bound to a vfio driver is gone already. Only the first
    framebuffer counts: consoles are on it unless ``fbcon=map`` says otherwise, and every other
    graphics card has one as well.
    """
    framebuffers = [name for name in tree.names("sys/class/graphics") or () if name[2:].isdigit()]
    if framebuffers:
        first = min(framebuffers, key=lambda name: int(name[2:]))
        target = tree.link(f"sys/class/graphics/{first}") or ""
        findings.add(paths.functions_of(device_path(target)), UseCode.BOOT_CONSOLE, first)
    for address, boot_vga in paths.with_entry("boot_vga"):
        if tree.head(boot_vga, 1) == "1" and not _is_on_vfio(tree, boot_vga):
            findings.add((address,), UseCode.BOOT_CONSOLE, "boot_vga")


def _is_on_vfio(tree: HostTree, boot_vga: str) -> bool:
    driver = tree.link(boot_vga.removesuffix("boot_vga") + "driver")
    return driver is not None and is_vfio_driver(driver.rpartition("/")[2])
