"""systemd on the test host: what it knows of units, and what it does to them."""

import subprocess
from pathlib import Path

from vm.commands import output_of

_AGENT = Path("/etc/systemd/system/laneway-agent.service")
_ONE_SHOT = Path("/run/systemd/system/as-the-agent.service")


def systemctl(verb: str, unit: str) -> int:
    """The exit status; it returns when it is done."""
    return subprocess.run(["systemctl", verb, unit], check=False).returncode


def property_of(unit: str, name: str) -> str:
    return output_of("systemctl", "show", "--value", "--property", name, unit).strip()


def journal_of(unit: str) -> str:
    return output_of("journalctl", "--no-pager", "--output", "cat", "--unit", unit)


def as_the_agent(command: str) -> None:
    """Runs a command with the rights that the agent has, and no other."""
    lines = _AGENT.read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("Exec", "Type=", "Restart", "Watchdog", "After="))]
    at = kept.index("[Service]") + 1
    _ONE_SHOT.write_text("\n".join([*kept[:at], "Type=oneshot", f"ExecStart={command}", *kept[at:]]))
    output_of("systemctl", "daemon-reload")
    assert systemctl("start", _ONE_SHOT.name) == 0, journal_of(_ONE_SHOT.name)
