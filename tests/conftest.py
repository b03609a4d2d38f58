"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("laneway", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laneway")
"""How long one example takes says nothing where other work shares the machine: tests count steps, never time."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--field-data",
        type=Path,
        default=os.environ.get("LANEWAY_FIELD_DATA"),
        metavar="FOLDER",
        help="recorded hosts and cases for tests/field, else LANEWAY_FIELD_DATA; without either they are left out",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests counted (``record_property``), also where they ran in other processes."""
    counts = [
        count
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for count in report.user_properties
    ]
    if counts:
        terminalreporter.section("counted")
        for name, value in sorted(counts):
            terminalreporter.write_line(f"{name}: {value}")
