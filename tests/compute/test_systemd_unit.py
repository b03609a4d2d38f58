"""packaging/systemd: what the units say fits what the program does."""

import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import click
import pytest

from laneway import cli
from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.compute.manager import POLL_SECONDS
from laneway.domain.errors import ErrorCode

UNITS = Path(__file__).parents[2] / "packaging/systemd"
AGENT, RESTORE = UNITS / "laneway-agent.service", UNITS / "laneway-restore.service"
CHANGES = ("CAP_NET_ADMIN", "CAP_SYS_MODULE", "CAP_SYS_ADMIN")


def section(unit: Path, name: str) -> dict[str, str]:
    """What a section says; of a key that stands in it more than once, all values in one."""
    parser = ConfigParser(interpolation=None, strict=False, dict_type=Values)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit)
    return dict(parser[name])


class Values(dict[str, Any]):
    """Adds up what a key is given, as systemd does for lists."""

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list) and key in self and isinstance(self[key], list):
            value = [*self[key], *value]
        super().__setitem__(key, value)


@pytest.fixture(scope="module")
def service() -> dict[str, str]:
    return section(AGENT, "Service")


@pytest.mark.parametrize(
    ("unit", "line"),
    [(AGENT, "ExecStart"), (AGENT, "ExecReload"), (RESTORE, "ExecStart")],
    ids=lambda value: str(value)[-7:],
)
def test_its_commands_are_command_lines(unit: Path, line: str) -> None:
    program, name, *words = section(unit, "Service")[line].split()
    assert Path(program).name == "laneway"
    with click.Context(cli.root, **cli.root.context_settings) as root:
        command = cli.root.get_command(root, name)
        assert command is not None
        command.make_context(name, words, parent=root)


def test_only_what_may_mend_itself_is_tried_again(service: dict[str, str]) -> None:
    final = {int(status) for status in service["RestartPreventExitStatus"].split()}
    for code in (ErrorCode.INVALID_CONFIG, ErrorCode.USAGE, ErrorCode.NO_PERMISSION, ErrorCode.AGENT_RUNNING):
        assert EXIT_STATUS[code] in final
    assert final.isdisjoint({ExitStatus.UNREACHABLE, ExitStatus.FAULT})


def test_the_watchdog_waits_for_longer_than_the_agent_is_silent(service: dict[str, str]) -> None:
    assert service["Type"] == "notify"
    assert int(service["WatchdogSec"].removesuffix("s")) > 20 * POLL_SECONDS


def test_to_stop_the_agent_kills_no_program_that_it_waits_for(service: dict[str, str]) -> None:
    """What cleans a device is one: the device would be blocked, as its cleaning failed."""
    assert service["KillMode"] == "mixed"


@pytest.mark.parametrize("unit", [AGENT, RESTORE], ids=lambda unit: unit.stem)
def test_a_unit_may_do_what_changing_a_host_takes(unit: Path) -> None:
    """docs/operating.md: what must not be protected, and which rights the steps need."""
    says = section(unit, "Service")
    assert {"ProtectKernelTunables", "ProtectKernelModules", "PrivateDevices"}.isdisjoint(says)
    assert set(CHANGES) <= set(says["CapabilityBoundingSet"].split())
    assert "@module" in says["SystemCallFilter"].split()
    assert "/run/udev" in says["ReadWritePaths"]
    assert says["ProtectSystem"] == "strict"


def test_vms_start_after_their_devices_are_prepared_again() -> None:
    unit = section(RESTORE, "Unit")
    managers = {"libvirtd.service", "virtqemud.service", "libvirt-guests.service", "laneway-agent.service"}
    assert managers <= set(unit["Before"].split())
    assert section(RESTORE, "Service")["Type"] == "oneshot"
    assert RESTORE.name in section(AGENT, "Unit")["After"].split()


def test_systemd_where_there_is_one_finds_nothing_wrong_with_them(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    copies = [tmp_path / unit.name for unit in (AGENT, RESTORE)]
    for unit, copy in zip((AGENT, RESTORE), copies, strict=True):
        copy.write_text(unit.read_text().replace("/opt/laneway/bin/laneway", sys.executable))
    command = [analyze, "verify", *map(str, copies)] if analyze else ["true"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
