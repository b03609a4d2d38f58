"""Real services of OpenStack: run by ``make test-openstack`` (see run.sh), which says where each of them is."""

import os
from pathlib import Path

import pytest

WHERE = {
    "test_placement.py": "LANEWAY_TEST_PLACEMENT",
    "test_neutron.py": "LANEWAY_TEST_NEUTRON",
    "test_neutron_agent.py": "LANEWAY_TEST_NEUTRON",
    "test_neutron_ovn.py": "LANEWAY_TEST_NEUTRON_OVN",
    "test_databases.py": "LANEWAY_TEST_DATABASES",
}
"""The environment variable with the place of the service that a module of tests needs."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What needs a service that was not started is not there."""
    return True if collection_path.name in WHERE and WHERE[collection_path.name] not in os.environ else None


def pytest_report_header(config: pytest.Config) -> list[str]:
    missing = [name for name, variable in WHERE.items() if variable not in os.environ]
    return [f"Without a real service, so not run (use make test-openstack): {', '.join(missing)}"] if missing else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if any(variable in os.environ for variable in WHERE.values()):
        count = sum(len(terminalreporter.getreports(outcome)) for outcome in ("passed", "failed"))
        terminalreporter.write_line(f"With real services of OpenStack: {count} tests ran")
