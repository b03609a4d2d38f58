"""Which processes are udev's."""

import pytest

from hosts.host_tree import HostTreeBuilder
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.udev import is_of_udev

LONGEST = 15
"""What the kernel keeps of a process's name: TASK_COMM_LEN, with the zero at its end, is 16."""


@pytest.mark.parametrize(
    ("name", "its"),
    [
        ("(udev-worker)", True),
        ("systemd-udevd", True),
        ("udevd", True),
        ("eudevd", True),
        ("systemd-udevd-worker"[:LONGEST], True),
        ("(udev-worker-of-a-device)"[:LONGEST], True),
        ("qemu-system-x86", False),
        ("udevadm", False),
        ("udisksd", False),
        ("systemd", False),
        ("", False),
    ],
)
def test_by_its_name(host: HostTreeBuilder, name: str, its: bool) -> None:
    host.process(99, name)
    assert is_of_udev(HostTree(host.root), 99) is its


@pytest.mark.parametrize("name", ["ata_id", "mdadm", "a name) with S 7"])
def test_what_a_worker_runs_is_udevs_too(host: HostTreeBuilder, name: str) -> None:
    host.process(97, "systemd-udevd")
    host.process(98, "(udev-worker)", parent=97)
    host.process(99, "sh", parent=98)
    host.process(100, name, parent=99)
    host.process(101, name, parent=1)
    tree = HostTree(host.root)
    assert is_of_udev(tree, 100)
    assert not is_of_udev(tree, 101)


@pytest.mark.parametrize(
    "stat", [None, "", "99", "99 (sh)", "99 (sh) S", "99 (sh) S x", "99 (sh) S 99", "99 (sh) S 98", "99 (sh) S -1"]
)
def test_a_process_whose_parent_is_not_told_is_judged_by_its_name(host: HostTreeBuilder, stat: str | None) -> None:
    host.process(98, "sh", parent=99)
    host.process(99, "sh")
    (host.root / "proc/99/stat").unlink()
    if stat is not None:
        host.write("proc/99/stat", stat)
    assert not is_of_udev(HostTree(host.root), 99)
