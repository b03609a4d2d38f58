"""docs/service.md lists every event of the agent's log, with its level, and no other."""

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
SAYS_AN_EVENT = {"say", "_say_problems"}


def said_in(path: Path) -> set[tuple[str, str]]:
    """Events with their levels, as a module logs them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SAYS_AN_EVENT:
            level, event = node.args[:2]
            if isinstance(level, ast.Attribute) and isinstance(event, ast.Constant):
                found.add((str(event.value), level.attr.lower()))
    return found


def test_every_event_is_listed_with_its_level() -> None:
    said = set().union(*map(said_in, (PROJECT / "src/laneway/compute").glob("*.py")))
    section = (PROJECT / "docs/service.md").read_text("utf-8").partition("## The log")[2].partition("\n## ")[0]
    variable = {"devices_appeared", "devices_vanished", "claims_expired"}
    listed = set(re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE))
    assert said == {(event, level) for event, level in listed if event not in variable}
    assert variable <= {event for event, _ in listed}
