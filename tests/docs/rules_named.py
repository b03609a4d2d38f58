"""Where the rules of docs/rules.md are named: in which modules, and by which tests."""

import ast
import io
import json
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

PROJECT = Path(__file__).parents[2]
_ONE = r"([CDP])(\d{1,2})"
_ONE_OR_SEVERAL = re.compile(rf"\b{_ONE}(?: to {_ONE})?\b")
_ABOUT_RULES = ("test_rules_page.py", "test_nova_rules.py", "rules_named.py")

Named = Mapping[str, list[str]]
"""By rule: the modules below ``src/laneway``, or the tests as pytest names them, or the scenarios."""


def stated() -> list[str]:
    """The rules that stand on the page, in its order."""
    page = (PROJECT / "docs/rules.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([CDP]\d+) \| \S", page, re.MULTILINE)


def rules_in(text: str) -> Iterator[str]:
    """The numbers that a text names, ``C1 to C23`` written out."""
    for kind, first, _, last in _ONE_OR_SEVERAL.findall(text):
        for number in range(int(first), int(last or first) + 1):
            yield f"{kind}{number}"


def by_modules() -> Named:
    """The modules whose docstrings and comments name a rule."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    root = PROJECT / "src/laneway"
    for path in sorted(root.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for rule in {rule for text in (*_docstrings(source), *_comments(source)) for rule in rules_in(text)}:
            found[rule].append(path.relative_to(root).as_posix())
    return found


def by_tests() -> Named:
    """The tests whose docstring names a rule, the modules of tests that do, and the scenarios that are about it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((PROJECT / "tests").rglob("*.py")):
        if path.name in _ABOUT_RULES:
            continue
        name = path.relative_to(PROJECT).as_posix()
        for function, text in _docstrings_by_test(ast.parse(path.read_text(encoding="utf-8"))):
            for rule in dict.fromkeys(rules_in(text)):
                found[rule].append(f"{name}::{function}" if function else name)
    for path in sorted((PROJECT / "tests/cases").glob("*.json")):
        for rule in json.loads(path.read_text(encoding="utf-8"))["rules"]:
            found[rule].append(path.relative_to(PROJECT).as_posix())
    return found


def _docstrings_by_test(tree: ast.Module) -> Iterator[tuple[str | None, str]]:
    """Each docstring with the name of the test that it is of; None for that of anything else."""
    of_test = {
        node.body[0]: node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    for node, text in _texts(tree):
        yield of_test.get(node), text


def _docstrings(source: str) -> Iterator[str]:
    """Of a module, and of all that is in it, such as constants."""
    return (text for _, text in _texts(ast.parse(source)))


def _texts(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node, node.value.value


def _comments(source: str) -> Iterator[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return (token.string for token in tokens if token.type == tokenize.COMMENT)
