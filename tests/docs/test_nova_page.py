"""docs/nova-host-access.md: every place has a row, and what a row names is there."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (PROJECT / "docs/nova-host-access.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| in nova")
]


def test_each_place_of_nova_has_a_row() -> None:
    places = [row[0].partition(" (")[0] for row in ROWS]
    assert places == [
        "manager start",
        "network API",
        "resource tracker",
        "device spec",
        "scheduler statistics",
        "utilities",
    ]


def test_every_row_names_the_tests_that_show_it_and_they_are_there() -> None:
    for _, _, here, shown in ROWS:
        tests = re.findall(r"`(tests/[\w/.]+)`", shown)
        modules = re.findall(r"`((?:compute|network|domain)/\w+\.py)`", here)
        assert tests
        assert [path for path in tests if not (PROJECT / path).exists()] == []
        assert [path for path in modules if not (PROJECT / "src/laneway" / path).exists()] == []
