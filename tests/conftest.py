"""What all tests share."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from posix_refused import refuse_posix_modules
from time_budget import keep_to_time

refuse_posix_modules()

settings.register_profile("laneway", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laneway")
"""How long one example takes says nothing where other work shares the machine: tests count steps, never time."""


IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def quick_folder() -> Iterator[Path]:
    """A folder for tests of thousands of transactions, in memory where there is such a place.

    Waiting for the disk proves nothing there: what a killed process wrote is in the kernel's hands.
    """
    base = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        yield Path(folder)


def pytest_configure(config: pytest.Config) -> None:
    keep_to_time(config)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--field-data",
        type=Path,
        default=os.environ.get("LANEWAY_FIELD_DATA"),
        metavar="FOLDER",
        help="recorded hosts and cases for tests/field, else LANEWAY_FIELD_DATA; without either they are left out",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests counted (``record_property``), also where they ran in other processes.

    What several tests counted under one name is added up.
    """
    counts: dict[str, list[object]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties:
                counts.setdefault(name, []).append(value)
    if counts:
        terminalreporter.section("counted")
        for name, values in sorted(counts.items()):
            numbers = [value for value in values if isinstance(value, int)]
            shown = [sum(numbers)] if len(numbers) == len(values) else values
            terminalreporter.write_line(f"{name}: {', '.join(map(str, shown))}")
