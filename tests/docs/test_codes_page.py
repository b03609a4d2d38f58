"""docs/codes.md lists every code that Laneway can say, and the exit status of every error."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from laneway.cli.exit_status import EXIT_STATUS
from laneway.domain.errors import ErrorCode
from laneway.domain.specs.refusal import NO_SPEC_MATCHES
from laneway.domain.tracking.blocking import CORDONED, GROUP_NOT_VIABLE, IN_USE, OPENED, OWN_CORDONS, WRONG_DEVICE
from laneway.domain.tracking.drift import NOT_IN_VM, NOT_OWNED_BY_VM, NOT_RESTORED, OTHER_DRIVER
from laneway.domain.tracking.explanation import Rule
from laneway.hosts.linux.use_findings import UseCode

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/codes.md").read_text()
DRIFT = (NOT_IN_VM, NOT_OWNED_BY_VM, OTHER_DRIVER, NOT_RESTORED)
SAYS_A_CODE = {
    "BlockReason",
    "ConfigProblem",
    "Danger",
    "Finding",
    "HostUse",
    "NotAssignable",
    "ReadinessNote",
    "Refusal",
    "_finding",
    "_say",
    "_warn",
    "_warning",
    "warning",
}
"""Calls whose first argument, or argument ``code``, is a code."""


def codes_said_in(path: Path) -> Iterator[str]:
    """The codes that stand as texts in a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and name_of(node.func) in SAYS_A_CODE:
            named = [word.value for word in node.keywords if word.arg == "code"]
            for said in (*named, *([] if named else node.args[:1])):
                if isinstance(said, ast.Constant) and isinstance(said.value, str):
                    yield said.value


def name_of(function: ast.expr) -> str | None:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def rows() -> dict[str, list[str]]:
    """The first word of each table row that is a code, with all cells; errors stand first on the page."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:3] == "| `"]
    return {row[0].strip("`"): row for row in reversed(cells)}


@pytest.mark.parametrize("code", ErrorCode)
def test_every_error_is_listed_with_its_exit_status(code: ErrorCode) -> None:
    assert rows()[code][1] == str(EXIT_STATUS[code].value)


@pytest.mark.parametrize(
    "code",
    [
        *UseCode,
        *Rule,
        IN_USE,
        OPENED,
        GROUP_NOT_VIABLE,
        CORDONED,
        WRONG_DEVICE,
        *sorted(OWN_CORDONS),
        *DRIFT,
        NO_SPEC_MATCHES,
    ],
)
def test_every_code_with_a_name_of_its_own_is_listed(code: str) -> None:
    assert code in rows()


def test_every_other_code_is_listed() -> None:
    said = {code for path in (PROJECT / "src").rglob("*.py") for code in codes_said_in(path)}
    assert {"bridge", "unknown_tag", "iommu_off"} <= said
    assert said - set(rows()) == set()
