"""``laneway status`` and ``laneway reload``: without an agent, and beside one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.conftest import ExampleHost
from cli.documents import validated
from laneway.compute.agent_files import AgentFiles
from laneway.contracts.agent_status import AgentStatus, DeviceCounts

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
STATUS = AgentStatus(
    pid=4711,
    started_at=NOON,
    host="gpu-1",
    driver="snapshot",
    watching=False,
    config_sources=("laneway.toml",),
    config_since=NOON,
    updated_at=NOON,
    devices=DeviceCounts(counted_at=NOON, by_status={"available": 99}, blocked=0),
)


@pytest.fixture
def running() -> Iterator[Callable[[Path], None]]:
    """Stands for an agent over a database."""
    with ExitStack() as agents:

        def run(database: Path) -> None:
            files = AgentFiles(database)
            files.enter()
            agents.callback(files.leave)
            files.publish(STATUS)

        yield run


def test_without_an_agent_the_status_is_a_no_that_shows_the_host(gpu_server: ExampleHost) -> None:
    gpu_server.run("claim", "db-1", "--alias", "l40s:2")
    status = gpu_server.json("status", "status", status=1)
    assert (status["ok"], status["host"], status["agent"]) == (False, "gpu-1", None)
    assert status["database"] == str(gpu_server.folder / "state.db")
    assert status["devices"]["by_status"]["claimed"] == 2
    answer = gpu_server.run("status")
    assert (answer.status, answer.err) == (1, "")
    assert answer.out.startswith("gpu-1: no agent runs\n")
    assert "2 claimed" in answer.out


def test_beside_an_agent_the_devices_are_counted_now(gpu_server: ExampleHost, running: Callable[[Path], None]) -> None:
    running(gpu_server.folder / "state.db")
    status = gpu_server.json("status", "status")
    assert status["agent"]["pid"] == 4711
    assert status["devices"]["by_status"] == {"available": 17}


def test_the_status_changes_nothing(gpu_server: ExampleHost) -> None:
    before = sorted(gpu_server.folder.iterdir())
    gpu_server.run("status")
    assert sorted(gpu_server.folder.iterdir()) == before


def test_without_an_agent_a_bad_config_is_told_as_by_any_command(gpu_server: ExampleHost) -> None:
    gpu_server.config.write_text('[[device_spec]]\nvendor_id = "zz"\n')
    assert gpu_server.run("status").status == 78


def test_an_agent_is_found_though_the_config_that_names_its_state_has_errors_by_now(
    gpu_server: ExampleHost, running: Callable[[Path], None]
) -> None:
    running(gpu_server.folder / "laneway.db")
    gpu_server.config.write_text('[state]\npath = "."\n[[device_spec]]\nvendor_id = "zz"\n')
    words = ("--snapshot", str(gpu_server.folder / "host.json"), "--config", str(gpu_server.config))
    answer = gpu_server.run_alone("status", *words, "--json")
    status = validated("status", answer.out)
    assert status["agent"]["pid"] == 4711
    assert status["devices"]["by_status"] == {"available": 99}, "as the agent counted them"


def test_without_an_agent_there_is_nothing_to_reload(gpu_server: ExampleHost) -> None:
    failure = gpu_server.json("failure", "reload", status=1)
    assert failure["error"]["code"] == "no_agent"
    answer = gpu_server.run("reload")
    assert answer.err.startswith("no: no agent works on ")


def test_an_interval_has_to_be_a_time(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("agent", "--interval", "often").status == 2
