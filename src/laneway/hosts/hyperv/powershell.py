"""Runs PowerShell. Thin: what is asked, and what the answer means, stands in ``powershell_answers``."""

import base64
import subprocess

from laneway.hosts.hyperv.powershell_answers import parse_answers, script, unanswered
from laneway.hosts.hyperv.recording import PowerShellAnswers

_COMMAND = ("powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand")
_SECONDS = 60


def ask(*, hyperv: bool) -> PowerShellAnswers:
    """What PowerShell tells of Hyper-V and of teams of adapters; ``hyperv``: whether the role is installed."""
    encoded = base64.b64encode(script(hyperv=hyperv).encode("utf-16-le")).decode()
    try:
        run = subprocess.run((*_COMMAND, encoded), capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        return unanswered(f"PowerShell cannot be run: {failure}", hyperv=hyperv)
    return parse_answers(run.stdout.decode("utf-8", "replace"), hyperv=hyperv)
