"""What system a tree is of: its name, its kernel, its boot."""

import re

from laneway.domain.inventory import OperatingSystem
from laneway.hosts.linux.printable import printable
from laneway.hosts.linux.tree import HostTree

_VERSION = r"Linux version (\S+)"


def read_host_name(tree: HostTree) -> str | None:
    """The name that the kernel has, else that of the next boot."""
    for path in ("proc/sys/kernel/hostname", "etc/hostname"):
        if name := _line(tree, path):
            return name
    return None


def read_operating_system(tree: HostTree) -> OperatingSystem:
    release = _line(tree, "proc/sys/kernel/osrelease")
    if release is None and (version := re.match(_VERSION, _line(tree, "proc/version") or "")):
        release = version[1]
    return OperatingSystem(family="linux", release=release)


def read_boot_id(tree: HostTree) -> str | None:
    """The id that the kernel makes at each boot (Documentation/admin-guide/sysctl/kernel.rst, random)."""
    return _line(tree, "proc/sys/kernel/random/boot_id")


def _line(tree: HostTree, path: str) -> str | None:
    return printable(tree.text(path) or "").strip() or None
