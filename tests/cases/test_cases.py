"""Cases of use and misuse: scenarios with what their answers have to say.

Each file has a ``title``, a ``kind``, the ``rules`` that it is about (by number: C what nova does, D where
Laneway differs on purpose), a ``scenario``, and what is ``expect``ed of its answer. Of an object only
the keys that are named count, where null also stands for an absent key; lists are compared item by item.
``pools_total`` of a step is the number of devices in all its pools.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.documents import valid
from contracts.scenarios import answer_to

Case = dict[str, Any]

CASES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob("*.json"))}
KINDS = (
    *("alias", "claims", "config", "devname", "discovery", "domain", "domain32", "hotplug", "iommu", "moves", "numa"),
    *("pf-vf", "reload", "remote_managed", "scheduling", "spec", "vpd"),
)
SHOWN = ("D14", *(f"D{number}" for number in range(20, 37)))
"""Where Laneway is better than nova on purpose, as far as a scenario can show it: each is shown by name."""


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_case(case: Case) -> None:
    answer = answer_to(case["scenario"])
    for step in answer["steps"]:
        step["pools_total"] = sum(pool["count"] for pool in step["pools"])
    differences = list(compared(case["expect"], answer, "answer"))
    assert not differences, "\n".join([case["title"], *differences])


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_a_case_keeps_to_the_form_of_cases(case: Case) -> None:
    assert case.keys() == {"title", "kind", "rules", "scenario", "expect"}
    assert case["kind"] in KINDS
    if case["expect"]["ok"] and "invalid_request" not in json.dumps(case["expect"]):
        valid("scenario", case["scenario"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_cases(kind: str) -> None:
    assert [name for name, case in CASES.items() if case["kind"] == kind]


@pytest.mark.parametrize("rule", SHOWN)
def test_every_difference_to_nova_is_shown(rule: str) -> None:
    assert [name for name, case in CASES.items() if rule in case["rules"]]


def compared(expected: Any, found: Any, place: str) -> Any:
    """What differs, and where."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from compared(value, found.get(key), f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from compared(one, other, f"{place}[{number}]")
    elif expected != found:
        yield f"{place} is {json.dumps(found)[:600]}, not {json.dumps(expected)}"
