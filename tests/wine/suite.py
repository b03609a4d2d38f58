"""Runs the suite on Windows: ``python tests/wine/suite.py WINE_VERSION [ARGUMENTS FOR PYTEST]``.

Its last line names the versions and the number of tests that ran. Left out is what needs POSIX by its nature, each with
its reason here.
"""

import os
import sys
from pathlib import Path

import pytest

ALONE = ("tests/wine",)
"""They share one registry, so they run in one process."""
TOGETHER = ("tests", "--ignore=tests/wine")
LEFT_OUT = {
    "the Linux driver, whose tree has names with colons": (
        "tests/hosts/linux",
        "tests/hosts/test_conformance.py::TestLinux",
        "tests/hosts/test_conformance.py::TestLinuxWithABrokenDevice",
        "tests/hosts/test_conformance.py::TestLinuxWithAVanishingDevice",
        "tests/hosts/test_conformance.py::TestLinuxWatch",
        "tests/hosts/test_same_outcome.py",
        "tests/hosts/test_registry.py::test_a_captured_tree_is_read_by_the_driver_that_can",
        *(
            f"tests/compute/test_{name}.py"
            for name in ("preparing", "releasing", "cleaning", "vf_counts", "restoring", "managed_host", "host_changer")
        ),
        "tests/compute/test_prepared_vfs.py",
        "tests/compute/test_upkeep.py",
        "tests/compute/test_upkeep_of_a_service.py",
        "tests/compute/test_host_kills.py",
        "tests/cli/test_changing.py",
        "tests/cli/test_changing_examples.py",
    ),
    "processes made by fork and posix_spawn (test_commands.py has some that compete)": (
        "tests/store/test_kills.py",
        "tests/store/test_processes.py",
        "tests/fleet/test_processes.py",
        "tests/cli/test_simulate.py::test_memory_does_not_grow_with_the_stream",
    ),
    "systemd, its sockets and its signals (test_agent.py has the agent without them)": (
        "tests/compute/test_agent.py",
        "tests/compute/test_supervisor.py",
        "tests/compute/test_systemd_unit.py",
    ),
    "the bytes of a command line, which is text on Windows": (
        "tests/cli/test_odd_words.py::test_a_consumer_is_the_same_whatever_the_locale",
    ),
    "modes of POSIX files, which Windows does not have": (
        "tests/store/test_journal.py::test_nobody_else_may_read_it",
        "tests/store/test_maintenance.py::test_a_backup_is_for_its_owner_alone",
        "tests/store/test_sqlite.py::test_file_and_folder_are_made_for_their_owner_alone",
        "tests/store/test_sqlite.py::test_a_folder_that_exists_keeps_its_mode",
        "tests/compute/test_agent_files.py::test_all_files_are_for_the_owner_alone",
    ),
    "names of files that Windows does not take, and long ones that it takes for missing": (
        "tests/store/test_sqlite.py::test_the_name_of_the_file_may_be_anything[with a question mark]",
        "tests/compute/test_agent_files.py::test_a_lock_is_one_file_and_nothing_is_written_to_it[a question mark]",
        "tests/store/test_no_database.py::test_a_name_that_no_file_system_takes",
        "tests/cli/test_no_permission.py::test_a_name_that_no_file_system_takes[a database]",
    ),
}


class Count:
    """Counts the tests that ran."""

    def __init__(self) -> None:
        self.ran = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "call" and not report.skipped


def left_out() -> list[str]:
    """pytest's options for what is left out."""
    return [
        f"--deselect={name}" if "::" in name else f"--ignore={name}" for names in LEFT_OUT.values() for name in names
    ]


def main(wine: str, arguments: list[str]) -> int:
    sys.path.insert(0, str(Path(__file__).parent / "stand_ins"))
    count = Count()
    sessions = [arguments] if arguments else [ALONE, ("-n", "auto", *TOGETHER)]
    statuses = [
        int(pytest.main(["-q", "-p", "no:cacheprovider", *left_out(), *session], plugins=[count]))
        for session in sessions
    ]
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Windows Python {version} (os.name {os.name}) under {wine}: {count.ran} tests ran")
    return next(filter(None, statuses), 0) if count.ran else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
