"""The block devices of a host, and the PCI functions that each of them stands on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.hosts.linux.function_paths import FunctionPaths, device_path
from laneway.hosts.linux.tree import HostTree

_NVME_PATH = re.compile(r"nvme(\d+)c\d+n(\d+)")
_NVME_HEAD = re.compile(r"nvme\d+n\d+")


@dataclass(frozen=True, slots=True)
class BlockDevices:
    """All block devices by kernel name (``sda1``, ``dm-0``), with what each of them is made of.

    ``paths`` are their places in the device tree, ``below`` the block devices directly below each
    of them (a partition's disk, the members of an array), ``functions`` the PCI functions that
    would take the device away with them, however many layers lie between.
    """

    paths: Mapping[str, str]
    below: Mapping[str, frozenset[str]]
    functions: Mapping[str, frozenset[PciAddress]]

    def is_partition(self, name: str) -> bool:
        return self.paths[name].rpartition("/")[0].rpartition("/")[2] in self.paths

    def is_nvme_path(self, name: str) -> bool:
        """One way to a multipath NVMe namespace: hidden, it has no node and cannot be opened."""
        return _NVME_PATH.fullmatch(name) is not None


def read_block_devices(tree: HostTree, paths: FunctionPaths) -> BlockDevices | None:
    """The block devices of the tree, or None where it does not list them."""
    places = _places(tree)
    if places is None:
        return None
    below: dict[str, set[str]] = {name: set() for name in places}
    direct: dict[str, frozenset[PciAddress]] = {}
    for name, path in places.items():
        direct[name] = frozenset(paths.functions_of(path))
        _add_layers(tree, places, name, below)
    for name, path in places.items():
        if path.startswith("virtual/nvme-subsystem/") and not below[name] and _NVME_HEAD.fullmatch(name):
            direct[name] = _functions_of_controllers(tree, path, paths)
    return BlockDevices(
        paths=places,
        below={name: frozenset(lower) for name, lower in below.items()},
        functions={name: _functions_below(name, below, direct) for name in places},
    )


def _places(tree: HostTree) -> dict[str, str] | None:
    names = tree.names("sys/class/block")
    if names is not None:
        return {name: device_path(tree.link(f"sys/class/block/{name}") or "") for name in names}
    disks = tree.names("sys/block")
    if disks is None:
        return None
    places = {}
    for disk in disks:
        places[disk] = device_path(tree.link(f"sys/block/{disk}") or "")
        for part in tree.names(f"sys/block/{disk}") or ():
            if part.startswith(disk):
                places[part] = f"{places[disk]}/{part}"
    return places


def _add_layers(tree: HostTree, places: Mapping[str, str], name: str, below: dict[str, set[str]]) -> None:
    """What lies directly below ``name``, and which devices it lies below itself."""
    path = places[name]
    directory = f"sys/devices/{path}"
    disk = path.rpartition("/")[0].rpartition("/")[2]
    if disk in places:
        below[name].add(disk)
    for holder in tree.names(f"{directory}/holders") or ():
        if holder in below:
            below[holder].add(name)
    if path.startswith("virtual/"):
        below[name].update(slave for slave in tree.names(f"{directory}/slaves") or () if slave in below)
    if name.startswith("loop"):
        backing = (tree.text(f"{directory}/loop/backing_file") or "").strip()
        node = backing.removeprefix("/dev/").replace("/", "!")
        if backing.startswith("/dev/") and node in below:
            below[name].add(node)
    one_path = _NVME_PATH.fullmatch(name)
    if one_path:
        head = f"nvme{one_path[1]}n{one_path[2]}"
        if head in below:
            below[head].add(name)


def _functions_of_controllers(tree: HostTree, path: str, paths: FunctionPaths) -> frozenset[PciAddress]:
    """The functions of all controllers of an NVMe subsystem, where single paths are not listed."""
    subsystem = f"sys/devices/{path.rpartition('/')[0]}"
    found: set[PciAddress] = set()
    for name in tree.names(subsystem) or ():
        target = tree.link(f"{subsystem}/{name}") if name.startswith("nvme") else None
        if target is not None:
            found.update(paths.functions_of(device_path(tree.real(f"{subsystem}/{name}"))))
    return frozenset(found)


def _functions_below(
    name: str, below: Mapping[str, set[str]], direct: Mapping[str, frozenset[PciAddress]]
) -> frozenset[PciAddress]:
    seen = {name}
    waiting = [name]
    found: set[PciAddress] = set()
    while waiting:
        current = waiting.pop()
        found |= direct[current]
        new = below[current] - seen
        seen |= new
        waiting.extend(new)
    return frozenset(found)
