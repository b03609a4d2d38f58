"""Runs the suite on Windows: ``python tests/wine/suite.py WINE_VERSION [ARGUMENTS FOR PYTEST]``.

Its last line names the versions and the number of tests that passed.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "stand_ins"))
HERE = "tests/wine"
CORE = (
    *("tests/domain", "tests/contracts", "tests/network", "tests/formats", "tests/config", "tests/store"),
    *("tests/fleet", "tests/cli", "tests/hosts"),
)
NOT_HERE = ("tests/hosts/linux",)


class Count:
    """Counts tests by their outcome."""

    def __init__(self) -> None:
        self.passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed += report.when == "call" and report.passed


def main(wine: str, arguments: list[str]) -> int:
    count = Count()
    chosen = arguments or [HERE, *CORE, *(f"--ignore={folder}" for folder in NOT_HERE)]
    status = pytest.main(["-q", "-p", "no:cacheprovider", *chosen], plugins=[count])
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Windows Python {version} (os.name {sys.platform}) under {wine}: {count.passed} tests passed")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
