"""The contract ``laneway.scenario/1``, sentence by sentence: the steps and what each answers."""

from typing import Any

import pytest

from contracts.scenarios import (
    ALIAS,
    CARD,
    CARDS,
    GPU,
    NIC,
    OTHER,
    PF,
    SOUND,
    THIRD,
    VF0,
    VF1,
    Json,
    card,
    claim,
    code,
    inventory,
    owners,
    pf,
    play,
    statuses,
    vf,
    wants,
)

FREE = {"op": "free", "consumer": "vm1"}
ALLOCATE = {"op": "allocate", "consumer": "vm1"}
CHECK = {"op": "check", "requests": [wants()]}


# what a step answers


def test_a_claim_answers_with_every_key() -> None:
    functions = [card(numa_node=0), card(OTHER, numa_node=0), vf(VF0, numa_node=1)]
    spec = [{"product_id": "37c8"}, {"product_id": "154c", "physical_network": "p1", "trusted": "true"}]
    (step,) = play(claim("vm1", wants(), claim="c1"), functions=functions, device_spec=spec)
    assert step == {
        "op": "claim",
        "ok": True,
        "error": None,
        "devices": {"card": [CARD]},
        "proven_best": True,
        "statuses": {
            CARD: {"status": "claimed", "consumer": "vm1", "claim": "c1", "entry": 0, "blocked_by": []},
            OTHER: {"status": "available", "entry": 0, "blocked_by": []},
            VF0: {"status": "available", "entry": 1, "blocked_by": []},
        },
        "pools": [
            {
                "count": 1,
                "vendor_id": "8086",
                "product_id": "154c",
                "dev_type": "type-VF",
                "numa_node": 1,
                "parent": PF,
                "tags": {"physical_network": "p1", "trusted": True},
            },
            {
                "count": 1,
                "vendor_id": "8086",
                "product_id": "37c8",
                "dev_type": "type-PCI",
                "numa_node": 0,
                "parent": OTHER,
                "tags": {},
            },
        ],
    }


@pytest.mark.parametrize(
    "step",
    [
        ALLOCATE,
        FREE,
        {"op": "sync", "inventory": inventory(*CARDS)},
        {"op": "restart"},
        {"op": "reload"},
        {"op": "cleanup", "keep": []},
        {"op": "cordon", "address": OTHER},
        {"op": "uncordon", "address": OTHER},
    ],
    ids=lambda step: step["op"],
)
def test_a_step_that_is_no_claim_chooses_nothing(step: dict[str, Any]) -> None:
    answer = play(claim(), step)[1]
    assert (answer["op"], answer["ok"], answer["error"]) == (step["op"], True, None)
    assert (answer["devices"], answer["proven_best"]) == (None, None)


def test_a_failed_step_says_why_and_where_the_host_stands() -> None:
    before, failed = play(claim(), claim("vm2", wants(count=3)))
    assert (failed["ok"], failed["devices"], failed["proven_best"]) == (False, None, None)
    assert failed["error"].keys() == {"code", "message", "detail"}
    assert failed["error"]["code"] == "does_not_fit"
    assert (failed["statuses"], failed["pools"]) == (before["statuses"], before["pools"])


def test_a_step_that_fails_does_not_stop_the_next() -> None:
    assert [step["ok"] for step in play(claim("vm1", wants(count=4)), claim("vm1", wants(count=3)))] == [False, True]


def test_devices_are_sorted_by_address_within_a_request() -> None:
    functions = [card("0001:01:00.0"), card("0000:ff:00.0"), card("0000:02:00.0")]
    (step,) = play(claim("vm1", wants(count=3)), functions=functions)
    assert step["devices"] == {"card": ["0000:02:00.0", "0000:ff:00.0", "0001:01:00.0"]}
    assert list(step["statuses"]) == step["devices"]["card"]


def test_pools_are_sorted_by_their_keys_and_empty_ones_left_out() -> None:
    functions = [
        card("0000:01:00.0", vendor_id="10de", numa_node=1),
        card("0000:02:00.0", vendor_id="10de"),
        card("0000:03:00.0", product_id="0001", numa_node=1),
        card("0000:04:00.0", vendor_id="10de", numa_node=0),
        pf("0000:0a:00.0", numa_node=0),
        *(vf(f"0000:0a:02.{index}", "0000:0a:00.0", numa_node=0) for index in range(3)),
    ]
    (step,) = play(claim("vm1", wants("pf")), functions=functions)
    found = [
        (pool["vendor_id"], pool["product_id"], pool["numa_node"], pool["parent"], pool["count"])
        for pool in step["pools"]
    ]
    assert found == [
        ("10de", "37c8", None, "0000:02:00.0", 1),
        ("10de", "37c8", 0, "0000:04:00.0", 1),
        ("10de", "37c8", 1, "0000:01:00.0", 1),
        ("8086", "0001", 1, "0000:03:00.0", 1),
    ]
    (step,) = play(CHECK | {"requests": [wants("vf")]}, functions=functions[4:])
    assert [(pool["dev_type"], pool["parent"], pool["count"]) for pool in step["pools"]] == [
        ("type-VF", "0000:0a:00.0", 3),
        ("type-PF", "0000:0a:00.0", 1),
    ]


def test_a_pool_has_the_tags_of_its_spec_but_those_that_only_placement_looks_at() -> None:
    spec = [{"address": "*", "resource_class": "QAT", "traits": "A", "managed": "yes", "physical_network": None}]
    (step,) = play(CHECK, device_spec=spec, functions=[card()])
    assert step["pools"][0]["tags"] == {"managed": True, "physical_network": None}


# claim


def test_a_claim_adds_to_what_the_consumer_holds() -> None:
    first, second = play(claim("vm1", wants(), claim="c1"), claim("vm1", wants(), claim="c2"))
    assert owners(first) == {CARD: "vm1"}
    assert owners(second) == {CARD: "vm1", OTHER: "vm1"}
    assert [second["statuses"][address]["claim"] for address in (CARD, OTHER)] == ["c1", "c2"]


def test_a_claim_without_an_id_is_given_one_that_no_step_names() -> None:
    steps = play(claim(), claim("vm2", wants(), claim="claim-1"), claim("vm3"))
    assert [step["ok"] for step in steps] == [True, True, True]
    assert len({status["claim"] for status in steps[-1]["statuses"].values()}) == 3


def test_a_repeated_id_with_the_same_content_is_answered_the_same() -> None:
    first, second, _, fourth = play(claim(claim="c1"), claim(claim="c1"), ALLOCATE, claim(claim="c1"))
    assert first == second
    assert fourth["devices"] == first["devices"]
    assert statuses(fourth)[CARD] == "allocated"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(claim("vm2", wants(), claim="c1"), id="another consumer"),
        pytest.param(claim("vm1", wants(count=2), claim="c1"), id="another count"),
        pytest.param(claim("vm1", wants(), claim="c1", guest_numa_nodes=[0]), id="other nodes"),
        pytest.param({**claim("vm2", wants(), claim="c1"), "op": "check"}, id="a check of another consumer's"),
    ],
)
def test_a_repeated_id_with_other_content_is_a_conflict(other: dict[str, Any]) -> None:
    first, second = play(claim(claim="c1"), other)
    assert (code(second), second["statuses"]) == ("claim_conflict", first["statuses"])


def test_a_retry_is_the_same_though_the_alias_stands_for_something_else_by_now() -> None:
    """Rule C68."""
    steps = play(claim(claim="c1"), {"op": "reload", "alias": [{**ALIAS, "product_id": "beef"}]}, claim(claim="c1"))
    assert steps[2]["devices"] == {"card": [CARD]}


def test_the_id_of_a_freed_claim_may_be_used_again() -> None:
    assert play(claim(claim="c1"), FREE, claim("vm2", wants(count=2), claim="c1"))[2]["ok"]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        pytest.param(claim(requests=[]), "invalid_request", id="no request"),
        pytest.param({"op": "claim", "consumer": "vm1"}, "invalid_request", id="neither requests nor flavor nor ports"),
        pytest.param(claim(requests=[wants()], flavor="card:1"), "invalid_request", id="both requests and flavor"),
        pytest.param(claim(requests={"card": 1}), "invalid_request", id="requests that are no list"),
        pytest.param(claim(requests=["card"]), "invalid_request", id="a request that is no object"),
        pytest.param(claim(requests=[{"alias": "card"}]), "invalid_request", id="a request without a name"),
        pytest.param(claim("vm1", wants(name="")), "invalid_request", id="an empty name"),
        pytest.param(claim("vm1", wants(name=7)), "invalid_request", id="a name that is a number"),
        pytest.param(claim("vm1", wants(), wants()), "invalid_request", id="a name twice"),
        pytest.param(claim("vm1", wants(count=0)), "invalid_request", id="a count of 0"),
        pytest.param(claim("vm1", wants(count=-1)), "invalid_request", id="a count of -1"),
        pytest.param(claim("vm1", wants(count=1.5)), "invalid_request", id="a count of 1.5"),
        pytest.param(claim("vm1", wants(count="1")), "invalid_request", id="a count that is a text"),
        pytest.param(claim("vm1", wants(count=True)), "invalid_request", id="a count that is true"),
        pytest.param(claim("vm1", wants(None)), "invalid_request", id="neither alias nor any_of"),
        pytest.param(claim("vm1", wants(any_of=[{}])), "invalid_request", id="both alias and any_of"),
        pytest.param(claim("vm1", wants(None, any_of=[])), "invalid_request", id="no alternative"),
        pytest.param(claim("vm1", wants(None, any_of={})), "invalid_request", id="any_of that is no list"),
        pytest.param(claim("vm1", wants(None, any_of=[{"x": 1}])), "invalid_request", id="a tag that is a number"),
        pytest.param(claim("vm1", wants(None, any_of=[{"vendor_id": "x"}])), "invalid_request", id="an id of no hex"),
        pytest.param(claim("vm1", wants("crd")), "unknown_alias", id="an unknown alias"),
        pytest.param(claim("vm1", wants(numa_policy="near")), "invalid_request", id="an unknown policy"),
        pytest.param(claim("vm1", wants(attach="usb")), "invalid_request", id="an unknown kind of attachment"),
        pytest.param(claim(guest_numa_nodes=0), "invalid_request", id="nodes that are no list"),
        pytest.param(claim(guest_numa_nodes=[-1]), "invalid_request", id="a node of -1"),
        pytest.param(claim(guest_numa_nodes=["0"]), "invalid_request", id="a node that is a text"),
        pytest.param(claim(constraints=[{}]), "invalid_request", id="a constraint on nothing"),
        pytest.param(
            claim(constraints=[{"match": "parent", "distinct": "parent"}]), "invalid_request", id="both kinds at once"
        ),
        pytest.param(
            claim(constraints=[{"match": "parent", "requests": ["x"]}]), "invalid_request", id="on an unknown request"
        ),
        pytest.param(claim(flavor=""), "invalid_request", id="an empty flavor"),
        pytest.param(claim(flavor="card"), "invalid_request", id="a flavor without a count"),
        pytest.param(claim(flavor="card:0"), "invalid_request", id="a flavor with a count of 0"),
        pytest.param(claim(flavor="card:-1"), "invalid_request", id="a flavor with a count of -1"),
        pytest.param(claim(flavor="card:x"), "invalid_request", id="a flavor with a count of x"),
        pytest.param(claim(flavor="card:1:2"), "invalid_request", id="a flavor with two counts"),
        pytest.param(claim(flavor="card:1,"), "invalid_request", id="a flavor with nothing after a comma"),
        pytest.param(claim(flavor="crd:1"), "unknown_alias", id="a flavor with an unknown alias"),
        pytest.param(claim(flavor=7), "invalid_request", id="a flavor that is a number"),
        pytest.param(claim(flavor=["card:1"]), "invalid_request", id="a flavor that is a list"),
        pytest.param(claim(ports=[{"vnic_type": "accelerator-direct"}]), "not_supported", id="a port of Cyborg's"),
        pytest.param(claim(ports=[]), "invalid_request", id="no ports"),
        pytest.param(claim(ports=[{"vnic_type": "drect"}]), "invalid_request", id="a port of no kind"),
        pytest.param(claim(ports=[], flavor="card:1"), "invalid_request", id="both ports and flavor"),
        pytest.param(claim(""), "invalid_request", id="an empty consumer"),
        pytest.param(claim("x" * 256), "invalid_request", id="a consumer of 256 characters"),
        pytest.param({**claim(), "consumer": 7}, "invalid_request", id="a consumer that is a number"),
        pytest.param(claim(claim=""), "invalid_request", id="an empty id"),
        pytest.param(claim(claim="x" * 256), "invalid_request", id="an id of 256 characters"),
        pytest.param(claim(claim=["c1"]), "invalid_request", id="an id that is a list"),
        pytest.param(claim("vm1", wants(count=4)), "does_not_fit", id="more than there is"),
        pytest.param(claim("vm1", wants(count=10**30)), "does_not_fit", id="far more than there is"),
    ],
)
def test_a_claim_of_what_cannot_be_makes_its_step_fail(step: dict[str, Any], expected: str) -> None:
    failed, check, after = play(step, {**step, "op": "check"}, CHECK)
    assert code(failed) == code(check) == expected
    assert failed["error"]["message"]
    assert failed["statuses"] == after["statuses"]
    assert set(statuses(failed).values()) == {"available"}


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(claim("x" * 255), id="a consumer of 255 characters"),
        pytest.param(claim("ö ☃"), id="a consumer in any script"),
        pytest.param(claim("vm1", wants(count=None)), id="a count of null"),
        pytest.param(claim("vm1", wants(numa_policy=None)), id="a policy of null"),
        pytest.param(claim(guest_numa_nodes=None), id="nodes of null"),
        pytest.param(claim(guest_numa_nodes=[]), id="no nodes"),
        pytest.param(claim(constraints=None), id="constraints of null"),
        pytest.param(claim(constraints=[]), id="no constraints"),
        pytest.param(claim(requests=[wants(any_of=None)], flavor=None, ports=None), id="what is left out as null"),
        pytest.param(claim(claim=None), id="an id of null"),
        pytest.param(claim("vm1", wants("card", name="any name: at, all")), id="a request of any name"),
    ],
)
def test_what_a_claim_may_say_or_leave_out(step: dict[str, Any]) -> None:
    assert code(play(step)[0]) is None


def test_a_count_is_one_unless_it_is_given() -> None:
    assert play(claim())[0]["devices"] == {"card": [CARD]}
    assert play(claim("vm1", wants(count=2)))[0]["devices"] == {"card": [CARD, OTHER]}


def test_alternatives_are_any_of_which_each_is_all_of() -> None:
    spec = [{"address": CARD, "a": "1"}, {"address": OTHER, "a": "1", "b": "x,y"}, {"address": "*", "b": None}]

    def chosen(*any_of: dict[str, Any], count: int = 1) -> list[str] | None:
        (step,) = play(claim("vm1", wants(None, any_of=list(any_of), count=count)), device_spec=spec)
        return step["devices"] and [address for chosen in step["devices"].values() for address in chosen]

    assert chosen({"a": "1", "b": "x,y"}) == [OTHER]
    assert chosen({"b": ["y", "x"]}) == [OTHER]
    assert chosen({"b": ["y", "z"]}) is None
    assert chosen({"a": None}) == [THIRD]
    assert chosen({"a": "2"}) is None
    assert chosen({"a": "2"}, {"b": None, "a": "1"}) == [CARD]
    assert chosen({"vendor_id": "8086", "product_id": "37c8", "dev_type": "type-PCI"}, count=3) == [CARD, OTHER, THIRD]
    assert chosen({"parent_ifname": "ens1"}) is None
    assert chosen({"managed": True}, count=3) == [CARD, OTHER, THIRD]
    assert chosen({"managed": False}) is None


def test_the_policy_is_the_requests_else_the_aliass_else_legacy() -> None:
    functions = [card(numa_node=1)]
    strict = [{**ALIAS, "numa_policy": "required"}]
    preferred = [{**ALIAS, "numa_policy": "preferred"}]

    def fits(alias: list[dict[str, Any]], functions: list[dict[str, Any]] = functions, **request: Any) -> bool:
        (step,) = play(claim("vm1", wants(**request), guest_numa_nodes=[0]), functions=functions, alias=alias)
        return bool(step["ok"])

    assert not fits([ALIAS])
    assert fits([ALIAS], functions=[card()]), "legacy takes a device whose node is not known"
    assert not fits(strict, functions=[card()])
    assert fits(preferred)
    assert fits(strict, numa_policy="preferred")
    assert not fits(preferred, numa_policy="required")


def test_a_flavor_stands_for_requests_named_by_their_aliases() -> None:
    (step,) = play(claim(flavor="card:1, card:1"))
    assert step["devices"] == {"card": [CARD], "card-2": [OTHER]}


def test_constraints_tie_the_requests_that_they_name() -> None:
    functions = [
        card(CARD, pcie_roots=["0000:3a"]),
        card(OTHER, pcie_roots=["0000:3c"]),
        card(THIRD, pcie_roots=["0000:3c"]),
    ]
    two = [wants("card", name="a"), wants("card", name="b")]

    def chosen(**constraint: Any) -> dict[str, Any]:
        (step,) = play(claim("vm1", *two, constraints=[constraint]), functions=functions)
        chosen: dict[str, Any] = step["devices"] or step["error"]
        return chosen

    assert chosen(match="pcie_root", requests=["a", "b"]) == {"a": [OTHER], "b": [THIRD]}
    assert chosen(match="pcie_root") == {"a": [OTHER], "b": [THIRD]}
    assert chosen(distinct="pcie_root") == {"a": [CARD], "b": [OTHER]}
    assert chosen(match="pcie_root", requests=["a"]) == {"a": [CARD], "b": [OTHER]}
    assert chosen(match="numa_node")["code"] == "does_not_fit", "unknown satisfies no constraint"


@pytest.mark.parametrize(
    ("policies", "own", "fits"),
    [
        pytest.param({}, {}, True, id="that of the alias is preferred"),
        pytest.param({"flavor_numa_policy": "required"}, {}, False, id="the flavor's beats the alias's"),
        pytest.param({"image_numa_policy": "required"}, {}, False, id="the image's beats the alias's"),
        pytest.param({"flavor_numa_policy": "required"}, {"numa_policy": "preferred"}, True, id="its own beats both"),
        pytest.param({"flavor_numa_policy": None, "image_numa_policy": None}, {}, True, id="null is none"),
    ],
)
def test_the_policy_of_flavor_or_image_beats_the_alias(policies: Json, own: Json, fits: bool) -> None:
    """Rule C60."""
    alias = [{**ALIAS, "numa_policy": "preferred"}]
    step = claim("vm1", wants(**own), guest_numa_nodes=[1], **policies)
    (answer,) = play(step, functions=[card(numa_node=0)], alias=alias)
    assert answer["ok"] is fits
    if not own:
        (by_flavor,) = play(
            claim("vm1", flavor="card:1", guest_numa_nodes=[1], **policies), functions=[card(numa_node=0)], alias=alias
        )
        assert by_flavor["ok"] is fits


@pytest.mark.parametrize(
    ("policy", "fits"), [pytest.param(None, True, id="preferred"), pytest.param("required", False, id="its own")]
)
def test_the_policy_of_a_port_beats_that_of_the_flavor(policy: str | None, fits: bool) -> None:
    """Rule C60."""
    port = {"vnic_type": "direct", "physical_network": "p1", "numa_policy": policy}
    step = {
        "op": "claim",
        "consumer": "vm1",
        "ports": [port],
        "flavor_numa_policy": "preferred",
        "guest_numa_nodes": [1],
    }
    (answer,) = play(
        step, functions=[pf(), vf(VF0, numa_node=0)], device_spec=[{"address": "*", "physical_network": "p1"}]
    )
    assert answer["ok"] is fits


@pytest.mark.parametrize(
    "policies",
    [
        pytest.param({"flavor_numa_policy": "required", "image_numa_policy": "socket"}, id="that differ"),
        pytest.param({"flavor_numa_policy": "nearest"}, id="that do not exist"),
        pytest.param({"image_numa_policy": 1}, id="that are no text"),
    ],
)
def test_policies_of_the_guest_are_refused(policies: Json) -> None:
    (answer,) = play(claim("vm1", wants(), **policies))
    assert code(answer) == "invalid_request"


# check


def test_a_check_answers_what_the_claim_would_and_changes_nothing() -> None:
    check, again, claimed = play({**claim(), "op": "check"}, CHECK, claim())
    assert check["devices"] == again["devices"] == claimed["devices"]
    assert set(statuses(again).values()) == {"available"}


def test_a_check_counts_what_the_consumer_holds_already() -> None:
    functions = [card(GPU, iommu_group=1), card(SOUND, iommu_group=1)]
    _, own, others = play(claim(), {**claim(), "op": "check"}, {**claim("vm2"), "op": "check"}, functions=functions)
    assert own["devices"] == {"card": [SOUND]}
    assert code(others) == "does_not_fit"


# allocate


def test_allocate_takes_all_that_the_consumer_has_claimed() -> None:
    steps = play(claim(claim="c1"), claim(claim="c2"), claim("vm2"), ALLOCATE)
    assert statuses(steps[-1]) == {CARD: "allocated", OTHER: "allocated", THIRD: "claimed"}


def test_allocate_takes_all_of_one_claim() -> None:
    steps = play(claim(claim="c1"), claim(claim="c2"), {"op": "allocate", "claim": "c2"})
    assert statuses(steps[-1]) == {CARD: "claimed", OTHER: "allocated", THIRD: "available"}


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        pytest.param({"op": "allocate", "consumer": "vm2"}, "no_claim", id="a consumer that has claimed nothing"),
        pytest.param({"op": "allocate", "claim": "c2"}, "no_claim", id="a claim that there is not"),
        pytest.param({"op": "allocate"}, "no_claim", id="neither of both"),
        pytest.param({"op": "allocate", "consumer": "vm2", "claim": "c1"}, "not_owner", id="a claim of another's"),
        pytest.param({"op": "allocate", "consumer": ["vm1"]}, "invalid_request", id="a consumer that is no text"),
    ],
)
def test_allocate_of_what_is_not_claimed_fails(step: dict[str, Any], expected: str) -> None:
    before, failed = play(claim(claim="c1"), step)
    assert (code(failed), failed["statuses"]) == (expected, before["statuses"])


def test_what_is_allocated_already_cannot_be_allocated_again() -> None:
    assert code(play(claim(), ALLOCATE, ALLOCATE)[2]) == "no_claim"


# free

HELD = (claim("vm1", wants(), claim="c1"), claim("vm1", wants(), claim="c2"), claim("vm2"))


@pytest.mark.parametrize(
    ("step", "left"),
    [
        pytest.param({"consumer": "vm1"}, {THIRD: "vm2"}, id="by consumer"),
        pytest.param({"claim": "c1"}, {OTHER: "vm1", THIRD: "vm2"}, id="by claim"),
        pytest.param({"consumer": "vm1", "claim": "c2"}, {CARD: "vm1", THIRD: "vm2"}, id="by consumer and claim"),
        pytest.param({"addresses": [OTHER, THIRD]}, {CARD: "vm1"}, id="by addresses"),
        pytest.param({"addresses": ["3d:00.0"]}, {CARD: "vm1", THIRD: "vm2"}, id="by an address in its short form"),
        pytest.param({"consumer": "vm2", "addresses": [THIRD]}, {CARD: "vm1", OTHER: "vm1"}, id="by both"),
        pytest.param({"consumer": "vm3"}, {CARD: "vm1", OTHER: "vm1", THIRD: "vm2"}, id="of one who has nothing"),
        pytest.param({"claim": "c9"}, {CARD: "vm1", OTHER: "vm1", THIRD: "vm2"}, id="of a claim that there is not"),
        pytest.param({"addresses": []}, {CARD: "vm1", OTHER: "vm1", THIRD: "vm2"}, id="of no address"),
        pytest.param({"addresses": ["0000:77:00.0"]}, {CARD: "vm1", OTHER: "vm1", THIRD: "vm2"}, id="of no device"),
        pytest.param({}, {CARD: "vm1", OTHER: "vm1", THIRD: "vm2"}, id="of nothing at all"),
    ],
)
def test_free_gives_back_what_it_names_and_with_none_it_is_ok(step: dict[str, Any], left: dict[str, str]) -> None:
    answer = play(*HELD, {"op": "free", **step})[-1]
    assert answer["ok"]
    assert owners(answer) == left


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        pytest.param({"consumer": "vm2", "addresses": [CARD, THIRD]}, "not_owner", id="a device of another's"),
        pytest.param({"consumer": "vm2", "claim": "c1"}, "not_owner", id="a claim of another's"),
        pytest.param({"addresses": ["3d"]}, "invalid_address", id="a wrong address"),
        pytest.param({"addresses": CARD}, "invalid_request", id="addresses that are no list"),
        pytest.param({"addresses": [7]}, "invalid_request", id="an address that is a number"),
    ],
)
def test_free_of_what_is_not_ones_own_fails_as_a_whole(step: dict[str, Any], expected: str) -> None:
    answer = play(*HELD, {"op": "free", **step})[-1]
    assert (code(answer), owners(answer)) == (expected, {CARD: "vm1", OTHER: "vm1", THIRD: "vm2"})


def test_freeing_a_device_gives_its_relatives_back() -> None:
    taken, freed = play(claim("vm1", wants("vf")), FREE, functions=NIC)
    assert statuses(taken) == {PF: "unclaimable", VF0: "claimed", VF1: "available"}
    assert set(statuses(freed).values()) == {"available"}


# sync


def test_sync_follows_the_host() -> None:
    newer = inventory(card(OTHER, numa_node=1), card("0000:77:00.0"), boot_id="b2")
    synced = play(CHECK, {"op": "sync", "inventory": newer})[1]
    assert list(statuses(synced)) == [OTHER, "0000:77:00.0"]
    assert synced["pools"][0]["numa_node"] is None
    assert synced["pools"][1]["numa_node"] == 1


def test_what_is_owned_is_never_removed_and_goes_when_it_is_freed() -> None:
    _, synced, freed = play(claim(), {"op": "sync", "inventory": inventory(card(OTHER))}, FREE)
    assert statuses(synced) == {CARD: "claimed", OTHER: "available"}
    assert statuses(freed) == {OTHER: "available"}


# restart and reload


@pytest.mark.parametrize("op", ["restart", "reload"])
def test_a_new_config_is_in_force_at_once_and_an_absent_key_keeps_its_value(op: str) -> None:
    spec, alias = [{"address": OTHER}], [{**ALIAS, "name": "new"}]
    first, second, third, fourth = play(
        {"op": op, "device_spec": spec},
        {"op": op, "alias": alias},
        {"op": op, "device_spec": None, "alias": None},
        claim(flavor="new:1"),
    )
    assert list(statuses(first)) == list(statuses(second)) == list(statuses(third)) == [OTHER]
    assert fourth["devices"] == {"new": [OTHER]}


@pytest.mark.parametrize("op", ["restart", "reload"])
def test_an_empty_config_is_one_too(op: str) -> None:
    answer = play({"op": op, "device_spec": [], "alias": []}, claim())
    assert (answer[0]["ok"], answer[0]["statuses"]) == (True, {})
    assert code(answer[1]) == "unknown_alias"


@pytest.mark.parametrize("op", ["restart", "reload"])
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param({"device_spec": [{"address": OTHER}, {}]}, "invalid_device_spec", id="a bad device_spec"),
        pytest.param({"device_spec": [{"address": OTHER}], "alias": [{}]}, "invalid_alias", id="a bad alias"),
        pytest.param({"device_spec": {"address": "*"}}, "invalid_config", id="a device_spec that is no list"),
        pytest.param({"alias": "card"}, "invalid_config", id="an alias that is no list"),
    ],
)
def test_a_bad_config_changes_nothing(op: str, config: dict[str, Any], expected: str) -> None:
    before, failed, after = play(claim(), {"op": op, **config}, claim("vm2"))
    assert code(failed) == expected
    assert (failed["statuses"], failed["pools"]) == (before["statuses"], before["pools"])
    assert after["devices"] == {"card": [OTHER]}, "the last good config is in force"


def test_a_step_tells_all_that_is_wrong_with_a_config() -> None:
    (failed,) = play({"op": "reload", "device_spec": [{}, {"vendor_id": 7}], "alias": [{}]})
    errors = failed["error"]["detail"]["errors"]
    assert {error["code"] for error in errors} == {"invalid_device_spec", "invalid_alias"}
    assert len(errors) >= 3
    assert failed["error"]["message"] == errors[0]["message"]


@pytest.mark.parametrize("op", ["restart", "reload"])
def test_what_is_held_survives_whatever_the_config_admits(op: str) -> None:
    steps = play(claim(claim="c1"), ALLOCATE, {"op": op, "device_spec": []}, {"op": op}, FREE)
    kept: dict[str, Any] = {"status": "allocated", "consumer": "vm1", "claim": "c1", "entry": None, "blocked_by": []}
    assert steps[2]["statuses"] == steps[3]["statuses"] == {CARD: kept}
    assert steps[4]["statuses"] == {}


@pytest.mark.parametrize("op", ["restart", "reload"])
def test_it_runs_over_the_last_inventory(op: str) -> None:
    synced, after = play({"op": "sync", "inventory": inventory(card(OTHER))}, {"op": op})
    assert after["statuses"] == synced["statuses"]


def test_a_claim_is_repeated_the_same_after_a_restart() -> None:
    first, _, again = play(claim(claim="c1"), {"op": "restart"}, claim(claim="c1"))
    assert first == again


# cleanup, cordon, release, clean


def test_cleanup_frees_what_others_than_those_to_keep_hold() -> None:
    assert owners(play(*HELD, {"op": "cleanup", "keep": ["vm2", "vm9"]})[-1]) == {THIRD: "vm2"}
    assert owners(play(*HELD, {"op": "cleanup", "keep": []})[-1]) == {}


@pytest.mark.parametrize("keep", ["vm2", [7], {"vm2": True}], ids=["a text", "a number in it", "an object"])
def test_cleanup_frees_nobody_if_it_is_not_clear_whom_to_keep(keep: object) -> None:
    answer = play(*HELD, {"op": "cleanup", "keep": keep})[-1]
    assert (code(answer), len(owners(answer))) == ("invalid_request", 3)


def test_a_cordoned_device_is_not_offered_until_it_is_uncordoned() -> None:
    cordon, claimed, uncordon, more = play(
        {"op": "cordon", "address": "3b:00.0"}, claim(), {"op": "uncordon", "address": CARD}, claim("vm2")
    )
    assert statuses(cordon)[CARD] == "available"
    assert [reason["code"] for reason in cordon["statuses"][CARD]["blocked_by"]] == ["cordoned"]
    assert sum(pool["count"] for pool in cordon["pools"]) == 2
    assert claimed["devices"] == {"card": [OTHER]}
    assert uncordon["statuses"][CARD]["blocked_by"] == []
    assert more["devices"] == {"card": [CARD]}


def test_who_has_a_device_keeps_it_though_it_is_cordoned() -> None:
    answer = play(claim(), {"op": "cordon", "address": CARD}, ALLOCATE, FREE)
    assert statuses(answer[2])[CARD] == "allocated"
    assert statuses(answer[3])[CARD] == "available"
    assert sum(pool["count"] for pool in answer[3]["pools"]) == 2


@pytest.mark.parametrize("op", ["cordon", "uncordon", "release", "clean"])
@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param("0000:77:00.0", "unknown_device", id="no device"),
        pytest.param("3b", "invalid_address", id="a wrong address"),
        pytest.param("", "invalid_address", id="an empty address"),
        pytest.param(7, "invalid_request", id="an address that is a number"),
    ],
)
def test_what_is_no_device_can_be_neither(op: str, address: object, expected: str) -> None:
    assert code(play({"op": op, "address": address})[0]) == expected


@pytest.mark.parametrize("op", ["release", "clean"])
def test_a_device_that_is_neither_released_nor_dirty_is_refused(op: str) -> None:
    assert code(play({"op": op, "address": CARD})[0]) == "invalid_status"


def test_a_released_device_is_available_and_one_to_clean_is_dirty_first() -> None:
    spec = [{"address": CARD}, {"address": OTHER, "one_time_use": True}, {"address": THIRD, "cleaning": "reset"}]
    stored = [{**one, "status": "releasing"} for one in CARDS]
    steps = play(
        *({"op": "release", "address": address} for address in (CARD, OTHER, THIRD)),
        *({"op": "clean", "address": address} for address in (OTHER, THIRD)),
        device_spec=spec,
        stored=stored,
    )
    assert statuses(steps[2]) == {CARD: "available", OTHER: "dirty", THIRD: "dirty"}
    assert set(statuses(steps[4]).values()) == {"available"}


def test_a_device_of_one_use_is_dirty_once_a_guest_had_it() -> None:
    spec = [{"address": CARD, "one_time_use": True}]
    steps = play(
        claim(), ALLOCATE, FREE, claim("vm2"), {"op": "clean", "address": CARD}, claim("vm2"), device_spec=spec
    )
    assert statuses(steps[2]) == {CARD: "dirty"}
    assert code(steps[3]) == "does_not_fit"
    assert steps[5]["ok"]


# moves


MOVE = {"op": "move", "consumer": "vm1"}


@pytest.mark.parametrize(
    "step",
    [
        {"op": "move"},
        MOVE,
        {**MOVE, "verb": "begin"},
        {**MOVE, "verb": 1},
        {**MOVE, "verb": "start", "kind": "warm"},
        {**MOVE, "verb": "start", "requests": []},
    ],
    ids=["of nobody", "without a verb", "another verb", "a number", "another kind", "no requests"],
)
def test_a_move_that_is_written_wrong_says_so_and_the_next_step_is_played(step: dict[str, Any]) -> None:
    failed, after = play(step, claim())
    assert code(failed) == "invalid_request"
    assert after["ok"]


def test_a_move_tells_which_device_takes_the_place_of_which() -> None:
    steps = play(claim(), ALLOCATE, {**MOVE, "verb": "start"}, {**MOVE, "verb": "confirm"})
    assert [step.get("moved") for step in steps] == [None, None, {CARD: OTHER}, {CARD: OTHER}]
    assert statuses(steps[3])[CARD] == "available"
    assert statuses(steps[3])[OTHER] == "allocated"


def test_what_keeps_a_running_guest_from_moving_is_said() -> None:
    """Rule C82: the other device cannot take over."""
    specs = [{"address": CARD, "live_migratable": True}, {"address": OTHER}]
    cordoned = ({"op": "cordon", "address": OTHER}, claim(), {"op": "uncordon", "address": OTHER})
    *_, refused = play(*cordoned, {**MOVE, "verb": "start", "kind": "live"}, functions=CARDS[:2], device_spec=specs)
    assert code(refused) == "does_not_fit"
    (explained,) = refused["error"]["detail"]["explanation"]["requests"]
    assert {rule["code"]: rule["addresses"] for rule in explained["rules"]} == {"tags": [OTHER], "held": [CARD]}
    assert "never go to one consumer" not in refused["error"]["message"]


def test_who_holds_devices_was_not_offloaded() -> None:
    unshelve = {**MOVE, "verb": "start", "kind": "unshelve", "claim": "u1", "flavor": "card:1"}
    free, confirm = {"op": "free", "consumer": "vm1"}, {**MOVE, "verb": "confirm"}
    _, refused, _, *rest = play(claim(), unshelve, free, unshelve, unshelve, confirm, unshelve)
    assert (code(refused), refused["error"]["detail"]["addresses"]) == ("invalid_status", [CARD])
    assert [step["ok"] for step in rest] == [True] * 4
    assert statuses(rest[-1])[CARD] == "allocated"


# ports and profiles


def test_a_port_has_one_device() -> None:
    port = {"vnic_type": "direct", **ON_P1, "id": "7c8b2a4e-5f0d-4c1b-9d56-0e6f3a1b2c3d"}
    twice, once, again = on_p1(
        {"op": "claim", "consumer": "vm1", "ports": [port, port]},
        {"op": "claim", "consumer": "vm1", "ports": [port]},
        {"op": "claim", "consumer": "vm2", "ports": [port]},
    )
    assert (code(twice), once["ok"], code(again)) == ("port_in_use", True, "port_in_use")


ON_P1 = {"physical_network": "p1"}


def on_p1(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    nic = (pf(netdevs=[{"name": "ens1", "mac": "3c:fd:fe:00:00:22"}]), vf(VF0, vf_index=0))
    return play(*steps, functions=nic, device_spec=[{"address": "*", **ON_P1}])


def test_ports_are_claimed_by_what_they_need_and_told_what_they_got() -> None:
    ports = [{"vnic_type": "normal"}, {"vnic_type": "direct", "physical_network": "P1", "id": "a"}]
    checked, claimed, told = on_p1(
        {"op": "check", "ports": ports},
        {"op": "claim", "consumer": "vm1", "ports": ports},
        {"op": "profile", "consumer": "vm1"},
    )
    assert claimed["devices"] == {"port-1": [VF0]}
    profile = {
        "pci_vendor_info": "8086:154c",
        "pci_slot": VF0,
        "physical_network": "p1",
        "pf_mac_address": "3c:fd:fe:00:00:22",
        "vf_num": 0,
    }
    assert checked["profiles"] == claimed["profiles"] == told["profiles"] == {VF0: profile}


def test_a_direct_physical_port_gets_a_pf_with_its_mac() -> None:
    claimed, told = on_p1(
        {"op": "claim", "consumer": "vm1", "ports": [{"vnic_type": "direct-physical", **ON_P1}]},
        {"op": "profile", "consumer": "vm1"},
    )
    assert claimed["devices"] == {"port-0": [PF]}
    assert told["profiles"][PF]["device_mac_address"] == "3c:fd:fe:00:00:22"


def test_who_holds_nothing_has_no_profiles() -> None:
    (told,) = on_p1({"op": "profile", "consumer": "vm1"})
    assert (told["ok"], told["profiles"]) == (True, {})
