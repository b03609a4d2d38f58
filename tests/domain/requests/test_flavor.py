import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.alias import Alias, Aliases
from laneway.domain.requests.flavor import parse_flavor
from laneway.domain.requests.request import Alternative, DeviceRequest, NumaPolicy

A = Alias(name="a", alternatives=(Alternative(vendor_id="10de"),), numa_policy=NumaPolicy.REQUIRED)
ALIASES = Aliases({name: Alias(name=name, alternatives=()) for name in ("b", "a-2", "crypto card")} | {"a": A})


def test_a_part_becomes_a_request_with_all_that_the_alias_says() -> None:
    """Rules C66 and C67."""
    assert parse_flavor("a:2", ALIASES) == (
        DeviceRequest(name="a", alternatives=A.alternatives, count=2, numa_policy=NumaPolicy.REQUIRED, alias="a"),
    )


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("a:1", [("a", "a", 1)]),
        ("a:1, b:2", [("a", "a", 1), ("b", "b", 2)]),
        (" a : 3 ", [("a", "a", 3)]),
        ("crypto card:1", [("crypto card", "crypto card", 1)]),
        ("a:007", [("a", "a", 7)]),
        ("b:1,b:2,b:3", [("b", "b", 1), ("b-2", "b", 2), ("b-3", "b", 3)]),
        ("a:1,a:1,a-2:1", [("a", "a", 1), ("a-2", "a", 1), ("a-2-2", "a-2", 1)]),
    ],
)
def test_flavors(text: str, requests: list[tuple[str, str, int]]) -> None:
    """Rule C66."""
    assert [(request.name, request.alias, request.count) for request in parse_flavor(text, ALIASES)] == requests


def test_the_policy_of_flavor_or_image_beats_the_alias() -> None:
    """Rule C60."""
    [request] = parse_flavor("a:1", ALIASES, guest_policy=NumaPolicy.PREFERRED)
    assert request.numa_policy is NumaPolicy.PREFERRED


@pytest.mark.parametrize(
    ("text", "place", "fault"),
    [
        ("", "flavor ''", "names no alias"),
        (" ", "flavor ' '", "names no alias"),
        ("a", "flavor 'a'", "has no count"),
        ("a:0", "flavor 'a:0'", "no whole number above 0"),
        ("a:00", "flavor 'a:00'", "no whole number above 0"),
        ("a:-1", "flavor 'a:-1'", "no whole number above 0"),
        ("a:x", "flavor 'a:x'", "no whole number above 0"),
        ("a:1.0", "flavor 'a:1.0'", "no whole number above 0"),
        ("a:1_0", "flavor 'a:1_0'", "no whole number above 0"),
        ("a:\u0661", "flavor 'a:\u0661'", "no whole number above 0"),
        ("a:", "flavor 'a:'", "no whole number above 0"),
        ("a:" + "9" * 19, "flavor", "more than any host has"),
        (":1", "flavor ':1'", "names no alias"),
        ("a:1:2", "flavor 'a:1:2'", "more than one ':'"),
        ("a:1,", "flavor 'a:1,', part 2", "names no alias"),
        (",a:1", "flavor ',a:1', part 1", "names no alias"),
        ("b:1,a", "flavor 'b:1,a', part 2", "has no count"),
    ],
)
def test_wrong_forms_are_refused_with_their_place(text: str, place: str, fault: str) -> None:
    """Rule D23."""
    with pytest.raises(LanewayError) as caught:
        parse_flavor(text, ALIASES)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert caught.value.message.startswith(place)
    assert fault in caught.value.message


def test_an_unknown_alias_is_told_with_its_part() -> None:
    """Rule C66."""
    with pytest.raises(LanewayError, match="part 2: there is no alias 'A'; the aliases are") as caught:
        parse_flavor("b:1,A:1", ALIASES)
    assert caught.value.code is ErrorCode.UNKNOWN_ALIAS


@given(parts=st.lists(st.tuples(st.sampled_from(("a", "b", "a-2")), st.integers(1, 99)), min_size=1, max_size=6))
def test_names_are_unique_and_nothing_is_lost(parts: list[tuple[str, int]]) -> None:
    requests = parse_flavor(",".join(f"{name}:{count}" for name, count in parts), ALIASES)
    assert [(request.alias, request.count) for request in requests] == parts
    assert len({request.name for request in requests}) == len(parts)


@given(text=st.text(alphabet="ab:,- 0123456789x", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    refused = None
    try:
        requests = parse_flavor(text, ALIASES)
    except LanewayError as error:
        refused = error.code
    if refused is None:
        assert len(requests) == text.count(",") + 1
    else:
        assert refused in (ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_ALIAS)
