"""Runs the suite on Windows: ``python tests/wine/suite.py WINE_VERSION [ARGUMENTS FOR PYTEST]``.

Its last line names the versions and the number of tests that passed. Left out is what needs POSIX by its nature,
each with its reason here.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "stand_ins"))

ALONE = ("tests/wine",)
"""They share one registry, so they run in one process."""
TOGETHER = (
    *("tests/domain", "tests/contracts", "tests/network", "tests/formats", "tests/config"),
    *("tests/store", "tests/fleet", "tests/hosts", "tests/demo", "tests/cli", "tests/compute"),
)
LEFT_OUT = {
    "the Linux driver, whose tree has names with colons": (
        "tests/hosts/linux",
        "tests/hosts/test_conformance.py::TestLinux",
        "tests/hosts/test_conformance.py::TestLinuxWithABrokenDevice",
        "tests/hosts/test_conformance.py::TestLinuxWithAVanishingDevice",
        "tests/hosts/test_conformance.py::TestLinuxWatch",
        "tests/hosts/test_same_outcome.py",
        "tests/hosts/test_registry.py::test_a_captured_tree_is_read_by_the_driver_that_can",
    ),
    "processes by fork, spawn and signals": (
        "tests/store/test_kills.py",
        "tests/store/test_processes.py",
        "tests/fleet/test_processes.py",
        "tests/cli/test_simulate.py::test_memory_does_not_grow_with_the_stream",
    ),
    "a Bash that completes words": ("tests/cli/test_main.py::test_a_reader_that_has_gone_is_no_error",),
    "systemd, and the service as a process of it": (
        "tests/compute/test_agent.py",
        "tests/compute/test_supervisor.py",
        "tests/compute/test_systemd_unit.py",
    ),
    "modes, names and messages of POSIX files": (
        "tests/store/test_maintenance.py::test_a_backup_is_a_whole_database_while_others_go_on",
        "tests/store/test_sqlite.py::test_file_and_folder_are_made_for_their_owner_alone",
        "tests/store/test_sqlite.py::test_a_folder_that_exists_keeps_its_mode",
        "tests/store/test_sqlite.py::test_the_name_of_the_file_may_be_anything",
        "tests/store/test_sqlite.py::test_what_is_no_database_of_ours_is_left_alone",
        "tests/store/test_no_database.py::test_a_name_that_no_file_system_takes",
        "tests/cli/test_no_permission.py::test_a_name_that_no_file_system_takes",
        "tests/cli/test_odd_words.py",
        "tests/cli/test_streams.py::test_a_full_disk_is_told_and_is_no_fault_of_ours",
        "tests/cli/test_demo.py::test_the_transcript_of_a_host",
        "tests/compute/test_agent_files.py",
        "tests/compute/test_manager.py::test_a_service_that_has_started_says_so",
        "tests/compute/test_manager.py::test_a_reload_puts_a_changed_config_in_force",
    ),
}


class Count:
    """Counts tests by their outcome."""

    def __init__(self) -> None:
        self.passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed += report.when == "call" and report.passed


def left_out() -> list[str]:
    """pytest's options for what is left out."""
    return [
        f"--deselect={name}" if "::" in name else f"--ignore={name}" for names in LEFT_OUT.values() for name in names
    ]


def main(wine: str, arguments: list[str]) -> int:
    count = Count()
    sessions = [arguments] if arguments else [ALONE, ("-n", "auto", *TOGETHER)]
    statuses = [
        int(pytest.main(["-q", "-p", "no:cacheprovider", *left_out(), *session], plugins=[count]))
        for session in sessions
    ]
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Windows Python {version} (os.name {os.name}) under {wine}: {count.passed} tests passed")
    return next(filter(None, statuses), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
