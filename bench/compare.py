"""Measures Laneway and its peers in one run, in turn, and tells how far the aims are reached.

    python -m bench.compare NOVA_PYTHON [ROUNDS]

NOVA_PYTHON is the interpreter of an environment with nova (``make bench`` makes it). The figures
are medians over the rounds; a ratio is taken within each round, so that a machine that gets slower
from round to round does not bend it. All measures go to a file in bench/results.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.tables import as_text, further_figures, machine_lines, result_table
from bench.tree import linux_tree

ROUNDS = 3
RESULTS = Path(__file__).parent / "results"

# What a shell sets for its Python is not ours to measure.
_ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LANEWAY"))}


def main() -> None:
    nova_python = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    started = time.monotonic()
    with linux_tree(4096) as large, linux_tree(512) as small:
        sides: dict[str, Sequence[Sequence[str]]] = {
            "nova": [[nova_python, "-W", "ignore", "-m", "bench.nova_side"]],
            "laneway": [[sys.executable, "-m", "bench.laneway_side"]],
            "host": [
                [sys.executable, "-m", "bench.discovery_side", str(large)],
                [sys.executable, "-m", "bench.command_side", str(small)],
            ],
        }
        measured = [_round(number + 1, rounds, sides) for number in range(rounds)]
    machine = _machine()
    print()
    print(as_text(result_table(measured)))
    print()
    print("\n".join([*further_figures(measured), *machine_lines(machine)]))
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{machine['at'].replace(':', '')}.json"
    file.write_text(json.dumps({"machine": machine, "rounds": measured}, indent=1) + "\n")
    print(f"\n{time.monotonic() - started:.0f} s. All measures: {os.path.relpath(file)}")
    print("python -m bench.report writes these figures into bench/README.md")


def _round(number: int, rounds: int, sides: dict[str, Sequence[Sequence[str]]]) -> dict[str, float]:
    measures: dict[str, float] = {}
    for side, commands in sides.items():
        for command in commands:
            print(f"round {number} of {rounds}: {command[command.index('-m') + 1]} ...", file=sys.stderr)
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=_ENVIRONMENT).stdout
            measures |= {f"{side}.{name}": value for name, value in json.loads(output).items()}
    return measures


def _machine() -> dict[str, Any]:
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "programs": [name for name in ("lspci",) if shutil.which(name)],
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
