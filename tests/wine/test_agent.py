"""The agent on Windows: no service manager listens, and there are no signals but those that end a process."""

import json
from pathlib import Path

import pytest

from cli.documents import validated
from compute.agent_process import HostFolder
from compute.fakes import host
from domain.hosts import function

GOOD = '[[device_spec]]\naddress = "*"\n'


@pytest.fixture
def folder(tmp_path: Path) -> HostFolder:
    made = HostFolder(tmp_path)
    made.config.write_text(GOOD)
    made.describe(host(function("0000:3b:00.0")))
    return made


def test_a_config_error_ends_the_start_with_every_wrong_entry(folder: HostFolder) -> None:
    folder.config.write_text('[[device_spec]]\nvendor_id = "zz"\n[[alias]]\nname = ""\n')
    ended = folder.failing_agent()
    assert (ended.returncode, ended.stdout) == (78, "")
    assert all(f"laneway.toml:{line}" in ended.stderr for line in (2, 4))
    assert not folder.state.exists()


def test_a_config_is_taken_over_when_it_is_asked_for_and_good(
    folder: HostFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with folder.agent() as agent:
        agent.next("started")
        folder.config.write_text('[[device_spec]]\nvendor_id = "10de"\n')
        assert folder.run("reload", "--json") == 0
        assert validated("reload", capsys.readouterr().out)["devices"]["by_status"] == {}
        folder.config.write_text('[[device_spec]]\nvendor_id = "zz"\n')
        assert folder.run("reload") == 78
        assert '"zz"' in agent.next("config_refused")["message"]
        capsys.readouterr()
        assert folder.run("status", "--json") == 1
        status = json.loads(capsys.readouterr().out)
        assert status["devices"]["by_status"] == {}, "the last good one is in force"


def test_what_is_plugged_is_noticed_at_the_next_interval(folder: HostFolder) -> None:
    with folder.agent("--interval", "1s") as agent:
        agent.next("started")
        folder.describe(host())
        assert agent.next("devices_vanished")["facts"] == {"devices": ["0000:3b:00.0"]}


def test_one_that_is_killed_leaves_the_place_to_the_next(
    folder: HostFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with folder.agent() as first:
        first.next("started")
        ended = folder.failing_agent()
        assert ended.returncode == 1
        assert "runs over" in ended.stderr
        first.process.kill()
        first.process.wait()
    assert folder.run("reload") == 1
    assert "no agent works on" in capsys.readouterr().err
    with folder.agent() as second:
        second.next("started")
        assert folder.run("status") == 0
        assert "an agent runs, and all is well" in capsys.readouterr().out
