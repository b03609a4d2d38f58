"""docs/simulate.md: what it shows is so."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.documents import valid
from contracts.scenarios import answer_to
from laneway.contracts.scenario import STEP_KEYS

PAGE = (Path(__file__).parents[2] / "docs/simulate.md").read_text(encoding="utf-8")
SCENARIO, ANSWER = (json.loads(text) for text in re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


def rows(heading: str) -> list[list[str]]:
    """The cells of the table of a section."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]


def words(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_the_example_is_answered_as_it_says() -> None:
    valid("scenario", SCENARIO)
    answer = answer_to(SCENARIO)
    assert [step["ok"] for step in answer["steps"]] == [True, True, False, True]
    assert {**answer, "steps": answer["steps"][:1]} == ANSWER


def test_every_key_of_a_scenario_is_told() -> None:
    told = {key for row in rows("A scenario") for key in words(row[0])}
    schema: dict[str, Any] = json.loads((Path(__file__).parents[2] / "docs/schemas/scenario.schema.json").read_text())
    assert told == set(schema["properties"])


KEYS_TOLD = {op: set(words(keys)) for ops, keys, _ in rows("Steps") for op in words(ops)}


def test_every_operation_is_told() -> None:
    assert KEYS_TOLD.keys() == STEP_KEYS.keys()


@pytest.mark.parametrize("op", [op for op, keys in STEP_KEYS.items() if keys and op != "profile"])
def test_every_key_of_an_operation_is_told(op: str) -> None:
    told = KEYS_TOLD["claim"] if op == "check" else KEYS_TOLD[op]
    assert sorted(told) == sorted(STEP_KEYS[op] or ())
