import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.address import PciAddress
from laneway.domain.tracking.explanation import (
    Judged,
    JudgedRequest,
    Removal,
    Rule,
    explain_interaction,
    explain_requests,
    sentences,
)

GPU_A, GPU_B, GPU_C, NIC = map(PciAddress.parse, ("3b:00.0", "5e:00.0", "86:00.0", "af:00.0"))
OTHER_IDS = Removal(Rule.IDS, "of other ids")
HELD = Removal(Rule.HELD, "held by vm1")
IN_USE = Removal(Rule.BLOCKED, "in use by the host: default_route ens5")


def request(name: str, wanted: int, **devices: Removal | None) -> JudgedRequest:
    """Devices by their place on the bus, such as ``b3b`` for 0000:3b:00.0."""
    judged = (Judged(PciAddress.parse(f"{bus[1:]}:00.0"), removal) for bus, removal in devices.items())
    return JudgedRequest(name, wanted, tuple(judged))


def test_each_device_is_counted_once_by_the_rule_that_removes_it() -> None:
    asked = request("gpu", 2, b3b=HELD, b5e=IN_USE, b86=None, baf=OTHER_IDS)
    explained = explain_requests([asked]).requests[0]
    assert (explained.wanted, explained.found) == (2, 1)
    assert [(count.code, count.removed, count.addresses) for count in explained.rules] == [
        (Rule.IDS, 1, (NIC,)),
        (Rule.HELD, 1, (GPU_A,)),
        (Rule.BLOCKED, 1, (GPU_B,)),
    ]


def test_the_nearest_miss_is_the_device_that_passed_the_most_rules() -> None:
    asked = request("gpu", 2, b3b=HELD, b86=IN_USE, b5e=IN_USE)
    nearest = explain_requests([asked]).requests[0].nearest
    assert nearest is not None
    assert (nearest.address, nearest.code) == (GPU_B, Rule.BLOCKED)


def test_nothing_is_near_where_nothing_was_removed() -> None:
    assert explain_requests([request("gpu", 2, b3b=None)]).requests[0].nearest is None


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        pytest.param(
            request("gpu", 2, b3b=HELD, b5e=IN_USE, b86=None, baf=OTHER_IDS),
            "request gpu: wants 2, found 1. Of 3 devices with what it asks for, 1 is held by vm1 (0000:3b:00.0); "
            "1 is in use by the host: default_route ens5 (0000:5e:00.0). "
            "Nearest: 0000:5e:00.0, but it is in use by the host: default_route ens5.",
            id="who holds the devices and what blocks them, with addresses",
        ),
        pytest.param(
            request("gpu", 1, b3b=OTHER_IDS, b5e=OTHER_IDS, b86=Removal(Rule.TAGS, "not of physical_network p1")),
            "request gpu: wants 1, found 0. None of 3 devices has what it asks for: 2 are of other ids (0000:3b:00.0, "
            "0000:5e:00.0); 1 is not of physical_network p1 (0000:86:00.0). "
            "Nearest: 0000:86:00.0, but it is not of physical_network p1.",
            id="nothing that was asked for, so what is there instead",
        ),
        pytest.param(
            request("gpu", 2, b3b=None, b5e=OTHER_IDS),
            "request gpu: wants 2, found 1. The host has no more with what it asks for.",
            id="all that was asked for is free and it is too little",
        ),
        pytest.param(
            request("gpu", 1, b3b=None, b5e=HELD),
            "request gpu: wants 1, found 1.",
            id="enough by itself needs no reason",
        ),
        pytest.param(
            request("gpu", 1), "request gpu: wants 1, found 0: the host has no devices to hand out.", id="an empty host"
        ),
        pytest.param(
            request("gpu", 9, b01=HELD, b02=HELD, b03=HELD, b04=HELD, b05=HELD),
            "request gpu: wants 9, found 0. Of 5 devices with what it asks for, 5 are held by vm1 (0000:01:00.0, "
            "0000:02:00.0, 0000:03:00.0 and 2 more). Nearest: 0000:01:00.0, but it is held by vm1.",
            id="many devices are counted and only some are named",
        ),
    ],
)
def test_a_request_in_a_sentence(asked: JudgedRequest, sentence: str) -> None:
    assert sentences(explain_requests([asked]))[0] == sentence


@pytest.mark.parametrize(
    ("requests", "hindrances", "reason"),
    [
        pytest.param(
            [request("a", 1, b3b=None), request("b", 1, b3b=None), request("c", 1, b5e=None)],
            (),
            "Requests a and b together want 2, and only 1 device could serve them.",
            id="rivals for too few devices are named, and nobody else",
        ),
        pytest.param(
            [request("a", 1, b3b=None), request("b", 1, b5e=None)],
            ("match on pcie_root over a and b", "distinct on numa_node over a and b"),
            "Each request fits alone, and together they would if it were not for match on pcie_root over a and b, "
            "or for distinct on numa_node over a and b.",
            id="conditions that stand in the way are named",
        ),
        pytest.param(
            [request("a", 1, b3b=None), request("b", 1, b5e=None)],
            (),
            "Each request fits alone, but no choice of devices satisfies all of them at once.",
            id="no single condition is to blame",
        ),
    ],
)
def test_why_requests_do_not_fit_together(
    requests: list[JudgedRequest], hindrances: tuple[str, ...], reason: str
) -> None:
    assert sentences(explain_interaction(requests, hindrances))[-1] == reason


def test_the_last_sentence_says_which_requests_find_too_few() -> None:
    explanation = explain_requests([request("a", 2, b3b=None), request("b", 1), request("c", 1, b5e=None)])
    assert sentences(explanation)[-1] == "Too few devices: request a finds 1 of 2; request b finds 0 of 1."


removals = st.none() | st.builds(Removal, st.sampled_from(Rule), st.sampled_from(["held by vm1", "of other ids"]))


@given(st.dictionaries(st.integers(0, 255), removals))
def test_what_is_found_and_what_is_removed_are_all_devices(devices: dict[int, Removal | None]) -> None:
    judged = tuple(Judged(PciAddress.of(0, bus, 0, 0), removal) for bus, removal in devices.items())
    explained = explain_requests([JudgedRequest("r", 1, judged)]).requests[0]
    assert explained.found + sum(count.removed for count in explained.rules) == len(devices)
