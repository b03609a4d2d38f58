"""``laneway agent`` as it runs on the test host."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from vm.commands import Laneway


class Agent:
    """A running agent, by what it logs."""

    def __init__(self, log: IO[str]) -> None:
        self._log = log

    def until(self, event: str) -> Mapping[str, Any]:
        """Waits for the next line of the log that tells of the event."""
        for line in self._log:
            entry: Mapping[str, Any] = json.loads(line)
            if entry["event"] == event:
                return entry
        raise AssertionError(f"the agent ended, and has not told of {event}")


@contextmanager
def running_agent(laneway: Laneway) -> Iterator[Agent]:
    """An agent that looks at the host when something is plugged, and else once an hour."""
    process = subprocess.Popen(
        laneway.command("agent", "--interval", "1h", "--json"), stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            yield Agent(process.stdout)
        finally:
            process.terminate()
            process.communicate()
    assert process.returncode == 0
