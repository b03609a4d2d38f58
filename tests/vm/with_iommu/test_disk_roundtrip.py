"""A disk goes to a guest and comes back with what the guest wrote: the host gets the disk, and reads nothing of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from vm.changing import allocated, as_it_was, given_up, prepared, standing
from vm.commands import Laneway, output_of
from vm.devices import NVME, bind, disk_of, give_back, settle
from vm.vfio import opened_by_vfio

RULES = Path("/run/udev/rules.d")
MOST_READ = 128
"""Sectors: what the kernel's own search for a partition table may read, which nothing can keep it from."""


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


@pytest.fixture
def written_by_a_guest() -> Iterator[None]:
    """A disk with partitions: a volume group with a file system in it, and a file system as it is."""
    node = f"/dev/{disk_of(NVME)}"
    output_of("sfdisk", "--wipe=always", node, given="label: gpt\nsize=40M\nsize=16M, name=guest\n")
    settle()
    output_of("vgcreate", "-ff", "-y", "system", f"{node}p1")
    output_of("lvcreate", "-y", "-Wn", "-Zn", "-L", "24M", "-n", "root", "system")
    output_of("mkfs.ext4", "-q", "/dev/system/root")
    output_of("vgchange", "-an", "system")
    output_of("mkfs.ext4", "-q", "-L", "data", f"{node}p2")
    output_of("sync")
    settle()
    yield
    output_of("vgchange", "-an")
    node = f"/dev/{disk_of(NVME)}"
    if partitions():
        output_of("partx", "--delete", node)
    output_of("wipefs", "--all", "--force", node)
    output_of("dd", "if=/dev/zero", f"of={node}", "bs=1M", "count=64", "conv=fsync")
    settle()


@dataclass(frozen=True, slots=True)
class Known:
    """What the host knows of what is on the disk."""

    partitions: list[str]
    links: set[str]
    facts: set[str]
    volumes: str
    active: list[str]


def known() -> Known:
    disk = disk_of(NVME)
    told = output_of("udevadm", "info", "--query=property", f"--name=/dev/{disk}").splitlines()
    return Known(
        partitions=partitions(),
        links={str(link) for link in links() if link.resolve().name.startswith(disk)},
        facts={line.split("=")[0] for line in told if line.startswith(("ID_FS_", "ID_PART_"))},
        volumes=output_of("pvs", "--noheadings", "--options", "vg_name").strip(),
        active=[path.name for path in Path("/sys/block").glob("dm-*")],
    )


def links() -> list[Path]:
    """Names of disks, but for those by a number that is another each time."""
    return [link for link in Path("/dev/disk").glob("by-*/*") if link.parent.name != "by-diskseq"]


def partitions() -> list[str]:
    disk = disk_of(NVME)
    return sorted(path.name for path in Path("/sys/block", disk).iterdir() if path.name.startswith(disk))


def sectors_read() -> int:
    return int(Path("/sys/block", disk_of(NVME), "stat").read_text().split()[2])


def as_the_host_sees_any_disk() -> Known:
    """The disk that its driver takes anew. LVM has taken the volume up then, which is ended here."""
    bind(NVME, "vfio-pci")
    give_back(NVME)
    assert sectors_read() > MOST_READ
    seen = known()
    output_of("vgchange", "-an", "system")
    return seen


NOTHING = Known(partitions=[], links=set(), facts=set(), volumes="", active=[])


@pytest.mark.usefixtures("written_by_a_guest")
def test_what_a_guest_wrote_is_not_looked_at_when_the_host_gets_the_disk_back(changing: Laneway) -> None:
    unguarded = as_the_host_sees_any_disk()
    assert len(unguarded.partitions) == 2
    assert {"/dev/disk/by-label/data", "/dev/disk/by-partlabel/guest"} <= unguarded.links
    assert "ID_PART_TABLE_TYPE" in unguarded.facts
    assert (unguarded.volumes, len(unguarded.active)) == ("system", 1)

    before = standing(NVME)
    assert allocated(changing, "vm", place="disk") == [NVME]
    prepared(changing, "vm")
    with opened_by_vfio(NVME) as (device,):
        assert device.ids() == "1b36:0010"
    steps = given_up(changing, "vm")[NVME]
    assert any("udev" in step for step in steps)
    settle()

    assert standing(NVME) == before
    assert sectors_read() <= MOST_READ
    assert known() == NOTHING
    assert [rule.name for rule in RULES.glob("*") if "laneway" in rule.name] == []

    # The guard is gone, and what is on the disk is as the guest left it.
    assert as_the_host_sees_any_disk() == unguarded
