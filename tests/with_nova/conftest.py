"""nova's own code in its own environment, which ``make bench`` and ``make test-nova`` make."""

import os
from pathlib import Path

import pytest

ENVIRONMENT = Path(__file__).parents[2] / "bench/.venv-nova"
NOVA = ENVIRONMENT / "bin/python"
IS_THERE = os.name == "posix" and (ENVIRONMENT / ".peer").exists()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """nova needs other releases than Laneway does: it is there only where its environment was made."""
    return None if IS_THERE else True


def pytest_report_header(config: pytest.Config) -> str:
    return f"nova: {NOVA}" if IS_THERE else "nova is not installed, so nothing here is run: use make test-nova"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if IS_THERE:
        reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
        count = sum(report.nodeid.startswith("tests/with_nova/") for report in reports)
        terminalreporter.write_line(f"With nova {_release()}: {count} tests ran")


def _release() -> str:
    (found,) = ENVIRONMENT.glob("lib/python*/site-packages/nova-*.dist-info")
    return found.name.removeprefix("nova-").removesuffix(".dist-info")


@pytest.fixture(scope="session")
def nova_python() -> Path:
    return NOVA
