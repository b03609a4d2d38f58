"""docs/nova.md: every rule of nova's PCI code by number, with the modules that have it and the tests that show it.

LANEWAY_UPDATE_GOLDEN=1 in the environment makes the table anew.
"""

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.rules_named import PROJECT, by_modules, by_tests, stated

PAGE = PROJECT / "docs/nova.md"
MODULES = PROJECT / "src/laneway"
MARK = "<!-- From here on: made by LANEWAY_UPDATE_GOLDEN=1 pytest tests/docs/test_nova_rules.py -->\n"
ALL = [f"{kind}{number}" for kind, last in (("C", 93), ("D", 36), ("P", 18)) for number in range(1, last + 1)]
"""The rules as they are counted: of nova, of Laneway's differences, of Placement."""
NAMED = 3
"""So many modules and tests a row names at most."""


def in_order_of_numbers(rule: str) -> int:
    return ALL.index(rule)


def made() -> Iterator[str]:
    """The rows of the table: what names a rule, and where nothing does, the module that its test is of."""
    modules, tests = by_modules(), by_tests()
    for rule in sorted(stated(), key=in_order_of_numbers):
        shown = sorted(tests.get(rule, ()), key=lambda test: ("::" not in test, ".json" in test))[:NAMED]
        where = modules.get(rule, [])[:NAMED] or list(dict.fromkeys(map(module_of, shown)))
        yield f"| {rule} | {listed(where)} | {listed(shown)} |\n"


def module_of(test: str) -> str:
    """``tests/domain/test_x.py`` is of ``domain/x.py``, or of the folder; a scenario is played by the simulation."""
    if test.endswith(".json"):
        return "fleet/simulation.py"
    module = Path(test.partition("::")[0].removeprefix("tests/").replace("test_", ""))
    there = next(path for path in (module, *module.parents) if (MODULES / path).exists())
    return there.as_posix()


def listed(names: list[str]) -> str:
    return "<br>".join(f"`{name}`" for name in names)


@cache
def page() -> tuple[str, str]:
    """The part that is written, and the one that is made."""
    written, mark, table = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert mark
    if os.environ.get("LANEWAY_UPDATE_GOLDEN") == "1":
        table = "".join(("| rule | where | shown by |\n", "|---|---|---|\n", *made()))
        PAGE.write_text(written + MARK + table, encoding="utf-8")
    return written, table


def rows(text: str) -> dict[str, list[str]]:
    """The cells behind the number, by number."""
    found = re.findall(r"^\| ([CDP]\d+) \| (.*) \|$", text, re.MULTILINE)
    assert len(found) == len(dict(found)), "a rule stands there twice"
    return {rule: cells.split(" | ") for rule, cells in found}


def test_every_rule_is_there_or_it_is_said_why_not() -> None:
    absent, present = (rows(text).keys() for text in page())
    assert absent & present == set()
    assert sorted(absent | present, key=in_order_of_numbers) == ALL


def test_what_is_said_to_be_there_stands_on_the_page_of_rules() -> None:
    assert rows(page()[1]).keys() == set(stated())


def test_every_absence_has_a_reason() -> None:
    assert [rule for rule, cells in rows(page()[0]).items() if not all(cells)] == []


@pytest.mark.parametrize("rule", rows(page()[1]))
def test_a_row_names_modules_that_are_there(rule: str) -> None:
    modules = re.findall(r"`([^`]+)`", rows(page()[1])[rule][0])
    assert modules
    assert [module for module in modules if not (MODULES / module).exists()] == []


@pytest.mark.parametrize("rule", rows(page()[1]))
def test_a_row_names_tests_that_are_there(rule: str) -> None:
    tests = re.findall(r"`([^`]+)`", rows(page()[1])[rule][1])
    assert tests
    assert [test for test in tests if not is_there(test)] == []


def is_there(test: str) -> bool:
    file, _, function = test.partition("::")
    path = PROJECT / file
    return path.is_file() and (not function or function in functions_of(file))


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((PROJECT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
