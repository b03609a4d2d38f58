"""Programs of the test host, and what they print."""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from laneway import cli

PROGRAM = (sys.executable, "/opt/laneway/bin/laneway")


def output_of(*command: str, given: str | None = None) -> str:
    """What a program prints, which reads what is given. Fails with what it complained of."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


@dataclass(frozen=True, slots=True)
class Answer:
    """The exit status of ``laneway``, and the document that it printed."""

    status: int
    document: Any


@dataclass(frozen=True, slots=True)
class Laneway:
    """The command line, with a config and a database of its own."""

    config: Path
    database: Path

    def command(self, *arguments: str) -> Sequence[str]:
        """The command line, to be run as a process."""
        return (*PROGRAM, *self._words(arguments))

    def __call__(self, *arguments: str) -> Answer:
        """The answer in JSON, from this process: each that starts takes seconds to import all."""
        printed = TextIOWrapper(BytesIO(), encoding="utf-8")
        with redirect_stdout(printed):
            status = cli.main([*self._words(arguments), "--json"])
        printed.seek(0)
        return Answer(status, json.loads(printed.read()))

    def _words(self, arguments: Sequence[str]) -> Sequence[str]:
        return (arguments[0], "--config", str(self.config), "--state", str(self.database), *arguments[1:])
