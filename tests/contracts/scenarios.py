"""Scenarios for tests: documents with only what a test is about spelled out, and their answers."""

import json
from collections.abc import Iterable
from typing import Any

from cli.documents import validated
from laneway.contracts.codec import encode
from laneway.contracts.scenario import document_id
from laneway.fleet.simulation import simulate

Json = dict[str, Any]

CARD, OTHER, THIRD = "0000:3b:00.0", "0000:3d:00.0", "0000:5e:00.0"
PF, VF0, VF1 = "0000:81:00.0", "0000:81:02.0", "0000:81:02.1"
GPU, SOUND = "0000:0a:00.0", "0000:0a:00.1"
ALIAS = {"name": "card", "vendor_id": "8086", "product_id": "37c8"}
VF_ALIAS = {"name": "vf", "vendor_id": "8086", "product_id": "154c", "device_type": "type-VF"}
PF_ALIAS = {"name": "pf", "vendor_id": "8086", "product_id": "1572", "device_type": "type-PF"}


def card(address: str = CARD, **facts: Any) -> Json:
    return {"address": address, "vendor_id": "8086", "product_id": "37c8", "dev_type": "type-PCI", **facts}


def pf(address: str = PF, **facts: Any) -> Json:
    facts = {"class_code": "020000", "sriov": {"total_vfs": 64, "num_vfs": 2, "vf_product_id": "154c"}, **facts}
    return card(address, product_id="1572", dev_type="type-PF", **facts)


def vf(address: str, parent: str = PF, **facts: Any) -> Json:
    return card(address, product_id="154c", dev_type="type-VF", parent_addr=parent, class_code="020000", **facts)


CARDS = (card(CARD), card(OTHER), card(THIRD))
NIC = (pf(), vf(VF0), vf(VF1))


def inventory(*functions: Json, **facts: Any) -> Json:
    return {"schema": "laneway.inventory/1", "functions": list(functions), **facts}


def scenario(*steps: Json, functions: Iterable[Json] = CARDS, **keys: Any) -> Json:
    """A host of cards that all are admitted, with an alias for them, and these steps."""
    return {
        "schema": "laneway.scenario/1",
        "device_spec": [{"address": "*"}],
        "alias": [ALIAS, VF_ALIAS, PF_ALIAS],
        "inventory": inventory(*functions),
        "steps": list(steps),
        **keys,
    }


def answer_to(document: object) -> Json:
    """The answer as a program reads it, which keeps to its schema."""
    answer: Json = validated("answer", encode(simulate(document, document_id(document))).decode())
    assert all(json.dumps(step["pools"]).find('"count": 0') < 0 for step in answer["steps"])
    return answer


def play(*steps: Json, **keys: Any) -> list[Json]:
    """The answers to the steps of a scenario that starts."""
    answer = answer_to(scenario(*steps, **keys))
    assert answer["ok"], answer["errors"]
    steps_answered: list[Json] = answer["steps"]
    return steps_answered


def refused(document: object) -> Json:
    """The error of a scenario that does not start."""
    answer = answer_to(document)
    assert (answer["ok"], answer["steps"], answer["error"]) == (False, [], answer["errors"][0])
    error: Json = answer["error"]
    return error


def claim(consumer: str = "vm1", /, *requests: Json, **keys: Any) -> Json:
    """A step that claims; one card if no request is given."""
    if not requests and not keys.keys() & {"requests", "flavor", "ports"}:
        requests = (wants(),)
    return {"op": "claim", "consumer": consumer, **({"requests": list(requests)} if requests else {}), **keys}


def wants(alias: str | None = "card", **keys: Any) -> Json:
    return {"name": alias or "r", **({"alias": alias} if alias else {}), **keys}


def statuses(step: Json) -> dict[str, str]:
    return {address: status["status"] for address, status in step["statuses"].items()}


def owners(step: Json) -> dict[str, str]:
    return {address: status["consumer"] for address, status in step["statuses"].items() if "consumer" in status}


def code(step: Json) -> str | None:
    """The code of a step's error; None if it was ok."""
    assert step["ok"] is (step["error"] is None)
    return None if step["ok"] else str(step["error"]["code"])
