"""Asking the kernel whether somebody holds a disk for himself."""

import errno
import os
import stat
from pathlib import Path
from typing import NoReturn

import pytest

from laneway.hosts.linux.block_use import open_exclusively


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
