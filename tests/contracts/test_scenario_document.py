"""The contract ``laneway.scenario/1``, sentence by sentence: the document, its config and its answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cli.documents import SCHEMAS, valid
from contracts.scenarios import (
    ALIAS,
    CARD,
    CARDS,
    NIC,
    OTHER,
    VF0,
    Json,
    answer_to,
    card,
    claim,
    code,
    inventory,
    pf,
    play,
    refused,
    scenario,
    statuses,
    vf,
    wants,
)
from laneway.contracts.scenario import STEP_KEYS
from laneway.fleet import simulation

FULL_STEPS: list[dict[str, Any]] = [
    {
        "op": "claim",
        "consumer": "vm1",
        "claim": "c1",
        "guest_numa_nodes": [0],
        "requests": [
            {"name": "g", "alias": "card", "count": 2, "numa_policy": "preferred"},
            {"name": "n", "any_of": [{"dev_type": "type-VF", "physical_network": "p1"}], "attach": "vfio"},
        ],
        "constraints": [{"match": "pcie_root", "requests": ["g", "n"]}, {"distinct": "parent"}],
    },
    {"op": "check", "flavor": "card:1", "guest_numa_nodes": None},
    {"op": "check", "ports": [{"vnic_type": "direct", "physical_network": "p1", "numa_policy": None, "trusted": True}]},
    {"op": "allocate", "consumer": "vm1", "claim": "c1"},
    {"op": "free", "consumer": "vm1", "claim": "c1", "addresses": [CARD]},
    {"op": "sync", "inventory": inventory(*CARDS)},
    {"op": "restart", "device_spec": [{"address": "*"}], "alias": None},
    {"op": "reload", "alias": [ALIAS]},
    {"op": "cleanup", "keep": ["vm1"]},
    {"op": "move", "consumer": "vm1", "verb": "start", "kind": "resize", "to": "another set"},
    {"op": "cordon", "address": CARD},
    {"op": "uncordon", "address": CARD},
    {"op": "release", "address": CARD},
    {"op": "clean", "address": CARD},
    {"op": "profile", "consumer": "vm1"},
]


def test_the_schema_takes_a_scenario_with_every_key_and_so_does_laneway() -> None:
    document = scenario(
        *FULL_STEPS,
        id="s1",
        stored=[{**card(), "status": "claimed", "consumer": "vm9"}],
        options={"iommu_groups": "ignore", "report_in_placement": False, "pci_in_placement": True},
        unknown_key="ignored",
    )
    assert {step["op"] for step in FULL_STEPS} == set(STEP_KEYS)
    valid("scenario", document)
    assert answer_to(document)["ok"]


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.schema.json")), ids=lambda path: path.name)
def test_the_schemas_are_schemas(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text()))


def test_a_scenario_needs_no_more_than_schema_and_inventory() -> None:
    assert answer_to({"schema": "laneway.scenario/1", "inventory": inventory(*CARDS)}) == {
        "id": None,
        "ok": True,
        "error": None,
        "errors": [],
        "warnings": [],
        "steps": [],
    }


@pytest.mark.parametrize("key", ["device_spec", "alias", "stored", "steps", "options", "id"])
def test_null_is_as_good_as_absent(key: str) -> None:
    document = scenario(claim()) | {key: None}
    left_out = {k: v for k, v in document.items() if k != key}
    assert answer_to(document) == answer_to(left_out)


@pytest.mark.parametrize("identity", ["s1", "", "ü 1", "x" * 1000])
def test_any_text_is_an_id_and_is_repeated(identity: str) -> None:
    assert answer_to(scenario(id=identity))["id"] == identity
    assert answer_to({"id": identity})["id"] == identity


def test_the_id_is_repeated_though_the_config_is_bad() -> None:
    answer = answer_to(scenario(id="s1", device_spec=[{}]))
    assert (answer["id"], answer["ok"]) == ("s1", False)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        pytest.param(["laneway.scenario/1"], "$", id="a list"),
        pytest.param(None, "$", id="null"),
        pytest.param("text", "$", id="a text"),
        pytest.param({"inventory": inventory()}, "schema", id="no schema"),
        pytest.param(scenario(schema="laneway.scenario/2"), "schema", id="another schema"),
        pytest.param(scenario(schema="laneway.inventory/1"), "schema", id="an inventory in its place"),
        pytest.param({"schema": "laneway.scenario/1"}, "inventory", id="no inventory"),
        pytest.param(scenario(inventory=None), "inventory", id="an inventory of null"),
        pytest.param(scenario(id=7), "id", id="an id that is a number"),
        pytest.param(scenario(device_spec={"address": "*"}), "device_spec", id="a device_spec that is no list"),
        pytest.param(scenario(alias="gpu"), "alias", id="an alias that is no list"),
        pytest.param(scenario(stored={}), "stored", id="a store that is no list"),
        pytest.param(scenario(steps={}), "steps", id="steps that are no list"),
        pytest.param(scenario(options=[]), "options", id="options that are no object"),
        pytest.param(scenario(options={"iommu_groups": "strict"}), "options.iommu_groups", id="an unknown policy"),
        pytest.param(scenario(options={"iommu_groups": True}), "options.iommu_groups", id="a policy that is no text"),
        pytest.param(scenario(options={"report_in_placement": "yes"}), "options.report_in_placement", id="yes as text"),
        pytest.param(scenario(options={"pci_in_placement": 1}), "options.pci_in_placement", id="a number as an option"),
        pytest.param(scenario() | {"steps": ["claim"]}, "steps[0]", id="a step that is no object"),
        pytest.param(scenario({}), "steps[0].op", id="a step without an op"),
        pytest.param(scenario(claim(), {"op": "clame"}), "steps[1].op", id="an unknown op"),
        pytest.param(scenario({"op": ["claim"]}), "steps[0].op", id="an op that is no text"),
        pytest.param(scenario(claim(bogus=1)), "steps[0]", id="an unknown key of a claim"),
        pytest.param(scenario({"op": "check", "ttl": 1}), "steps[0]", id="an unknown key of a check"),
        pytest.param(scenario({"op": "allocate", "address": CARD}), "steps[0]", id="an unknown key of an allocate"),
        pytest.param(scenario({"op": "free", "keep": []}), "steps[0]", id="an unknown key of a free"),
        pytest.param(scenario({"op": "sync", "inventory": {}, "x": 1}), "steps[0]", id="an unknown key of a sync"),
        pytest.param(scenario({"op": "restart", "aliases": []}), "steps[0]", id="an unknown key of a restart"),
        pytest.param(scenario({"op": "reload", "inventory": {}}), "steps[0]", id="an unknown key of a reload"),
        pytest.param(scenario({"op": "cleanup", "keep": [], "x": 1}), "steps[0]", id="an unknown key of a cleanup"),
        pytest.param(scenario({"op": "cordon", "address": CARD, "x": 1}), "steps[0]", id="an unknown key of a cordon"),
        pytest.param(
            scenario(claim("vm1", wants(cuont=2))), "steps[0].requests[0]", id="an unknown key of one of its requests"
        ),
        pytest.param(
            scenario(claim(constraints=[{"match": "parent", "request": ["card"]}])),
            "steps[0].constraints[0]",
            id="an unknown key of one of its constraints",
        ),
        pytest.param(
            scenario(claim(requests=None, ports=[{"vnic_type": "direct", "network": "p1"}])),
            "steps[0].ports[0]",
            id="an unknown key of one of its ports",
        ),
        pytest.param([], "$", id="a list"),
        pytest.param(scenario({"op": "claim", "flavor": "card:1"}), "steps[0].consumer", id="a claim for nobody"),
        pytest.param(scenario({"op": "sync"}), "steps[0].inventory", id="a sync without an inventory"),
        pytest.param(scenario({"op": "cleanup"}), "steps[0].keep", id="a cleanup that says not whom to keep"),
        pytest.param(scenario({"op": "cordon"}), "steps[0].address", id="a cordon of nothing"),
        pytest.param(scenario({"op": "clean", "address": None}), "steps[0].address", id="a clean of null"),
    ],
)
def test_a_document_of_another_form_is_an_invalid_scenario(document: object, place: str) -> None:
    error = refused(document)
    assert (error["code"], error["detail"]["place"]) == ("invalid_scenario", place)
    assert place in error["message"]


def test_a_step_of_another_form_stops_the_document_before_anything_is_played() -> None:
    assert answer_to(scenario(claim(), {"op": "explode"}))["steps"] == []


def test_a_misspelt_key_is_answered_with_the_right_one() -> None:
    assert "write 'consumer'" in refused(scenario({"op": "claim", "consumre": "vm1"}))["message"]
    assert "write 'allocate'" in refused(scenario({"op": "alocate"}))["message"]
    assert "write 'count'" in refused(scenario(claim("vm1", wants(cuont=2))))["message"]


# device_spec and alias

ENTRIES = [{"vendor_id": "8086", "product_id": "1572"}, {"product_id": "37c8"}]


@pytest.mark.parametrize(
    "device_spec",
    [
        pytest.param(ENTRIES, id="objects"),
        pytest.param([ENTRIES], id="a list of objects"),
        pytest.param([json.dumps(ENTRIES)], id="a text that holds a list"),
        pytest.param([json.dumps(ENTRIES[0]), ENTRIES[1]], id="a text that holds an object, and an object"),
    ],
)
def test_an_element_of_device_spec_may_be_written_in_three_ways_and_lists_are_counted_through(
    device_spec: list[object],
) -> None:
    (step,) = play(claim(), device_spec=device_spec, functions=(*CARDS, pf()))
    assert [status["entry"] for status in step["statuses"].values()] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    "alias",
    [
        pytest.param([ALIAS], id="an object"),
        pytest.param([[ALIAS]], id="a list of objects"),
        pytest.param([json.dumps(ALIAS)], id="a text that holds an object"),
        pytest.param([json.dumps([ALIAS])], id="a text that holds a list"),
    ],
)
def test_an_element_of_alias_may_be_written_in_three_ways(alias: list[object]) -> None:
    (step,) = play(claim(), alias=alias)
    assert step["devices"] == {"card": [CARD]}


def test_without_a_device_spec_nothing_is_tracked() -> None:
    (step,) = play(claim(), device_spec=[])
    assert (code(step), step["statuses"], step["pools"]) == ("does_not_fit", {}, [])


def test_a_bad_config_is_answered_with_all_that_is_wrong_and_no_step_is_played() -> None:
    answer = answer_to(
        scenario(claim(), device_spec=[{"vendor_id": "x"}, {}, {"address": "*"}], alias=["{'name': 'a'}"])
    )
    assert (answer["ok"], answer["steps"]) == (False, [])
    assert answer["error"] == answer["errors"][0]
    found = [(error["code"], error["detail"]["option"], error["detail"]["entry"]) for error in answer["errors"]]
    assert found == [
        ("invalid_device_spec", "device_spec", 0),
        ("invalid_device_spec", "device_spec", 1),
        ("invalid_alias", "alias", 0),
    ]
    assert answer["errors"][0]["detail"] | {"remedy": None} == {
        "option": "device_spec",
        "entry": 0,
        "key": "vendor_id",
        "value": "x",
        "remedy": None,
        "place": None,
    }


def test_what_contradicts_the_facts_of_the_host_is_a_bad_config_too() -> None:
    error = refused(scenario(functions=[pf()], device_spec=[{"address": "0000:81:00.0", "remote_managed": "true"}]))
    assert (error["code"], error["detail"]["entry"]) == ("remote_managed_pf", 0)


def test_warnings_name_entry_and_key_and_do_no_harm() -> None:
    answer = answer_to(scenario(device_spec=[{"address": "*", "phsyical_network": "p1"}]))
    (warning,) = answer["warnings"]
    assert answer["ok"]
    assert (warning["code"], warning["entry"], warning["key"]) == ("unknown_tag", 0, "phsyical_network")
    assert "physical_network" in warning["message"]


def test_warnings_of_a_config_that_a_step_brings_are_told_too_each_once() -> None:
    misspelt = [{"address": "*", "phsyical_network": "p1"}]
    answer = answer_to(scenario({"op": "reload", "device_spec": misspelt}, {"op": "restart"}))
    assert [warning["code"] for warning in answer["warnings"]] == ["unknown_tag"]


# inventory


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param([], id="no object"),
        pytest.param({"functions": []}, id="no schema"),
        pytest.param({"schema": "laneway.inventory/1"}, id="no functions"),
        pytest.param(inventory({"address": CARD}), id="a function without ids"),
        pytest.param(inventory(card(), card()), id="an address twice"),
        pytest.param(inventory(card(), {**card(), "address": "3B:00.0"}), id="an address twice, in two forms"),
        pytest.param(inventory(card("3b:00")), id="a wrong address"),
        pytest.param(inventory(card(vendor_id="10DE")), id="an id in capitals"),
        pytest.param(inventory(card(numa_node=-1)), id="a node of -1"),
        pytest.param(inventory(card(iommu_group="81")), id="a group that is a text"),
    ],
)
def test_a_bad_inventory_does_not_start_and_does_not_sync(bad: object) -> None:
    assert refused(scenario(inventory=bad))["code"] == "invalid_inventory"
    first, second = play(claim(), {"op": "sync", "inventory": bad})
    assert (code(second), second["statuses"], second["pools"]) == (
        "invalid_inventory",
        first["statuses"],
        first["pools"],
    )


def test_all_that_is_wrong_with_inventory_and_config_is_told_at_once() -> None:
    wrong = [card("zz", vendor_id="8"), card(iommu_group="81")]
    answer = answer_to(scenario(functions=wrong, device_spec=[{"vendor_id": "zz"}], alias=[{"name": "a"}]))
    codes = [error["code"] for error in answer["errors"]]
    assert codes == [*["invalid_inventory"] * 3, "invalid_device_spec", "invalid_alias"]
    assert answer["error"] == answer["errors"][0]
    step = play({"op": "sync", "inventory": inventory(*wrong)})[0]
    assert step["error"]["detail"]["errors"] == answer["errors"][:3]


def test_a_duplicate_address_is_named() -> None:
    assert CARD in refused(scenario(functions=[card(), card()]))["message"]


# options


def test_iommu_groups_are_enforced_unless_the_options_say_otherwise() -> None:
    group = [card("0000:0a:00.0", iommu_group=7), card("0000:0a:00.1", iommu_group=7)]
    for options in (None, {}, {"iommu_groups": "enforce"}, {"iommu_groups": None}):
        (step,) = play(claim(), functions=group, options=options)
        assert statuses(step) == {"0000:0a:00.0": "claimed", "0000:0a:00.1": "unclaimable"}
    (step,) = play(claim(), functions=group, options={"iommu_groups": "ignore"})
    assert statuses(step) == {"0000:0a:00.0": "claimed", "0000:0a:00.1": "available"}


@pytest.mark.parametrize("op", ["restart", "reload"])
@pytest.mark.parametrize(
    ("wanted", "before", "after", "refused_with_placement"),
    [
        pytest.param("pf", {"product_id": "1572"}, {"product_id": "154c"}, True, id="c91: a PF for its VFs"),
        pytest.param("vf", {"product_id": "154c"}, {"product_id": "1572"}, True, id="c91: a VF for its PF"),
        pytest.param("vf", {}, {"resource_class": "other"}, True, id="c92: another class"),
        pytest.param("vf", {}, {"traits": "blue"}, True, id="c92: other traits"),
        pytest.param("vf", {"traits": "a,b"}, {"traits": "B, CUSTOM_A"}, False, id="the same traits"),
        pytest.param("vf", {}, {"resource_class": "CUSTOM_PCI_8086_154C"}, False, id="the same class"),
        pytest.param("vf", {}, {"colour": "blue"}, False, id="another tag"),
        pytest.param("vf", {}, {"product_id": "ffff"}, False, id="an entry that is taken out"),
    ],
)
def test_with_placement_a_device_in_use_keeps_what_placement_knows_of_it(
    op: str, wanted: str, before: Json, after: Json, refused_with_placement: bool
) -> None:
    """Rules C91 and C92."""
    first, last = ({"product_id": "154c", "vendor_id": "8086", **entry} for entry in (before, after))
    claim_it = {"op": "claim", "consumer": "vm1", "flavor": f"{wanted}:1"}
    for on in (False, True):
        options = {"report_in_placement": on}
        steps = (
            {"op": op, "device_spec": [last]},
            {"op": "free", "consumer": "vm1"},
            {"op": op, "device_spec": [last]},
        )
        claimed, changed, _, free = play(claim_it, *steps, functions=NIC, device_spec=[first], options=options)
        assert claimed["ok"]
        assert changed["ok"] is not (on and refused_with_placement)
        assert free["ok"]


def test_report_in_placement_brings_its_own_rules() -> None:
    devname = [{"devname": "ens1"}]
    functions = [pf(netdevs=[{"name": "ens1"}])]
    assert play(claim("vm1", wants("pf")), device_spec=devname, functions=functions)[0]["ok"]
    options = {"report_in_placement": True}
    assert refused(scenario(device_spec=devname, functions=functions, options=options))["code"] == "invalid_device_spec"


def test_pci_in_placement_lets_an_alias_name_a_resource_class() -> None:
    spec = [{"address": CARD, "resource_class": "QAT"}, {"address": "*"}]
    alias = [{"name": "card", "resource_class": "qat"}]
    (step,) = play(claim(), device_spec=spec, alias=alias, options={"pci_in_placement": True})
    assert step["devices"] == {"card": [CARD]}
    assert refused(scenario(device_spec=spec, alias=alias))["code"] == "invalid_alias"


# stored


@pytest.mark.parametrize(
    ("status", "consumer", "now"),
    [
        pytest.param("claimed", "vm9", "claimed", id="claimed"),
        pytest.param("allocated", "vm9", "allocated", id="allocated"),
        pytest.param("available", None, "available", id="available"),
        pytest.param("releasing", None, "releasing", id="releasing"),
        pytest.param("dirty", None, "dirty", id="dirty"),
        pytest.param("available", "vm9", "allocated", id="available, though it has an owner"),
        pytest.param("dirty", "vm9", "allocated", id="dirty, though it has an owner"),
        pytest.param("deleted", "vm9", "allocated", id="deleted, though it has an owner"),
        pytest.param("claimed", None, "available", id="claimed by nobody"),
        pytest.param("allocated", None, "available", id="allocated to nobody"),
        pytest.param("unclaimable", None, "available", id="unclaimable without a reason"),
        pytest.param("unavailable", None, "available", id="unavailable without a reason"),
        pytest.param("removed", None, "available", id="removed, and there again"),
        pytest.param(None, None, "available", id="without a status"),
    ],
)
def test_what_was_stored_is_healed_at_the_first_sync(status: str | None, consumer: str | None, now: str) -> None:
    (step,) = play({"op": "check", "requests": [wants()]}, stored=[{**card(), "status": status, "consumer": consumer}])
    expected = {"status": now, "entry": 0, "blocked_by": []}
    if consumer:
        expected |= {"consumer": consumer, "claim": None}
    assert step["statuses"][CARD] == expected
    assert sum(pool["count"] for pool in step["pools"]) == 2 + (now == "available")


def test_healing_is_told_as_a_warning() -> None:
    answer = answer_to(scenario(stored=[{**card(), "status": "unavailable"}]))
    assert [(warning["code"], CARD in warning["message"]) for warning in answer["warnings"]] == [("healed", True)]


def test_stored_vfs_that_are_unavailable_without_reason_do_not_wedge_their_pf() -> None:
    stored = [{**pf(), "status": "available"}, *({**vf(a), "status": "unavailable"} for a in (VF0, "0000:81:02.1"))]
    taken, freed = play(
        claim("vm1", wants("pf")),
        {"op": "free", "consumer": "vm1"},
        functions=[pf(), vf(VF0), vf("0000:81:02.1")],
        stored=stored,
    )
    assert taken["devices"] == {"pf": ["0000:81:00.0"]}
    assert set(statuses(freed).values()) == {"available"}


def test_an_owned_record_of_a_device_that_is_gone_stays_until_it_is_freed() -> None:
    record = {**card("0000:99:00.0"), "status": "allocated", "consumer": "vm9"}
    before, after = play({"op": "check", "requests": [wants()]}, {"op": "free", "consumer": "vm9"}, stored=[record])
    assert before["statuses"]["0000:99:00.0"] == {
        "status": "allocated",
        "consumer": "vm9",
        "claim": None,
        "entry": None,
        "blocked_by": [],
    }
    assert "0000:99:00.0" not in after["statuses"]


@pytest.mark.parametrize(
    ("record", "place"),
    [
        pytest.param("x", "stored[1]", id="no object"),
        pytest.param({"status": "claimed"}, "stored[1]", id="no function"),
        pytest.param({**card(), "status": "taken"}, "stored[1].status", id="an unknown status"),
        pytest.param({**card(), "status": ["claimed"]}, "stored[1].status", id="a status that is no text"),
        pytest.param({**card(), "consumer": 7}, "stored[1].consumer", id="a consumer that is no text"),
        pytest.param({**card(), "address": "3b"}, "stored[1].address", id="a wrong address"),
    ],
)
def test_a_record_that_is_none_is_an_invalid_scenario(record: object, place: str) -> None:
    error = refused(scenario(stored=[card(), record]))
    assert (error["code"], error["detail"]["place"]) == ("invalid_scenario", place)
    assert place in error["message"]


# faults


def test_a_fault_of_ours_costs_one_document_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "heal", lambda _: 1 // 0)
    answer = answer_to(scenario(id="s1", stored=[card()]))
    assert (answer["id"], answer["error"]["code"]) == ("s1", "internal_error")
    assert "ZeroDivisionError" in answer["error"]["message"]
    assert answer["error"]["detail"]["exception"] == "ZeroDivisionError"


def test_of_a_long_value_that_is_at_fault_an_error_repeats_the_beginning() -> None:
    error = refused(scenario(device_spec=[{"vendor_id": ["x" * 5_000]}]))
    assert len(json.dumps(error)) < 2_000
    assert error["detail"]["value"].endswith("…")


def test_a_value_that_is_nested_deeply_can_be_answered() -> None:
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    assert refused(scenario(device_spec=[{"vendor_id": nested}]))["code"] == "invalid_device_spec"
    assert code(play(claim("vm1", wants(count=nested)))[0]) == "invalid_request"


def test_the_first_inventory_is_synced_before_the_first_step() -> None:
    (step,) = play({"op": "check", "requests": [wants(count=3)]})
    assert list(statuses(step)) == [CARD, OTHER, "0000:5e:00.0"]
