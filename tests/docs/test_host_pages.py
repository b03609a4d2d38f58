"""docs/host-use.md and docs/readiness.md list every code, and no other."""

import re
from pathlib import Path

from laneway.hosts.linux.use_findings import UseCode

PROJECT = Path(__file__).parents[2]
LINUX = PROJECT / "src/laneway/hosts/linux"


def listed(page: str) -> set[str]:
    """The codes in the first table of a page."""
    table = re.split(r"\n\n", (PROJECT / "docs" / page).read_text().partition("|---")[2])[0]
    return set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE))


def test_every_use_is_listed() -> None:
    assert listed("host-use.md") == {code.value for code in UseCode}


def test_every_readiness_note_is_listed_with_its_severity() -> None:
    source = "".join((LINUX / name).read_text() for name in ("readiness.py", "group_readiness.py"))
    said = re.findall(r'code="(\w+)",\s+severity="(\w+)"', source) + re.findall(
        r'code="(group_not_viable)", severity="(\w+)"', source
    )
    assert listed("readiness.md") == {code for code, _ in said}
    page = (PROJECT / "docs/readiness.md").read_text()
    for code, severity in said:
        assert f"| `{code}` | {severity} |" in page
