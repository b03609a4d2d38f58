"""One process at a time changes a host."""

from pathlib import Path

import pytest

from laneway.compute.host_lock import HostLock, host_lock_path
from laneway.compute.process_lock import ProcessLock
from laneway.domain.errors import ErrorCode, LanewayError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return host_lock_path(tmp_path / "state" / "laneway.db")


def test_who_is_first_waits_for_nobody(path: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        with HostLock(path).held(told.append):
            pass
    assert told == []


def test_a_second_process_is_told_that_it_waits_and_is_refused_in_the_end(path: Path) -> None:
    told: list[str] = []
    with HostLock(path).held(told.append):
        second = HostLock(path, patience=0.1)
        with pytest.raises(LanewayError, match="try again when it is") as caught, second.held(told.append):
            raise AssertionError("two processes change the host")
    assert caught.value.code is ErrorCode.HOST_BUSY
    assert told == ["another process is changing this host; waiting for it, at most 0.1 seconds"]


def test_a_second_process_goes_on_when_the_first_is_done(path: Path) -> None:
    told: list[str] = []
    first = HostLock(path).held(told.append)
    first.__enter__()

    def tell(message: str) -> None:
        told.append(message)
        first.__exit__(None, None, None)

    with HostLock(path).held(tell):
        assert len(told) == 1


def test_the_lock_is_given_back_where_the_work_fails(path: Path) -> None:
    with pytest.raises(RuntimeError), HostLock(path).held(print):
        raise RuntimeError
    with HostLock(path, patience=0).held(print):
        pass


def test_a_place_where_no_lock_can_be_is_named(path: Path) -> None:
    path.parent.write_text("a file")
    with pytest.raises(LanewayError, match="cannot be used") as caught, HostLock(path).held(print):
        raise AssertionError
    assert caught.value.code is ErrorCode.DATABASE_UNREACHABLE


@pytest.mark.parametrize("content", [None, b"no lock of ours " * 100], ids=["a folder", "another file"])
def test_what_stands_in_its_place_is_named_and_held_by_nobody(path: Path, content: bytes | None) -> None:
    if content is None:
        path.mkdir(parents=True)
    else:
        path.parent.mkdir()
        path.write_bytes(content)
    with pytest.raises(LanewayError, match="cannot be used") as caught, HostLock(path).held(print):
        raise AssertionError
    assert caught.value.code is ErrorCode.DATABASE_UNREACHABLE
    assert not ProcessLock(path).is_taken()
