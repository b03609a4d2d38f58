"""The contract ``laneway.inventory/1``, key by key."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from contracts.examples import FULL_FUNCTION, FULL_INVENTORY
from laneway.contracts.inventory import (
    DOCUMENT_KEYS,
    FUNCTION_KEYS,
    decode_inventory,
    encode_inventory,
    function_to_plain,
    inventory_to_plain,
)
from laneway.domain.errors import CompoundError, ErrorCode, LanewayError
from laneway.domain.inventory import Inventory, PciFunction

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/inventory.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def document(**changes: Any) -> dict[str, Any]:
    """A document of one function with changes; ``function`` are those of the function."""
    function = {"address": "0000:3b:00.0", "vendor_id": "10de", "product_id": "20b0", "dev_type": "type-PF"}
    function |= changes.pop("function", {})
    return {"schema": "laneway.inventory/1", "functions": [function]} | changes


def without(key: str) -> dict[str, Any]:
    made = document()
    del made["functions"][0][key]
    return made


def test_every_field_is_a_key_of_the_contract_and_the_other_way_round() -> None:
    assert set(DOCUMENT_KEYS) == {field.name for field in fields(Inventory)}
    assert set(FUNCTION_KEYS) == {field.name for field in fields(PciFunction)}


def test_an_inventory_written_and_read_is_the_same() -> None:
    assert decode_inventory(encode_inventory(FULL_INVENTORY)) == FULL_INVENTORY


def test_the_keys_stand_in_the_order_of_the_contract() -> None:
    written = json.loads(encode_inventory(FULL_INVENTORY))
    assert tuple(written) == DOCUMENT_KEYS
    assert all(tuple(function) == FUNCTION_KEYS for function in written["functions"])
    assert tuple(function_to_plain(FULL_FUNCTION)) == FUNCTION_KEYS


def test_what_was_looked_up_in_an_inventory_is_not_written() -> None:
    assert len(FULL_INVENTORY.by_address) == 2
    assert tuple(inventory_to_plain(FULL_INVENTORY)) == DOCUMENT_KEYS


def test_what_is_written_fits_the_json_schema() -> None:
    VALIDATOR.validate(json.loads(encode_inventory(FULL_INVENTORY)))


def test_the_json_schema_knows_every_key() -> None:
    assert set(SCHEMA["properties"]) == set(DOCUMENT_KEYS)
    assert set(SCHEMA["properties"]["functions"]["items"]["properties"]) == set(FUNCTION_KEYS)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "accepted",
    [
        pytest.param(document(), id="the required keys are enough"),
        pytest.param(document(numa_nodes=None, readiness=None, problems=None, os=None), id="null equals absent"),
        pytest.param(document(colour="red", function={"colour": 5}), id="unknown keys are ignored"),
        pytest.param(document(function={"vpd": {"card_serial_number": ""}}), id="a card may say an empty serial"),
        pytest.param(
            document(function={"in_use_by": [], "vf_index": 0, "numa_node": 0}), id="zero and none are values"
        ),
        pytest.param(document(functions=[]), id="a host without functions"),
    ],
)
def test_accepted(accepted: dict[str, Any]) -> None:
    inventory = decode_inventory(accepted)
    VALIDATOR.validate(accepted)
    assert (inventory.numa_nodes, inventory.readiness, inventory.problems) == ((), (), ())
    assert decode_inventory(json.dumps(accepted)) == inventory
    written = encode_inventory(inventory)
    assert tuple(json.loads(written)) == DOCUMENT_KEYS
    assert decode_inventory(b"\xef\xbb\xbf" + written) == inventory


REFUSED = [
    pytest.param([], "$", "this is a list", id="no object"),
    pytest.param(None, "$", "this is null", id="null"),
    pytest.param({"functions": []}, "$.schema", "'laneway.inventory/1'", id="no schema"),
    pytest.param(document(schema="laneway.inventory/2"), "$.schema", "laneway.inventory/2", id="another schema"),
    pytest.param({"schema": "laneway.inventory/1"}, "$", "functions", id="no functions"),
    pytest.param(document(functions=None), "$.functions", "array", id="functions of null"),
    *(pytest.param(without(k), "$.functions[0]", k, id=f"no {k}") for k in ("address", "vendor_id", "dev_type")),
    pytest.param(
        document(function={"vendor_id": "10DE"}), "$.functions[0].vendor_id", "'10DE'", id="an id in upper case"
    ),
    pytest.param(
        document(function={"product_id": "0x20b0"}), "$.functions[0].product_id", "without 0x", id="an id with 0x"
    ),
    pytest.param(document(function={"vendor_id": ""}), "$.functions[0].vendor_id", "''", id="an id of nothing"),
    pytest.param(
        document(function={"class_code": "0300"}), "$.functions[0].class_code", "6 lower-case", id="a short class"
    ),
    pytest.param(
        document(function={"revision": "a1 "}), "$.functions[0].revision", "2 lower-case", id="an id with a blank"
    ),
    pytest.param(document(function={"vendor_id": 4318}), "$.functions[0].vendor_id", "`str`", id="an id as a number"),
    pytest.param(document(function={"numa_node": -1}), "$.functions[0].numa_node", "null", id="node -1"),
    pytest.param(document(function={"numa_node": "0"}), "$.functions[0].numa_node", "`int", id="a node as text"),
    pytest.param(document(function={"iommu_group": True}), "$.functions[0].iommu_group", "`int", id="a group of true"),
    pytest.param(document(function={"driver": ""}), "$.functions[0].driver", "null", id="a driver of nothing"),
    pytest.param(
        document(function={"dev_type": "PF"}), "$.functions[0].dev_type", "type-PF, type-VF", id="another type"
    ),
    pytest.param(document(function={"address": "3b"}), "$.functions[0].address", "0000:3b:00.0", id="no address"),
    pytest.param(
        document(function={"netdevs": [{"name": "a"}, {"name": ""}]}),
        "$.functions[0].netdevs[1].name",
        "null",
        id="an interface without a name",
    ),
    pytest.param(
        document(numa_nodes=[{"id": 0, "distances": {"x": 10}}]), "$.numa_nodes[0].distances", "`int`", id="node x"
    ),
    pytest.param(document(numa_nodes=[{"socket": 0}]), "$.numa_nodes[0]", "id", id="a node without its id"),
]


@pytest.mark.parametrize(("refused", "path", "said"), REFUSED)
def test_refused(refused: object, path: str, said: str) -> None:
    with pytest.raises(LanewayError) as caught:
        decode_inventory(refused)
    assert caught.value.code is ErrorCode.INVALID_INVENTORY
    assert caught.value.detail == {"path": path}
    assert said in caught.value.message
    assert not VALIDATOR.is_valid(refused)


def test_all_that_is_wrong_is_reported() -> None:
    sound = document()["functions"][0]
    wrong = [
        {"vendor_id": "10de", "numa_node": -1},
        sound,
        {**sound, "address": "zz", "product_id": "1"},
        "no function",
        {**sound, "driver": "nvidia"},
    ]
    with pytest.raises(CompoundError) as caught:
        decode_inventory(document(functions=wrong, host="", numa_nodes=[{"id": 0}, {"socket": 0}]))
    assert [str(error.detail.get("path", error.detail.get("addresses"))) for error in caught.value.errors] == [
        "$.host",
        "$.numa_nodes[1]",
        *["$.functions[0]"] * 3,
        "$.functions[0].numa_node",
        "$.functions[2].address",
        "$.functions[2].product_id",
        "$.functions[3]",
        "['0000:3b:00.0']",
    ]
    assert all(error.code is ErrorCode.INVALID_INVENTORY for error in caught.value.errors)
    assert all(error.message.startswith(f"{error.detail['path']}: ") for error in caught.value.errors[:-1])
    assert caught.value.message == caught.value.errors[0].message


def test_two_functions_of_one_address_are_refused_however_it_is_written() -> None:
    twice = document()["functions"] + document(function={"address": "3b:00.0"})["functions"]
    with pytest.raises(LanewayError, match=r"0000:3b:00\.0 more than once") as caught:
        decode_inventory(document(functions=twice))
    assert caught.value.code is ErrorCode.INVALID_INVENTORY


def test_text_that_is_no_json_is_invalid_json() -> None:
    with pytest.raises(LanewayError) as caught:
        decode_inventory(b"{")
    assert caught.value.code is ErrorCode.INVALID_JSON


def test_distances_have_nodes_as_text_in_json_and_as_numbers_here() -> None:
    read = decode_inventory(document(numa_nodes=[{"id": 0, "distances": {"0": 10, "1": 21}}]))
    assert read.numa_nodes[0].distances == {0: 10, 1: 21}
