"""Partitions that the kernel found on a disk: it is told to forget them, and the disk is not touched."""

import array
import fcntl
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.hosts.linux.block_devices import BlockDevices, read_block_devices
from laneway.hosts.linux.function_paths import FunctionPaths
from laneway.hosts.linux.listing import DEVICES
from laneway.hosts.linux.tree import HostTree

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
    """The block devices, partitions among them, that hang on this function and on no other."""
    return frozenset(_of(_blocks(tree), address))


def partitions_of(tree: HostTree, address: PciAddress) -> list[Partition]:
    """The partitions of these disks."""
    blocks = _blocks(tree)
    found = []
    for name in sorted(_of(blocks, address)):
        number = (tree.text(f"sys/class/block/{name}/partition") or "").strip()
        if blocks is not None and blocks.is_partition(name) and number.isdecimal():
            found.append(Partition(blocks.paths[name].split("/")[-2], int(number)))
    return found


def _blocks(tree: HostTree) -> BlockDevices | None:
    return read_block_devices(tree, FunctionPaths(dict(_places(tree))))


def _of(blocks: BlockDevices | None, address: PciAddress) -> Iterator[str]:
    if blocks is not None:
        yield from (name for name, functions in blocks.functions.items() if functions == {address})


def _places(tree: HostTree) -> Iterator[tuple[PciAddress, str]]:
    """All functions, as one disk may hang on several."""
    for name in tree.names(DEVICES) or ():
        try:
            yield PciAddress.parse(name), tree.real(f"{DEVICES}/{name}")
        except LanewayError:
            continue


def forget_partition(node: str, number: int) -> None:
    """Has the running kernel forget a partition of the disk at ``node``, of which nothing is read or written.

    Raises OSError: EBUSY where somebody has the partition open, ENXIO where there is none.
    """
    partition = array.array("B", _PARTITION.pack(0, 0, number, b"", b""))
    address, _ = partition.buffer_info()
    disk = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(disk, _BLKPG, _ARGUMENT.pack(_DELETE, 0, _PARTITION.size, address))
    finally:
        os.close(disk)
