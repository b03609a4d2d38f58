"""What all tests share."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--field-data",
        type=Path,
        metavar="FOLDER",
        help="recorded hosts and cases to try the product on (tests/field); without it those tests are not collected",
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
