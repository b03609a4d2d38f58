"""Asking the kernel whether somebody holds a disk for himself."""

import errno
import os
import stat
from pathlib import Path
from typing import NoReturn

import pytest

from laneway.hosts.linux.exclusive_open import ask_the_kernel, open_exclusively
from laneway.hosts.linux.tree import HostTree


@pytest.mark.parametrize(
    ("number", "held"),
    [(errno.EBUSY, True), (errno.ENOMEDIUM, False), (errno.ENOENT, None), (errno.EACCES, None), (errno.ENXIO, None)],
    ids=["busy", "a drive without a medium", "no node", "not allowed", "no device"],
)
def test_what_a_refusal_tells(monkeypatch: pytest.MonkeyPatch, number: int, held: bool | None) -> None:
    def refuse(_path: str, _flags: int) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    assert open_exclusively("sda") is held


@pytest.mark.parametrize(("mode", "held"), [(stat.S_IFBLK, False), (stat.S_IFREG, None)], ids=["block device", "file"])
def test_a_disk_that_opens_is_free_and_let_go(monkeypatch: pytest.MonkeyPatch, mode: int, held: bool | None) -> None:
    opened: list[tuple[str, int]] = []
    closed: list[int] = []

    def accept(path: str, flags: int) -> int:
        opened.append((path, flags))
        return 77

    monkeypatch.setattr(os, "open", accept)
    monkeypatch.setattr(os, "close", closed.append)
    monkeypatch.setattr(os, "fstat", lambda _: os.stat_result((mode, *[0] * 9)))
    assert open_exclusively("cciss!c0d0") is held
    assert closed == [77]
    ((path, flags),) = opened
    assert path == "/dev/cciss/c0d0"
    assert flags == os.O_RDONLY | os.O_EXCL | os.O_NONBLOCK | os.O_CLOEXEC


def test_a_node_that_is_not_there(tmp_path: Path) -> None:
    assert open_exclusively(f"..{tmp_path}/missing") is None


class BusyDisk:
    """A disk that somebody holds; each moment that is waited for may change that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, let_go_after: float) -> None:
        self.waited = 0
        self.asked = 0
        self._let_go_after = let_go_after
        monkeypatch.setattr(os, "open", self._open)
        monkeypatch.setattr(os, "close", lambda _: None)
        monkeypatch.setattr(os, "fstat", lambda _: os.stat_result((stat.S_IFBLK, *[0] * 9)))

    def wait(self, seconds: float) -> None:
        assert 0 < seconds <= 0.05
        self.waited += 1

    def _open(self, _path: str, _flags: int) -> int:
        self.asked += 1
        if self.waited < self._let_go_after:
            raise OSError(errno.EBUSY, "busy")
        return 77


def held_by(disk: BusyDisk, root: Path) -> bool | None:
    return ask_the_kernel(["sda"], HostTree(root), pause=disk.wait)["sda"]


@pytest.mark.parametrize(
    ("let_go_after", "udev_at_work", "held", "waited"),
    [
        (0, False, False, 0),
        (1, False, False, 1),
        (2, False, True, 1),
        (5, True, False, 5),
        (float("inf"), False, True, 1),
        (float("inf"), True, True, 25),
    ],
    ids=[
        "a free disk costs no time",
        "another that asks the same has let it go",
        "one that holds it on is a holder",
        "what udev runs has let it go",
        "a file system holds it",
        "a file system holds it and udev does not come to an end",
    ],
)
def test_who_holds_a_disk_for_a_moment_is_no_holder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, let_go_after: float, udev_at_work: bool, held: bool, waited: int
) -> None:
    (tmp_path / "run/udev").mkdir(parents=True)
    if udev_at_work:
        (tmp_path / "run/udev/queue").touch()
    disk = BusyDisk(monkeypatch, let_go_after=let_go_after)
    assert held_by(disk, tmp_path) is held
    assert (disk.waited, disk.asked) == (waited, waited + 1)


def test_when_udev_is_done_the_disk_is_asked_about_once_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    queue = tmp_path / "run/udev/queue"
    queue.parent.mkdir(parents=True)
    queue.touch()
    disk = BusyDisk(monkeypatch, let_go_after=2)

    def wait(seconds: float) -> None:
        disk.wait(seconds)
        queue.unlink(missing_ok=True)

    assert ask_the_kernel(["sda"], HostTree(tmp_path), pause=wait) == {"sda": False}


def test_all_busy_disks_are_waited_for_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    disk = BusyDisk(monkeypatch, let_go_after=1)
    names = [f"sd{letter}" for letter in "abcdefgh"]
    assert ask_the_kernel(names, HostTree(tmp_path), pause=disk.wait) == dict.fromkeys(names, False)
    assert disk.waited == 1
