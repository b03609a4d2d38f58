import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.device import Attach
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.alias import Alias, Aliases
from laneway.domain.requests.request import (
    Alternative,
    Constraint,
    ConstraintKind,
    DeviceRequest,
    NumaPolicy,
    RequestedValue,
)
from laneway.domain.requests.request_parser import (
    parse_constraints,
    parse_guest_numa_nodes,
    parse_request_json,
    parse_requests,
)
from laneway.domain.requests.request_shape import MalformedRequestError

GPU = Alias(name="gpu", alternatives=(Alternative(vendor_id="10de"),), numa_policy=NumaPolicy.REQUIRED)
ALIASES = Aliases({"gpu": GPU})
ANY = [{"vendor_id": "10de"}]


def one(**content: object) -> DeviceRequest:
    [request] = parse_requests([{"name": "r", **content}], ALIASES)
    return request


def test_a_request_by_alias_takes_over_its_alternatives_and_policy() -> None:
    """Rule C67."""
    assert one(alias=" gpu ", count=2) == DeviceRequest(
        name="r", alternatives=GPU.alternatives, count=2, numa_policy=NumaPolicy.REQUIRED, alias="gpu"
    )


def test_a_request_by_alternatives_has_defaults() -> None:
    assert one(any_of=ANY) == DeviceRequest(name="r", alternatives=(Alternative(vendor_id="10de"),))


@pytest.mark.parametrize("absent", ["count", "numa_policy", "attach", "alias"])
def test_null_is_the_same_as_absent(absent: str) -> None:
    assert one(any_of=ANY, **{absent: None}) == one(any_of=ANY)


def test_the_policy_of_the_request_beats_the_alias() -> None:
    """Rule C60."""
    assert one(alias="gpu", numa_policy="preferred").numa_policy is NumaPolicy.PREFERRED


def test_requests_keep_their_order() -> None:
    requests = parse_requests([{"name": "b", "alias": "gpu"}, {"name": "a", "any_of": ANY}], ALIASES)
    assert [request.name for request in requests] == ["b", "a"]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("vendor_id", "10DE", Alternative(vendor_id="10de")),
        ("vendor_id", " 0xde ", Alternative(vendor_id="00de")),
        ("vendor_id", ["10de"], Alternative(vendor_id="10de")),
        ("vendor_id", "*", Alternative()),
        ("product_id", "1", Alternative(product_id="0001")),
        ("dev_type", "type-VF", Alternative(dev_type=DevType.VF)),
        ("dev_type", "vdpa", Alternative(dev_type=DevType.VDPA)),
        ("parent_ifname", "ens5", Alternative(parent_ifname="ens5")),
    ],
)
def test_facts_that_an_alternative_asks_for(key: str, value: object, expected: Alternative) -> None:
    assert one(any_of=[{key: value}]).alternatives == (expected,)


@pytest.mark.parametrize(
    ("tag", "value", "wanted"),
    [
        pytest.param("physical_network", "p1", "p1", id="text"),
        pytest.param("physical_network", None, None, id="null"),
        pytest.param("rack", ["a", True], ("a", "true"), id="list"),
        pytest.param("rack", [], (), id="empty list"),
        pytest.param("rack", True, True, id="boolean for a free tag"),
        pytest.param("rack", "yes", "yes", id="text of a free tag stays text"),
        pytest.param("trusted", "Yes", True, id="boolean tag by text"),
        pytest.param("remote_managed", "False", False, id="boolean tag as nova writes it"),
        pytest.param("trusted", True, True, id="boolean tag by boolean"),
        pytest.param("trusted", ["yes"], ("yes",), id="boolean tag by list"),
    ],
)
def test_tags_that_an_alternative_asks_for(tag: str, value: object, wanted: RequestedValue) -> None:
    assert one(any_of=[{tag: value}]).alternatives == (Alternative(tags={tag: wanted}),)


@pytest.mark.parametrize(
    ("content", "attach"),
    [
        pytest.param({"alias": "gpu"}, Attach.VFIO, id="vfio by default"),
        pytest.param({"any_of": [{"dev_type": "vdpa"}]}, Attach.VDPA, id="vdpa where only such are asked for"),
        pytest.param(
            {"any_of": [{"dev_type": "vdpa"}, {"dev_type": "type-VF"}]}, Attach.VFIO, id="vfio where both are"
        ),
        pytest.param({"any_of": [{"dev_type": "vdpa"}], "attach": "vdpa"}, Attach.VDPA, id="vdpa as said"),
        pytest.param({"any_of": [{"dev_type": "type-VF"}], "attach": "macvtap"}, Attach.MACVTAP, id="macvtap as said"),
    ],
)
def test_the_kind_of_attachment(content: dict[str, object], attach: Attach) -> None:
    assert one(**content).attach is attach


def request_with(**content: object) -> list[object]:
    return [{"name": "r", "any_of": ANY, **content}]


def alternative_with(**content: object) -> list[object]:
    return [{"name": "r", "any_of": [content]}]


@pytest.mark.parametrize(
    ("value", "place", "fault"),
    [
        pytest.param(None, "requests", "is not a list of requests", id="no list"),
        pytest.param({"name": "r"}, "requests", "is not a list of requests", id="an object"),
        pytest.param(["gpu"], "requests[0]", "is not an object", id="a text in the list"),
        pytest.param([{"any_of": ANY}], "requests[0].name", "is no name", id="no name"),
        pytest.param(request_with(name="  "), "requests[0].name", "is no name", id="blank name"),
        pytest.param(request_with(name=1), "requests[0].name", "is not a text", id="number as name"),
        pytest.param(request_with(cuont=1), "requests[0]", "write 'count'", id="misspelt key"),
        pytest.param(request_with(xyz=1), "requests[0]", "it may have name", id="unknown key"),
        pytest.param(request_with(count=True), "requests[0].count", "true is no whole number", id="true as count"),
        pytest.param(request_with(count="2"), "requests[0].count", "is no whole number above 0", id="text as count"),
        pytest.param(request_with(count=1.5), "requests[0].count", "1.5 is no whole number", id="fraction as count"),
        pytest.param(request_with(numa_policy=1), "requests[0].numa_policy", "is not a text", id="number as policy"),
        pytest.param([{"name": "r", "any_of": "x"}], "requests[0].any_of", "list of alternatives", id="text as any_of"),
        pytest.param([{"name": "r", "any_of": ["x"]}], "requests[0].any_of[0]", "not an object", id="text in any_of"),
        pytest.param([{"name": "r", "alias": ["gpu"]}], "requests[0].alias", "is not a text", id="list as alias"),
        pytest.param(alternative_with(vendor_id=4318), "requests[0].any_of[0].vendor_id", "not a text", id="number id"),
        pytest.param(
            alternative_with(vendor_id=None), "requests[0].any_of[0].vendor_id", "leave the key", id="null id"
        ),
        pytest.param(alternative_with(dev_type=[]), "requests[0].any_of[0].dev_type", "not a text", id="empty list"),
        pytest.param(alternative_with(address="3b:00.0"), "requests[0].any_of[0].address", "by a tag", id="an address"),
        pytest.param(
            alternative_with(device_type="x"), "requests[0].any_of[0].device_type", "'dev_type'", id="alias key"
        ),
        pytest.param(alternative_with(rack=5), "requests[0].any_of[0].rack", 'write "5"', id="number as tag"),
        pytest.param(alternative_with(rack={}), "requests[0].any_of[0].rack", "no value of a tag", id="object as tag"),
        pytest.param(alternative_with(rack=[5]), "requests[0].any_of[0].rack[0]", "no member", id="number in a list"),
    ],
)
def test_wrong_shapes(value: object, place: str, fault: str) -> None:
    with pytest.raises(MalformedRequestError) as caught:
        parse_requests(value, ALIASES)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert caught.value.detail["place"] == place
    assert caught.value.message.startswith(f"{place}: ")
    assert fault in caught.value.message


@pytest.mark.parametrize(
    ("value", "place", "fault"),
    [
        pytest.param([], "requests", "asks for nothing", id="no requests"),
        pytest.param(request_with() * 2, "requests[1].name", "is the name of an earlier", id="a name twice"),
        pytest.param(request_with(count=0), "requests[0].count", "0 is no whole number above 0", id="count of 0"),
        pytest.param(request_with(count=-1), "requests[0].count", "-1 is no whole number above 0", id="negative count"),
        pytest.param([{"name": "r"}], "requests[0]", "has neither alias nor any_of", id="neither"),
        pytest.param(request_with(alias="gpu"), "requests[0]", "has both alias and any_of", id="both"),
        pytest.param([{"name": "r", "any_of": []}], "requests[0].any_of", "names no alternative", id="no alternative"),
        pytest.param(request_with(numa_policy="strict"), "requests[0].numa_policy", "is not one of", id="no policy"),
        pytest.param(request_with(numa_policy="soket"), "requests[0].numa_policy", "'socket'", id="misspelt policy"),
        pytest.param(request_with(attach="usb"), "requests[0].attach", "vfio, vdpa, macvtap", id="no attachment"),
        pytest.param(request_with(attach="vdpa"), "requests[0].attach", '"dev_type": "vdpa"', id="vdpa of no vDPA"),
        pytest.param(alternative_with(vendor_id="10dg"), "requests[0].any_of[0].vendor_id", "is no id", id="no hex"),
        pytest.param(alternative_with(vendor_id="-1"), "requests[0].any_of[0].vendor_id", "is no id", id="negative id"),
        pytest.param(alternative_with(vendor_id="10000"), "requests[0].any_of[0].vendor_id", "is no id", id="large id"),
        pytest.param(
            alternative_with(product_id=["1", "2"]), "requests[0].any_of[0].product_id", "alternatives", id="two ids"
        ),
        pytest.param(alternative_with(dev_type="VF"), "requests[0].any_of[0].dev_type", "type-PCI", id="no type"),
        pytest.param(alternative_with(trusted="x"), "requests[0].any_of[0].trusted", "neither true", id="no boolean"),
        pytest.param(
            alternative_with(trusted=["x"]),
            "requests[0].any_of[0].trusted[0]",
            "neither true",
            id="no boolean in a list",
        ),
    ],
)
def test_what_makes_no_sense(value: object, place: str, fault: str) -> None:
    with pytest.raises(LanewayError) as caught:
        parse_requests(value, ALIASES)
    assert not isinstance(caught.value, MalformedRequestError)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert caught.value.detail["place"] == place
    assert fault in caught.value.message


def test_an_unknown_alias_has_a_code_of_its_own() -> None:
    with pytest.raises(LanewayError, match=r"requests\[0\].alias: there is no alias 'gpus'; did you mean") as caught:
        one(alias="gpus")
    assert caught.value.code is ErrorCode.UNKNOWN_ALIAS


REQUESTS = parse_requests([{"name": "g", "alias": "gpu"}, {"name": "n", "any_of": ANY}], ALIASES)


@pytest.mark.parametrize(
    ("value", "constraints"),
    [
        pytest.param(None, (), id="none"),
        pytest.param([], (), id="an empty list"),
        pytest.param(
            [{"match": "pcie_root", "requests": ["n", "g", "n"]}],
            (Constraint(kind=ConstraintKind.MATCH, attribute="pcie_root", requests=("n", "g")),),
            id="match over named requests",
        ),
        pytest.param(
            [{"distinct": " parent "}, {"distinct": "rack", "match": None, "requests": None}],
            (
                Constraint(kind=ConstraintKind.DISTINCT, attribute="parent", requests=("g", "n")),
                Constraint(kind=ConstraintKind.DISTINCT, attribute="rack", requests=("g", "n")),
            ),
            id="distinct over all requests",
        ),
    ],
)
def test_constraints(value: object, constraints: tuple[Constraint, ...]) -> None:
    assert parse_constraints(value, REQUESTS) == constraints


@pytest.mark.parametrize(
    ("value", "place", "fault", "malformed"),
    [
        ({"match": "x"}, "constraints", "is not a list of constraints", True),
        (["x"], "constraints[0]", "is not an object", True),
        ([{"macth": "x"}], "constraints[0]", "write 'match'", True),
        ([{"match": 1}], "constraints[0].match", "is not a text", True),
        ([{"match": "x", "requests": "g"}], "constraints[0].requests", "is not a list of names", True),
        ([{"match": "x", "requests": [1]}], "constraints[0].requests[0]", "is no name of a request", True),
        ([{}], "constraints[0]", "needs one of match and distinct", False),
        ([{"match": "x", "distinct": "y"}], "constraints[0]", "needs one of match and distinct", False),
        ([{"match": " "}], "constraints[0].match", "names no attribute", False),
        ([{"match": "x", "requests": []}], "constraints[0].requests", "names no request", False),
        ([{"match": "x", "requests": ["g", "q"]}], "constraints[0].requests[1]", "the requests are 'g', 'n'", False),
        ([{"match": "x", "requests": ["G"]}], "constraints[0].requests[0]", "did you mean 'g'?", False),
    ],
)
def test_wrong_constraints(value: object, place: str, fault: str, malformed: bool) -> None:
    with pytest.raises(LanewayError) as caught:
        parse_constraints(value, REQUESTS)
    assert isinstance(caught.value, MalformedRequestError) is malformed
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert caught.value.detail["place"] == place
    assert fault in caught.value.message


@pytest.mark.parametrize(("value", "nodes"), [(None, set()), ([], set()), ([0, 1, 0], {0, 1})])
def test_guest_nodes(value: object, nodes: set[int]) -> None:
    assert parse_guest_numa_nodes(value) == nodes


@pytest.mark.parametrize(
    ("value", "place", "malformed"),
    [
        (0, "guest_numa_nodes", True),
        (["0"], "guest_numa_nodes[0]", True),
        ([0, True], "guest_numa_nodes[1]", True),
        ([-1], "guest_numa_nodes[0]", False),
    ],
)
def test_wrong_guest_nodes(value: object, place: str, malformed: bool) -> None:
    with pytest.raises(LanewayError) as caught:
        parse_guest_numa_nodes(value)
    assert isinstance(caught.value, MalformedRequestError) is malformed
    assert caught.value.detail["place"] == place


@pytest.mark.parametrize("value", [{"name": "a"}, [{"name": "a"}]], ids=["one request", "a list of them"])
def test_the_json_of_requests(value: object) -> None:
    assert parse_request_json(json.dumps(value)) == [{"name": "a"}]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [("{'name': 'gpu'}", 'write {"name": "gpu"}'), ("gpu", 'write {"name": "gpu", "any_of"'), ("[" * 9999, "write")],
    ids=["single quotes", "the name of an alias", "brackets without end"],
)
def test_text_that_is_no_json_is_refused_with_what_was_meant(text: str, remedy: str) -> None:
    with pytest.raises(LanewayError) as caught:
        parse_request_json(text)
    assert caught.value.code is ErrorCode.INVALID_JSON
    assert remedy in caught.value.message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(("name", "count", "alias", "any_of", "numa_policy", "attach"))
likely = json_values | st.sampled_from(("gpu", "legacy", "vdpa", 2)) | st.just(ANY)


@given(value=st.lists(st.dictionaries(keys, likely), max_size=3) | json_values)
def test_any_value_is_read_or_refused_and_never_crashes(value: Any) -> None:
    refused = None
    try:
        requests = parse_requests(value, ALIASES)
    except LanewayError as error:
        refused = error.code
    if refused is None:
        assert [request.name for request in requests] == [item["name"] for item in value]
        assert all(request.count > 0 for request in requests)
    else:
        assert refused in (ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_ALIAS)
