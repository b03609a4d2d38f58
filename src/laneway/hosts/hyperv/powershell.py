"""Runs PowerShell. Thin: what is asked or done, and what the answer means, stands in ``powershell_answers`` and
``powershell_commands``.
"""

import base64
import subprocess

from laneway.hosts.hyperv.powershell_answers import parse_answers, script, unanswered
from laneway.hosts.hyperv.powershell_commands import Cmdlet, command_script, failed, require_done
from laneway.hosts.hyperv.recording import PowerShellAnswers

_COMMAND = ("powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand")
_SECONDS = 60
_CHANGE_SECONDS = 180
"""A driver may take long to let go of its device."""


def ask(*, hyperv: bool) -> PowerShellAnswers:
    """What PowerShell tells of Hyper-V and of teams of adapters; ``hyperv``: whether the role is installed."""
    try:
        printed = _run(script(hyperv=hyperv), _SECONDS)
    except (OSError, subprocess.TimeoutExpired) as failure:
        return unanswered(f"PowerShell cannot be run: {failure}", hyperv=hyperv)
    return parse_answers(printed, hyperv=hyperv)


def change(cmdlet: Cmdlet, target: str) -> None:
    """Runs the cmdlet on the device of an instance id or a location path. Raises LanewayError where it fails."""
    try:
        printed = _run(command_script(cmdlet, target), _CHANGE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise failed(cmdlet, target, f"PowerShell cannot be run: {failure}") from failure
    require_done(cmdlet, target, printed)


def _run(text: str, seconds: int) -> str:
    encoded = base64.b64encode(text.encode("utf-16-le")).decode()
    run = subprocess.run((*_COMMAND, encoded), capture_output=True, timeout=seconds, check=False)
    return run.stdout.decode("utf-8", "replace")
