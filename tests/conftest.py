"""What all tests share."""

import pytest


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
