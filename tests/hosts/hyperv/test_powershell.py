"""PowerShell is run once, and whatever becomes of it is no failure."""

import base64
import json
import subprocess
from typing import Any

import pytest

from laneway.hosts.hyperv.powershell import ask
from laneway.hosts.hyperv.powershell_answers import script


class Shell:
    """Stands in for ``subprocess.run``."""

    def __init__(self, outcome: bytes | Exception) -> None:
        self._outcome = outcome
        self.scripts: list[str] = []

    def __call__(self, command: tuple[str, ...], **options: Any) -> subprocess.CompletedProcess[bytes]:
        assert command[:-1] == ("powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand")
        assert options["timeout"] is not None
        self.scripts.append(base64.b64decode(command[-1]).decode("utf-16-le"))
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return subprocess.CompletedProcess(command, 0, self._outcome, b"")


@pytest.mark.parametrize("hyperv", [True, False])
def test_it_is_asked_once(monkeypatch: pytest.MonkeyPatch, hyperv: bool) -> None:
    shell = Shell(json.dumps({"answers": {"teams": [], "disks": {"DiskNumber": 3}}, "failures": {}}).encode())
    monkeypatch.setattr(subprocess, "run", shell)
    assert ask(hyperv=hyperv).disks_of_vms == (3,)
    assert shell.scripts == [script(hyperv=hyperv)]


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        pytest.param(FileNotFoundError("powershell.exe"), "cannot be run", id="there is none"),
        pytest.param(subprocess.TimeoutExpired("powershell.exe", 60), "cannot be run", id="it does not end"),
        pytest.param(b"", "printed nothing", id="it is silent"),
        pytest.param(b"\xff\xfe", "did not answer", id="it prints no text"),
    ],
)
def test_a_powershell_that_does_not_answer_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, outcome: bytes | Exception, why: str
) -> None:
    monkeypatch.setattr(subprocess, "run", Shell(outcome))
    told = ask(hyperv=True)
    assert told.assigned is None
    assert why in told.failures[0]
