"""docs/windows.md and docs/codes.md list every code that only Windows hosts have, and the page no other."""

import re
from pathlib import Path

from laneway.hosts.hyperv.host_use import UseCode

PROJECT = Path(__file__).parents[2]
SOURCE = PROJECT / "src/laneway/hosts/hyperv"
PAGE = (PROJECT / "docs/windows.md").read_text("utf-8")
CODES = (PROJECT / "docs/codes.md").read_text("utf-8")


def listed(title: str) -> set[str]:
    """The codes in the first table below a heading, several in one cell too."""
    table = PAGE.partition(f"## {title}\n")[2].partition("|---")[2].partition("\n\n")[0]
    return {code for row in re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE) for code in re.findall(r"`(\w+)`", row)}


def test_every_reason_against_assignment_is_listed() -> None:
    said = set(re.findall(r'code="(\w+)"', (SOURCE / "assignability.py").read_text("utf-8")))
    assert len(said) == 8
    assert listed("What can be given away") == said


def test_every_use_is_listed() -> None:
    assert listed("What Windows itself needs") == {code.value for code in UseCode}
    assert all(f"| `{code.value}` |" in CODES for code in UseCode)


def test_every_readiness_note_is_listed_with_its_severity() -> None:
    said = re.findall(r'code="(\w+)",\s+severity="(\w+)"', (SOURCE / "readiness.py").read_text("utf-8"))
    assert listed("Is the host ready?") == {code for code, _ in said}
    for code, severity in said:
        assert f"| `{code}` | {severity} |" in PAGE
