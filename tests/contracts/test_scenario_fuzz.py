"""Whatever stands in a scenario, it is answered in the form of the contract, and never by a fault of ours."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.scenarios import CARDS, NIC, answer_to, card, scenario
from contracts.test_scenario_document import FULL_STEPS

Path = tuple[str | int, ...]

WHOLE = scenario(
    *FULL_STEPS,
    functions=[*CARDS, *NIC],
    id="s1",
    device_spec=[
        {"address": {"domain": ".*", "bus": "81", "slot": ".*", "function": "[0-7]"}, "physical_network": "p1"},
        {"devname": "ens1"},
        {"address": "*:3b:00.", "vendor_id": "8086", "managed": "no", "live_migratable": True},
        [{"product_id": "0x37c8", "remote_managed": "false", "allow_in_use": False, "cleaning": {"command": "wipe"}}],
        '{"address": "*", "one_time_use": "yes", "binding": "operator"}',
    ],
    stored=[{**card(), "status": "claimed", "consumer": "vm9"}, {**NIC[1], "status": "unavailable", "consumer": None}],
    options={"iommu_groups": "enforce", "report_in_placement": False, "pci_in_placement": False},
)


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from paths(inner, (*path, key))


PATHS = [path for path in paths(WHOLE) if path]
SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 2**63, 10**30, 1.5, -0.0])
    | st.sampled_from(
        ["", " ", "0", "*", "8086", "0000:3b:00.0", "vm1", "c1", "card", "claimed", "type-VF", "ü\u2603", "\0"]
    )
    | st.text(max_size=8)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["address", "op", "name", "vendor_id", "x"]) | st.text(max_size=3), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """The whole scenario with a few changes anywhere: a value replaced, removed, repeated, or a key added."""
    document = copy.deepcopy(WHOLE)
    for path in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=4)):
        holder = at(document, path[:-1])
        if isinstance(holder, dict | list):
            change(draw, holder, path[-1])
    return document


def at(document: Any, path: Path) -> Any:
    """What stands there now; None where an earlier change took it away."""
    for key in path:
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and isinstance(key, int) and key < len(document):
            document = document[key]
        else:
            return None
    return document


def change(draw: st.DrawFn, holder: Any, key: str | int) -> None:
    what = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
    if isinstance(holder, dict):
        if what == "remove":
            holder.pop(str(key), None)
        else:
            holder[str(key) if what == "replace" else draw(st.text(min_size=1, max_size=4))] = draw(JSON)
    elif what == "add" or not holder:
        holder.append(draw(st.sampled_from(holder) if holder else JSON))
    else:
        place = key if isinstance(key, int) and key < len(holder) else 0
        holder[place : place + 1] = [draw(JSON)] if what == "replace" else []


@settings(max_examples=600, deadline=None)
@given(document=documents() | JSON)
def test_every_document_is_answered_and_never_by_a_fault_of_ours(document: object) -> None:
    answer = answer_to(json.loads(json.dumps(document)))
    errors = [answer["error"], *answer["errors"], *(step["error"] for step in answer["steps"])]
    assert answer["ok"] is (answer["error"] is None)
    assert not any(error and error["code"] == "internal_error" for error in errors), errors


def test_the_whole_scenario_starts() -> None:
    answer = answer_to(WHOLE)
    assert answer["ok"], answer["errors"]
    assert len(answer["steps"]) == len(FULL_STEPS)
