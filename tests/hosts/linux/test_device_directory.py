"""Attributes that cannot be read."""

import errno
import os
from pathlib import Path

import pytest

from laneway.domain.inventory import Problem
from laneway.hosts.linux.device_directory import DeviceDirectory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "speed").write_text("8\n")
    (tmp_path / "driver").symlink_to("../drivers/igb")
    (tmp_path / "net").mkdir()
    return tmp_path


def read(path: Path, problems: list[Problem]) -> DeviceDirectory:
    return DeviceDirectory(str(path), "0000:00:02.0", problems)


def test_attributes_links_and_directories(path: Path) -> None:
    problems: list[Problem] = []
    directory = read(path, problems)
    assert (directory.text("speed"), directory.number("speed"), directory.link("driver")) == ("8", 8, "igb")
    assert (directory.text("none"), directory.number("none"), directory.link("none")) == (None, None, None)
    assert directory.below("none") is None
    below = directory.below("net")
    assert below is not None
    assert below.names == frozenset()
    assert problems == []


@pytest.mark.parametrize(
    ("error", "is_noted", "is_gone"),
    [
        pytest.param(errno.EIO, True, False, id="a fault is noted"),
        pytest.param(errno.ETIMEDOUT, True, False, id="a device that does not answer is noted"),
        pytest.param(errno.EACCES, False, False, id="what only root may see is not known"),
        pytest.param(errno.EINVAL, False, False, id="what does not apply is not known"),
        pytest.param(errno.EOPNOTSUPP, False, False, id="what the driver does not do is not known"),
        pytest.param(errno.ENODEV, False, True, id="a device that went away is gone"),
        pytest.param(errno.ENOENT, False, True, id="a file that went away is gone"),
    ],
)
def test_an_attribute_that_cannot_be_read_is_none(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: int, is_noted: bool, is_gone: bool
) -> None:
    problems: list[Problem] = []
    directory = read(path, problems)

    def fail(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "open", fail)
    monkeypatch.setattr(os, "readlink", fail)
    monkeypatch.setattr(os, "listdir", fail)
    assert [directory.text("speed"), directory.number("speed"), directory.link("driver")] == [None, None, None]
    assert directory.below("net") is None
    assert [problem.attribute for problem in problems] == (["speed", "speed", "driver", "net"] if is_noted else [])
    assert all(problem.address == "0000:00:02.0" for problem in problems)
    assert directory.gone is is_gone
