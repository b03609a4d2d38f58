"""A run of tests that has a time to keep to: what has not begun when it is over is left out, and counted."""

import os
import time

import pytest

VARIABLE = "LANEWAY_TESTS_UNTIL"
"""When the time is over, in seconds since the epoch."""


class TimeBudget:
    """The plugin. A run has one test at least, however late it is."""

    def __init__(self, until: float) -> None:
        self._until = until
        self._has_begun = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """True: the test is dealt with. What it would have shared with others ends with the session."""
        if self._has_begun and time.time() > self._until:
            return True
        self._has_begun = True
        return None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        reports = (terminalreporter.getreports(outcome) for outcome in ("passed", "failed", "error", "skipped"))
        ran = len({report.nodeid for of_outcome in reports for report in of_outcome})
        collected = terminalreporter._session.testscollected if terminalreporter._session else 0
        if ran < collected:
            terminalreporter.write_line(f"LEFT OUT, as the time was over: {collected - ran} of {collected} tests")


def keep_to_time(config: pytest.Config) -> None:
    """Registers the plugin where a time is given."""
    until = os.environ.get(VARIABLE)
    if until:
        config.pluginmanager.register(TimeBudget(float(until)), "time_budget")
