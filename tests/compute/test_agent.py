"""``laneway agent`` as it is run: how it starts, how it fails to, what it is told, and how it ends."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cli.documents import validated
from compute.agent_process import DEADLINE, HostFolder
from compute.fakes import host
from domain.hosts import function, pf
from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.domain.errors import ErrorCode
from laneway.domain.inventory import Sriov

CARD = function("0000:3b:00.0")
PORT = replace(pf("0000:81:00.0"), sriov=Sriov(total_vfs=64, num_vfs=0, vf_product_id="154c"))
GOOD = '[[device_spec]]\naddress = "*"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[HostFolder]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(DEADLINE)
        made = HostFolder(tmp_path, listening)
        made.config.write_text(GOOD)
        made.describe(host(CARD, PORT))
        yield made


CONFIG_ERRORS = {
    "no TOML": (ErrorCode.INVALID_CONFIG, "[host\n", ["laneway.toml:1:6: this is not TOML"]),
    "unknown keys": (
        ErrorCode.INVALID_CONFIG,
        '[host]\nnme = "a"\n[stat]\n',
        ["laneway.toml:2", 'did you mean "name"?', "laneway.toml:3", 'did you mean "state"?'],
    ),
    "device specs": (
        ErrorCode.INVALID_DEVICE_SPEC,
        '[[device_spec]]\nvendor_id = "zz"\n[[device_spec]]\naddress = "1:2:3:4"\n',
        ["laneway.toml:2", '"zz"', "laneway.toml:4", '"1:2:3:4"'],
    ),
    "aliases": (
        ErrorCode.INVALID_ALIAS,
        '[[alias]]\nname = "a"\nvendor_id = "zz"\n[[alias]]\nname = ""\n',
        ["laneway.toml:3", '"zz"', "laneway.toml:5"],
    ),
    "domains that no guest can have": (
        ErrorCode.DOMAIN_TOO_LARGE,
        '[[device_spec]]\naddress = "10000:01:00.0"\n[[device_spec]]\naddress = "20000:01:00.0"\n',
        ['"10000:01:00.0"', '"20000:01:00.0"'],
    ),
    "facts against a remote-managed PF, found by the tracker": (
        ErrorCode.REMOTE_MANAGED_PF,
        '[[device_spec]]\naddress = "0000:81:00.0"\nremote_managed = true\n',
        ["is the PF 0000:81:00.0, which cannot be remote_managed"],
    ),
    "facts against ids, found by the tracker": (
        ErrorCode.INVALID_DEVICE_SPEC,
        '[[device_spec]]\naddress = "0000:81:00.0"\nremote_managed = true\nproduct_id = "0001"\n'
        '[[device_spec]]\naddress = "0000:81:00.0"\nremote_managed = true\nproduct_id = "0002"\n',
        ["*:0001 fits neither it nor its VFs", "*:0002 fits neither it nor its VFs"],
    ),
}


@pytest.mark.parametrize(("code", "text", "messages"), CONFIG_ERRORS.values(), ids=CONFIG_ERRORS)
def test_a_config_error_ends_the_start_with_every_wrong_entry_before_anything_has_started(
    folder: HostFolder, code: ErrorCode, text: str, messages: list[str]
) -> None:
    folder.config.write_text(text)
    before = cpu_seconds_of_children()
    ended = folder.failing_agent()
    assert (ended.returncode, ended.stdout) == (78, "")
    assert all(message in ended.stderr for message in messages), ended.stderr
    assert "Traceback" not in ended.stderr
    assert cpu_seconds_of_children() - before < 2
    assert folder.told_nothing()
    assert not folder.state.exists()
    told = json.loads(folder.failing_agent([*folder.options, "--json"]).stdout)
    assert told["error"]["code"] == code


def cpu_seconds_of_children() -> float:
    """What was spent on processes that have ended: unlike the clock's time it is no longer where others work, too."""
    spent = os.times()
    return spent.children_user + spent.children_system


def test_every_error_class_of_a_config_is_among_them() -> None:
    of_config = {code for code, status in EXIT_STATUS.items() if status is ExitStatus.CONFIG}
    assert {code for code, _, _ in CONFIG_ERRORS.values()} == of_config


FORBIDDEN_DRIVER = """
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_driver import DriverCapabilities

class Factory:
    def unavailable(self):
        return None

    def __call__(self):
        return self

    def describe(self):
        return DriverCapabilities(name="forbidden", os_family="any")

    def discover(self):
        raise LanewayError(ErrorCode.NO_PERMISSION, "only root may look; run it as root")
"""


def forbidden_driver(folder: HostFolder) -> None:
    entry_points = folder.config.parent / "forbidden-1.dist-info/entry_points.txt"
    entry_points.parent.mkdir()
    entry_points.write_text("[laneway.host_drivers]\nforbidden = forbidden_driver:Factory\n")
    (folder.config.parent / "forbidden_driver.py").write_text(FORBIDDEN_DRIVER)
    folder.config.write_text(f'[host]\ndriver = "forbidden"\n{GOOD}')


def no_driver(folder: HostFolder) -> None:
    folder.config.write_text(f'[host]\ndriver = "beos"\n{GOOD}')


@pytest.mark.parametrize(
    ("prepare", "status", "message"),
    [
        pytest.param(no_driver, 69, "there is no host driver 'beos'; installed are ", id="no driver"),
        pytest.param(forbidden_driver, 77, "only root may look; run it as root", id="no permission"),
    ],
)
def test_a_host_error_ends_the_start_with_its_own_status_and_remedy(
    folder: HostFolder, prepare: Callable[[HostFolder], None], status: int, message: str
) -> None:
    prepare(folder)
    before = cpu_seconds_of_children()
    ended = folder.failing_agent(["--config", str(folder.config), "--state", str(folder.state / "laneway.db")])
    assert (ended.returncode, ended.stdout) == (status, "")
    assert ended.stderr.startswith("error: ")
    assert message in ended.stderr
    assert cpu_seconds_of_children() - before < 2
    assert folder.told_nothing()
    assert not folder.state.exists()


def test_missing_hardware_is_a_warning(folder: HostFolder) -> None:
    folder.config.write_text(f'{GOOD}[[device_spec]]\ndevname = "ens9"\n')
    with folder.agent() as agent:
        assert folder.told() == "READY=1"
        assert "ens9" in agent.next("config_warning")["message"]


def test_a_life_of_reloads(folder: HostFolder, capsys: pytest.CaptureFixture[str]) -> None:
    with folder.agent() as agent:
        assert folder.told() == "READY=1"
        assert agent.next("started")["facts"] == {"host": "gpu-1", "driver": "snapshot"}

        folder.config.write_text('[[device_spec]]\nvendor_id = "10de"\n')
        assert folder.run("reload", "--json") == 0
        assert validated("reload", capsys.readouterr().out)["devices"]["by_status"] == {}
        agent.next("config_adopted")
        assert [folder.told() for _ in range(3)] == ["RELOADING=1", "STATUS=0 devices", "READY=1"]

        folder.config.write_text(f'{GOOD}[[device_spec]]\nvendor_id = "zz"\n[[alias]]\nname = "a"\ncolour = "red"\n')
        assert folder.run("reload") == 78
        refusal = capsys.readouterr().err
        assert '"zz"' in refusal
        assert "colour" in refusal
        assert '"zz"' in agent.next("config_refused")["message"]
        assert [folder.told() for _ in range(3)] == ["RELOADING=1", "STATUS=0 devices", "READY=1"]
        assert folder.run("status", "--json") == 1
        status = validated("status", capsys.readouterr().out)
        codes = {error["code"] for error in status["agent"]["refused"]["errors"]}
        assert codes == {"invalid_device_spec", "invalid_alias"}
        assert status["devices"]["by_status"] == {}, "the last good one is in force"

        folder.config.write_text(GOOD)
        agent.process.send_signal(signal.SIGHUP)
        assert agent.next("config_adopted")["facts"] == {"sources": [str(folder.config)]}
        assert [folder.told() for _ in range(3)] == ["RELOADING=1", "STATUS=2 devices: 2 available", "READY=1"]
        assert folder.run("status", "--json") == 0
        assert validated("status", capsys.readouterr().out)["devices"]["by_status"] == {"available": 2}

        assert agent.end(signal.SIGTERM) == 0
    assert folder.told() == "STOPPING=1"


def test_what_is_plugged_is_noticed_at_the_next_interval(folder: HostFolder) -> None:
    with folder.agent("--interval", "1s") as agent:
        agent.next("started")
        folder.describe(host(CARD))
        assert agent.next("devices_vanished")["facts"] == {"devices": ["0000:81:00.0"]}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once_in_the_middle_of_a_wait(
    folder: HostFolder, number: signal.Signals, record_property: Callable[[str, object], None]
) -> None:
    with folder.agent() as agent:
        assert folder.told() == "READY=1"
        began = time.monotonic()
        assert agent.end(number) == 0
        record_property(f"seconds from {number.name} to the end, at most 1", round(time.monotonic() - began, 2))
        assert agent.next("stopped")["level"] == "info"
    assert folder.told() == "STOPPING=1"
    assert sorted(path.name for path in folder.state.iterdir()) == ["laneway.agent.lock", "laneway.db"]


def test_one_that_is_killed_leaves_the_place_to_the_next(
    folder: HostFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with folder.agent() as first:
        assert folder.told() == "READY=1"
        ended = folder.failing_agent()
        assert ended.returncode == 1
        assert f"an agent (process {first.process.pid}) runs over" in ended.stderr
        first.end(signal.SIGKILL)
    assert folder.run("status", "--json") == 1
    assert validated("status", capsys.readouterr().out)["agent"] is None
    assert folder.run("reload") == 1
    assert "no agent works on" in capsys.readouterr().err
    with folder.agent() as second:
        second.next("started")
        assert folder.run("status") == 0
        assert "an agent runs, and all is well" in capsys.readouterr().out


def test_the_status_is_told_though_the_host_cannot_be_read(
    folder: HostFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with folder.agent() as agent:
        agent.next("started")
        folder.snapshot.unlink()
        assert folder.run("reload") == 69
        assert "cannot be read" in capsys.readouterr().err
        assert folder.run("status", "--json") == 1
        status = validated("status", capsys.readouterr().out)
        assert status["agent"]["failing"]["errors"][0]["code"] == "host_unreachable"
        assert status["devices"]["by_status"] == {"available": 2}, "as the agent counted them"
    assert folder.run("status") == 69
    assert "cannot be read" in capsys.readouterr().err
