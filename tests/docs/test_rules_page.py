"""docs/rules.md: every rule that the code names stands there, and every rule that stands there is shown by a test."""

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
RULES = re.findall(r"^\| ([CDP]\d+) \| \S", (PROJECT / "docs/rules.md").read_text(encoding="utf-8"), re.MULTILINE)
_ONE = r"([CDP])(\d{1,2})"
_ONE_OR_SEVERAL = re.compile(rf"\b{_ONE}(?: to {_ONE})?\b")


def rules_in(text: str) -> Iterator[str]:
    """The numbers that a text names, ``C1 to C23`` written out."""
    for kind, first, _, last in _ONE_OR_SEVERAL.findall(text):
        for number in range(int(first), int(last or first) + 1):
            yield f"{kind}{number}"


def docstrings(source: str) -> Iterator[str]:
    """Of a module, and of all that is in it, such as constants."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def comments(source: str) -> Iterator[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return (token.string for token in tokens if token.type == tokenize.COMMENT)


def named_by_the_code() -> set[str]:
    sources = [path.read_text(encoding="utf-8") for path in (PROJECT / "src").rglob("*.py")]
    return {rule for source in sources for text in (*docstrings(source), *comments(source)) for rule in rules_in(text)}


def named_by_tests() -> set[str]:
    sources = [path.read_text(encoding="utf-8") for path in (PROJECT / "tests").rglob("*.py") if path != Path(__file__)]
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in (PROJECT / "tests/cases").glob("*.json")]
    return {rule for source in sources for text in docstrings(source) for rule in rules_in(text)} | {
        rule for case in cases for rule in case["rules"]
    }


def test_every_rule_stands_there_once() -> None:
    assert len(RULES) == len(set(RULES)) > 100


def test_every_rule_that_the_code_names_stands_there() -> None:
    assert named_by_the_code() - set(RULES) == set()


@pytest.fixture(scope="module")
def shown() -> set[str]:
    return named_by_tests()


@pytest.mark.parametrize("rule", RULES)
def test_a_test_shows_the_rule(rule: str, shown: set[str]) -> None:
    assert rule in shown
