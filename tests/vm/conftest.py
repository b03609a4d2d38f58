"""Tests on a real Linux host that QEMU emulates: run by ``make test-vm`` (see README.md), nowhere else."""

import os
import platform
from collections.abc import Generator
from importlib import import_module
from pathlib import Path

import pytest

from time_budget import keep_to_time
from vm.commands import output_of

HOST = os.environ.get("LANEWAY_TEST_HOST")
"""Which of the hosts this is; set where the tests run on one of them."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return None if HOST else True


def pytest_configure(config: pytest.Config) -> None:
    if HOST:
        keep_to_time(config)


def pytest_report_header(config: pytest.Config) -> str:
    if not HOST:
        return "this is no test host, so nothing here is run: use make test-vm"
    qemu = output_of("qemu-system-x86_64", "--version").split()[3]
    number = import_module("libvirt").getVersion()
    libvirt = f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
    return f"Linux {platform.release()}, QEMU {qemu}, libvirt {libvirt}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With a failure goes what the kernel said last."""
    report = yield
    if report.failed and HOST:
        report.sections.append(("The kernel's messages", "\n".join(output_of("dmesg").splitlines()[-15:])))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if HOST:
        counts = [len(terminalreporter.getreports(outcome)) for outcome in ("passed", "failed")]
        terminalreporter.write_line(f"{sum(counts)} tests ran on {HOST}: {counts[0]} passed, {counts[1]} failed")
