"""Disks and partitions that hang on one function alone."""

import errno
import fcntl
import struct
from pathlib import Path

import pytest

from hosts.host_tree import HostTreeBuilder
from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.partitions import Partition, disks_of, forget_partition, partitions_of
from laneway.hosts.linux.tree import HostTree

ADDRESS = PciAddress.parse("0000:01:00.0")
OTHER = PciAddress.parse("0000:02:00.0")


def disk(host: HostTreeBuilder, name: str, place: str, *numbers: int) -> None:
    separator = "p" if name[-1].isdecimal() else ""
    host.disk(name, place, [f"{name}{separator}{number}" for number in numbers])
    for number in numbers:
        host.write(f"sys/class/block/{name}{separator}{number}/partition", f"{number}\n")


@pytest.fixture
def places(host: HostTreeBuilder) -> tuple[str, str]:
    return host.function(str(ADDRESS)), host.function(str(OTHER))


def test_the_disks_of_a_function_and_their_partitions(host: HostTreeBuilder, places: tuple[str, str]) -> None:
    own, other = places
    disk(host, "nvme0n1", f"{own}/nvme/nvme0", 1, 2)
    disk(host, "nvme0n2", f"{own}/nvme/nvme0")
    disk(host, "nvme1n1", f"{other}/nvme/nvme1", 1)
    tree = HostTree(host.root)
    assert disks_of(tree, ADDRESS) == {"nvme0n1", "nvme0n1p1", "nvme0n1p2", "nvme0n2"}
    assert partitions_of(tree, ADDRESS) == [Partition("nvme0n1", 1), Partition("nvme0n1", 2)]


def test_scsi_disks_too(host: HostTreeBuilder, places: tuple[str, str]) -> None:
    disk(host, "sda", f"{places[0]}/ata1/host0/target0:0:0/0:0:0:0", 3)
    assert partitions_of(HostTree(host.root), ADDRESS) == [Partition("sda", 3)]


def test_a_multipath_disk_of_the_function_alone_counts(host: HostTreeBuilder, places: tuple[str, str]) -> None:
    disk(host, "nvme0c0n1", f"{places[0]}/nvme/nvme0")
    disk(host, "nvme0n1", "virtual/nvme-subsystem/nvme-subsys0", 1)
    assert partitions_of(HostTree(host.root), ADDRESS) == [Partition("nvme0n1", 1)]


def test_a_multipath_disk_that_another_function_leads_to_does_not(
    host: HostTreeBuilder, places: tuple[str, str]
) -> None:
    disk(host, "nvme0c0n1", f"{places[0]}/nvme/nvme0")
    disk(host, "nvme0c1n1", f"{places[1]}/nvme/nvme1")
    disk(host, "nvme0n1", "virtual/nvme-subsystem/nvme-subsys0", 1)
    assert partitions_of(HostTree(host.root), ADDRESS) == []


def test_what_cannot_be_read_is_not_taken_for_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        disks_of(HostTree(tmp_path), ADDRESS)


def test_the_kernel_is_asked_as_linux_blkpg_h_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes  # noqa: PLC0415 - only here is memory looked at

    asked = []

    def ioctl(_file: int, request: int, argument: bytes) -> int:
        operation, flags, size, data = struct.unpack("@iiiP", argument)
        asked.append((request, operation, flags, ctypes.string_at(data, size)))
        return 0

    node = tmp_path / "nvme0n1"
    node.touch()
    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    forget_partition(str(node), 2)
    assert asked == [(0x1269, 2, 0, struct.pack("@qqi", 0, 0, 2).ljust(152, b"\0"))]


def test_what_is_no_disk_has_no_partition_to_forget(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(OSError, match="ioctl") as refused:
        forget_partition(str(file), 1)
    assert refused.value.errno == errno.ENOTTY
