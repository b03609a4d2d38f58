"""Where the service and those who ask for it meet, and the lock that says that it is there."""

import re
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from laneway.compute.agent_files import AgentFiles
from laneway.compute.process_lock import ProcessLock
from laneway.contracts.agent_status import AgentStatus, DeviceCounts, encode_agent_status
from laneway.domain.errors import ErrorCode, LanewayError

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
STATUS = AgentStatus(
    pid=4711,
    started_at=NOON,
    host="gpu-1",
    driver="linux",
    watching=True,
    config_sources=("/etc/laneway/laneway.toml",),
    config_since=NOON,
    updated_at=NOON,
    devices=DeviceCounts(counted_at=NOON, by_status={"available": 2}, blocked=0),
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "laneway.db"


def test_nothing_is_said_where_no_service_is(database: Path) -> None:
    assert AgentFiles(database).read() is None
    assert AgentFiles(database / "missing" / "laneway.db").read() is None


def test_the_status_is_read_as_it_was_published(database: Path) -> None:
    service = AgentFiles(database)
    service.enter()
    assert AgentFiles(database).read() is None, "it has not said anything yet"
    service.publish(STATUS)
    assert AgentFiles(database).read() == STATUS
    service.leave()
    assert AgentFiles(database).read() is None


def test_a_status_that_a_killed_service_left_behind_counts_for_nothing(database: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from laneway.compute.agent_files import AgentFiles;"
        "from laneway.contracts.agent_status import decode_agent_status;"
        "files = AgentFiles(Path(sys.argv[1])); files.enter();"
        "files.publish(decode_agent_status(sys.stdin.buffer.read()));"
        "print(files.read() is not None, flush=True); os._exit(9)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(database)],
        input=encode_agent_status(STATUS),
        capture_output=True,
        check=False,
    )
    assert (killed.stdout.strip(), killed.returncode) == (b"True", 9)
    assert database.with_name("laneway.agent.json").exists()
    assert AgentFiles(database).read() is None
    AgentFiles(database).enter()


def test_a_service_of_another_version_is_told_as_such(database: Path) -> None:
    service = AgentFiles(database)
    service.enter()
    service.publish(STATUS)
    database.with_name("laneway.agent.json").write_bytes(b'{"schema":"laneway.agent/2"}')
    with pytest.raises(LanewayError, match="of another version of Laneway; restart it") as caught:
        AgentFiles(database).read()
    assert caught.value.code is ErrorCode.NOT_SUPPORTED


def test_services_over_two_databases_in_one_folder_do_not_meet(tmp_path: Path) -> None:
    one, other = AgentFiles(tmp_path / "one.db"), AgentFiles(tmp_path / "other.db")
    one.enter()
    one.publish(STATUS)
    one.request_reload()
    assert other.read() is None
    assert other.requests() == ()
    other.enter()


def test_all_files_are_for_the_owner_alone(database: Path) -> None:
    service = AgentFiles(database)
    service.enter()
    service.publish(STATUS)
    service.request_reload()
    assert {stat.S_IMODE(path.stat().st_mode) for path in database.parent.iterdir()} == {0o600}


def test_requests_wait_until_they_are_answered(database: Path) -> None:
    service = AgentFiles(database)
    service.enter()
    requests = {AgentFiles(database).request_reload() for _ in range(2)}
    assert set(service.requests()) == requests
    service.answered(service.requests())
    assert service.requests() == ()


def test_requests_from_before_the_start_are_not_answered(database: Path) -> None:
    AgentFiles(database).request_reload()
    service = AgentFiles(database)
    service.enter()
    assert service.requests() == ()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LanewayError, match=re.escape(str(tmp_path / "file"))) as caught:
        AgentFiles(tmp_path / "file" / "laneway.db").enter()
    assert caught.value.code is ErrorCode.DATABASE_UNREACHABLE


def test_files_that_are_not_for_this_user_are_told_as_such(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_lock: ProcessLock) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(ProcessLock, "is_taken", forbidden)
    with pytest.raises(LanewayError, match="this user may not use the files of the agent in") as caught:
        AgentFiles(database).read()
    assert caught.value.code is ErrorCode.NO_PERMISSION


def test_a_lock_that_may_not_be_read_is_no_free_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = ProcessLock(tmp_path / "lock")
    lock.take()
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError):
        ProcessLock(tmp_path / "lock").is_taken()


def test_looking_at_a_lock_does_not_take_it(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "lock")
    assert not lock.is_taken()
    assert lock.take()
    assert ProcessLock(tmp_path / "lock").is_taken()
    lock.free()
    lock.free()
    assert not ProcessLock(tmp_path / "lock").is_taken()
    assert ProcessLock(tmp_path / "lock").take()


@pytest.mark.parametrize("name", [pytest.param("a lock #1%", id="signs"), pytest.param("lock?", id="a question mark")])
def test_a_lock_is_one_file_and_nothing_is_written_to_it(name: str, tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / name)
    lock.take()
    assert ProcessLock(tmp_path / name).is_taken()
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [0]
