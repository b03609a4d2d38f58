"""The real ``laneway agent`` in a process of its own, on a host that the test describes."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

from laneway import cli
from laneway.contracts.inventory import encode_inventory
from laneway.domain.inventory import Inventory

DEADLINE = 60.0
"""Seconds, for a machine that does much else at the time."""

PROGRAM = [sys.executable, "-W", "error", "-c", "import sys; from laneway.cli import main; sys.exit(main())"]


class HostFolder:
    """The files of one host, and the socket on which a service manager would listen, if there is one."""

    def __init__(self, folder: Path, listening: socket.socket | None = None) -> None:
        self.config = folder / "laneway.toml"
        self.snapshot = folder / "host.json"
        self.state = folder / "state"
        self._manager = listening
        found_first = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.environment = {**os.environ, "PYTHONPATH": found_first}
        if listening is not None:
            self.environment["NOTIFY_SOCKET"] = str(listening.getsockname())

    @property
    def options(self) -> list[str]:
        return [
            *("--config", str(self.config), "--snapshot", str(self.snapshot)),
            *("--state", str(self.state / "laneway.db")),
        ]

    def describe(self, inventory: Inventory) -> None:
        self.snapshot.write_bytes(encode_inventory(inventory))

    def run(self, *words: str) -> int:
        """Another command on the host, in this process."""
        return cli.main([*words, *self.options])

    @property
    def manager(self) -> socket.socket:
        assert self._manager is not None, "nobody listens"
        return self._manager

    def told(self) -> str:
        """The first line of what the service manager is told next."""
        return self.manager.recv(1000).decode().partition("\n")[0]

    def told_nothing(self) -> bool:
        self.manager.setblocking(False)
        try:
            return not self.manager.recv(1000)
        except BlockingIOError:
            return True

    @contextmanager
    def agent(self, *words: str) -> Iterator["Agent"]:
        """A running agent, which is killed in the end if it has not ended."""
        command = [*PROGRAM, "agent", *self.options, "--json", *(words or ("--interval", "1h"))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment) as process:
            killer = Timer(DEADLINE, process.kill)
            killer.start()
            try:
                yield Agent(process)
            finally:
                killer.cancel()
                process.kill()

    def failing_agent(self, options: Sequence[str] | None = None) -> "subprocess.CompletedProcess[str]":
        """An agent that ends by itself."""
        return subprocess.run(
            [*PROGRAM, "agent", *(self.options if options is None else options)],
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=DEADLINE,
            check=False,
        )


class Agent:
    """One process, with the log that it writes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def next(self, event: str) -> dict[str, Any]:
        """The next line of the log of this event; lines before it are passed over."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            document: dict[str, Any] = json.loads(line)
            if document["event"] == event:
                return document
        raise AssertionError(f"the agent ended without {event}")

    def end(self, number: int) -> int:
        """Sends a signal and waits for the end; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)
