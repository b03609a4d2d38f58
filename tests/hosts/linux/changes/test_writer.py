"""Writing attributes: in one write each, and never for longer than is allowed."""

import errno
import os
from pathlib import Path
from subprocess import Popen

import pytest

from laneway.hosts.linux.changes.writer import SysfsWriter

ATTRIBUTE = "sys/bus/pci/drivers_probe"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sys/bus/pci").mkdir(parents=True)
    return tmp_path


def written(writer: SysfsWriter, *, bounded: bool, value: str = "0000:22:00.0", path: str = ATTRIBUTE) -> None:
    if bounded:
        writer.write_bounded(path, value, 60.0)
    else:
        writer.write(path, value)


@pytest.mark.parametrize("bounded", [False, True], ids=["at once", "bounded"])
class TestEitherWay:
    def test_the_value_is_written_below_the_root(self, root: Path, bounded: bool) -> None:
        (root / ATTRIBUTE).touch()
        written(SysfsWriter(root), bounded=bounded)
        assert (root / ATTRIBUTE).read_text() == "0000:22:00.0"

    def test_an_attribute_that_is_not_there_is_not_made(self, root: Path, bounded: bool) -> None:
        with pytest.raises(FileNotFoundError):
            written(SysfsWriter(root), bounded=bounded)
        assert not (root / ATTRIBUTE).exists()

    def test_the_answer_of_the_kernel_is_raised_as_it_is(self, root: Path, bounded: bool) -> None:
        with pytest.raises(OSError, match="Is a directory") as caught:
            written(SysfsWriter(root), bounded=bounded, path="sys/bus/pci")
        assert caught.value.errno == errno.EISDIR

    def test_a_write_that_fails_is_told_as_it_failed(self, bounded: bool) -> None:
        """The kernel answers to the write itself, as it does where a number of VFs is too high."""
        with pytest.raises(OSError, match="No space left on device") as caught:
            written(SysfsWriter(Path("/dev")), bounded=bounded, path="full")
        assert caught.value.errno == errno.ENOSPC


def test_a_write_that_does_not_end_is_given_up(root: Path) -> None:
    """Nobody reads from the pipe, so it cannot be opened for writing."""
    os.mkfifo(root / ATTRIBUTE)
    with pytest.raises(TimeoutError, match=r"the kernel did not end the write within 0\.2 s"):
        SysfsWriter(root).write_bounded(ATTRIBUTE, "1", 0.2)


def test_a_process_that_cannot_write_at_all_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(OSError, match="the process that writes ended with status 1"):
        SysfsWriter(root).write_bounded(ATTRIBUTE, "1", 60.0)


def test_who_is_interrupted_waits_for_the_end_of_the_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be done after it was taken back."""
    (root / ATTRIBUTE).touch()
    _interrupt_first_wait(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        SysfsWriter(root).write_bounded(ATTRIBUTE, "1", 60.0)
    assert (root / ATTRIBUTE).read_text() == "1"


def test_who_is_interrupted_does_not_wait_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / ATTRIBUTE)
    _interrupt_first_wait(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        SysfsWriter(root).write_bounded(ATTRIBUTE, "1", 0.2)


def _interrupt_first_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, wait = list[float | None](), Popen.communicate

    def communicate(writer: "Popen[str]", timeout: float | None = None) -> tuple[str, str]:
        waits.append(timeout)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return wait(writer, timeout=timeout)

    monkeypatch.setattr(Popen, "communicate", communicate)
