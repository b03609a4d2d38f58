"""Runs the programs among these tests that fork: each in a process of its own, with one thread."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType


def output_of(program: ModuleType, *arguments: object) -> str:
    """What the program prints; what it complains of, if it fails, fails the test."""
    command = [sys.executable, "-W", "error", "-m", program.__name__, *map(str, arguments)]
    run = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout
