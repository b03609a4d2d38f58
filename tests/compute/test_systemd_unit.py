"""packaging/systemd/laneway-agent.service: what it says fits what the program does."""

import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import click
import pytest

from laneway import cli
from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.compute.manager import POLL_SECONDS
from laneway.domain.errors import ErrorCode

UNIT = Path(__file__).parents[2] / "packaging/systemd/laneway-agent.service"


@pytest.fixture(scope="module")
def service() -> dict[str, str]:
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT)
    return dict(parser["Service"])


@pytest.mark.parametrize("line", ["ExecStart", "ExecReload"])
def test_its_commands_are_command_lines(service: dict[str, str], line: str) -> None:
    program, name, *words = service[line].split()
    assert Path(program).name == "laneway"
    with click.Context(cli.root) as root:
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


def test_systemd_where_there_is_one_finds_nothing_wrong_with_it(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/laneway/bin/laneway", sys.executable))
    command = [analyze, "verify", str(unit)] if analyze else ["true"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
