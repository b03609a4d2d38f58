"""Partitions that the kernel found on a disk: it is told to forget them, and the disk is not touched."""

# Paths are strings, as in ``tree``.
# ruff: noqa: PTH115, PTH208

import array
import os
import re
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.hosts.linux.device_directory import read_attribute
from laneway.hosts.linux.tree import HostTree

_BLOCK = "sys/class/block"
_MULTIPATH_WAY = re.compile(r"nvme(\d+)c\d+n(\d+)")
"""One way to a disk of native NVMe multipath, which itself is no child of any function."""

# include/uapi/linux/blkpg.h
_BLKPG = 0x1269
_DELETE = 2
_ARGUMENT = struct.Struct("@iiiP")
_PARTITION = struct.Struct("@qqi64s64s4x")


class Partition(NamedTuple):
    """The kernel's name of a disk, and the number of a partition on it."""

    disk: str
    number: int


def disks_of(tree: HostTree, address: PciAddress) -> frozenset[str]:
    """The block devices, partitions among them, that hang on this function and on no other. Raises OSError."""
    return frozenset(_of(_places(tree), address))


def partitions_of(tree: HostTree, address: PciAddress) -> list[Partition]:
    """The partitions of these disks. Raises OSError."""
    places = _places(tree)
    found = []
    for name in sorted(_of(places, address)):
        disk = _parent(places[name])
        if disk in places:
            found.append(Partition(disk, int(read_attribute(f"{tree.root}{_BLOCK}/{name}/partition"))))
    return found


def _places(tree: HostTree) -> dict[str, str]:
    """All block devices, with their places in the device tree. What cannot be read is an error, and never none."""
    return {name: os.readlink(f"{tree.root}{_BLOCK}/{name}") for name in os.listdir(tree.root + _BLOCK)}


def _of(places: Mapping[str, str], address: PciAddress) -> Iterator[str]:
    ways = defaultdict(list)
    for name, place in places.items():
        way = _MULTIPATH_WAY.fullmatch(name)
        if way:
            ways[f"nvme{way[1]}n{way[2]}"].append(place)
    for name, place in places.items():
        disk = _parent(place) if _parent(place) in places else name
        if all(f"/{address}/" in way for way in ways.get(disk, [place])):
            yield name


def _parent(place: str) -> str:
    return place.split("/")[-2]


def forget_partition(node: str, number: int) -> None:
    """Has the running kernel forget a partition of the disk at ``node``, of which nothing is read or written.

    Raises OSError: EBUSY where somebody has the partition open, ENXIO where there is none.
    """
    import fcntl  # noqa: PLC0415 - only Unix has it, and only there is a running kernel of Linux

    partition = array.array("B", _PARTITION.pack(0, 0, number, b"", b""))
    address, _ = partition.buffer_info()
    disk = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(disk, _BLKPG, _ARGUMENT.pack(_DELETE, 0, _PARTITION.size, address))
    finally:
        os.close(disk)
