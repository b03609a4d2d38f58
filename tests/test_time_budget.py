"""A run of tests that has a time to keep to leaves out what has not begun by then, and says how much."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from time_budget import VARIABLE

HERE = Path(__file__).parent
TESTS = """\
import time

import pytest

@pytest.fixture(scope="module")
def shared():
    yield
    print("given up")

@pytest.mark.parametrize("number", range(6))
def test_it(shared, number):
    print("ran", number)
"""


def run(folder: Path, until: float | None, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(
        "from time_budget import keep_to_time\n\ndef pytest_configure(config):\n    keep_to_time(config)\n"
    )
    (folder / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-s", *options, str(folder)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
        VARIABLE: "" if until is None else str(until),
    }
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("until", [pytest.param(None, id="no time"), pytest.param(time.time() + 3600, id="an hour")])
def test_all_run_where_there_is_time(tmp_path: Path, until: float | None) -> None:
    done = run(tmp_path, until)
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout
    assert "LEFT OUT" not in done.stdout


@pytest.mark.parametrize(
    ("options", "ran"), [pytest.param([], 1, id="in one process"), pytest.param(["-n", "2"], 2, id="in two")]
)
def test_each_process_runs_one_test_where_the_time_is_over(tmp_path: Path, options: list[str], ran: int) -> None:
    done = run(tmp_path, 1.0, *options)
    assert done.returncode == 0, done.stdout
    assert f"{ran} passed" in done.stdout
    assert f"LEFT OUT, as the time was over: {6 - ran} of 6 tests" in done.stdout
    assert ran > 1 or "given up" in done.stdout
