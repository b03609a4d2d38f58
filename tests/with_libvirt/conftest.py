"""A real libvirt and its test driver, which needs no daemon: run by ``make test-libvirt`` (see run.sh)."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """libvirt-python has no wheels: it is there only where it was built."""
    return True if find_spec("libvirt") is None else None


def pytest_report_header(config: pytest.Config) -> str:
    if find_spec("libvirt") is None:
        return "libvirt-python is not installed, so nothing here is run: use make test-libvirt"
    number = import_module("libvirt").getVersion()
    return f"libvirt {number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if find_spec("libvirt") is not None:
        count = sum(len(terminalreporter.getreports(outcome)) for outcome in ("passed", "failed"))
        terminalreporter.write_line(f"{pytest_report_header(config)}: {count} tests ran")


@pytest.fixture
def libvirt() -> Any:
    return import_module("libvirt")
