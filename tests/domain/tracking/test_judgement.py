"""What an explanation says of a host, for every rule that can remove a device."""

from dataclasses import replace

import pytest

from domain.hosts import A_PF, A_VF, allocate, at, claim, function, pf, take, tracker, used, vf, wants
from laneway.domain.device import Attach
from laneway.domain.inventory import DevType, PciFunction, Vpd
from laneway.domain.requests.request import ClaimRequest, Constraint, ConstraintKind, DeviceRequest, NumaPolicy
from laneway.domain.tracking.explanation import Rule, sentences
from laneway.domain.tracking.judgement import explain
from laneway.domain.tracking.tracker import PciDeviceTracker

PF, VF0, VF1 = "0000:81:00.0", "0000:81:02.0", "0000:81:02.1"
NIC = (pf(PF), vf(VF0, PF), vf(VF1, PF))
CARD = "0000:3b:00.0"


def match(attribute: str, *names: str, kind: ConstraintKind = ConstraintKind.MATCH) -> tuple[Constraint, ...]:
    return (Constraint(kind=kind, attribute=attribute, requests=names),)


def held_vf(host: PciDeviceTracker) -> None:
    allocate(host, "vm1", A_VF)


def cordoned(host: PciDeviceTracker) -> None:
    host.apply(host.cordon(at(CARD), "slot is loose"))


def nothing(host: PciDeviceTracker) -> None:
    """The host as it is."""


@pytest.mark.parametrize(
    ("functions", "before", "request_", "rule", "message"),
    [
        pytest.param(NIC, nothing, wants(product_id="ffff"), Rule.IDS, "of other ids (8086:154c)", id="ids"),
        pytest.param(NIC[:1], nothing, A_VF, Rule.TYPE, "type-PF, which is not asked for", id="another type"),
        pytest.param(
            NIC[:1],
            nothing,
            wants(),
            Rule.ONLY_IF_ASKED,
            "type-PF, which has to be asked for by dev_type, or device_type in an alias",
            id="a PF that nobody asked for",
        ),
        pytest.param(
            [function(CARD, dev_type=DevType.VDPA)],
            nothing,
            wants(),
            Rule.ONLY_IF_ASKED,
            "vdpa, which has to be asked for by dev_type",
            id="a vDPA device that nobody asked for",
        ),
        pytest.param(
            [function(CARD)],
            nothing,
            wants(attach=Attach.MACVTAP),
            Rule.TYPE,
            "type-PCI, which cannot be attached by macvtap",
            id="an attachment that the device does not have",
        ),
        pytest.param(
            [function(CARD)], nothing, wants(tags={"colour": "blue"}), Rule.TAGS, "without the tags", id="tags"
        ),
        pytest.param(
            [function(CARD)],
            nothing,
            replace(wants(), provider=at(PF)),
            Rule.PROVIDER,
            f"not of {PF}, where Placement has chosen it",
            id="another provider of Placement (P13)",
        ),
        pytest.param(NIC[:2], held_vf, A_VF, Rule.HELD, "held by vm1", id="held"),
        pytest.param(
            NIC, held_vf, A_PF, Rule.UNCLAIMABLE, f"unclaimable, as {VF0} is held by vm1", id="a relative is held"
        ),
        pytest.param(
            [function(CARD, in_use_by=used())], nothing, wants(), Rule.BLOCKED, "the host uses it", id="host use"
        ),
        pytest.param([function(CARD)], cordoned, wants(), Rule.BLOCKED, "slot is loose", id="cordoned"),
        pytest.param(
            [function(CARD, numa_node=1)],
            nothing,
            wants(numa_policy=NumaPolicy.REQUIRED),
            Rule.NUMA,
            "on NUMA node 1, which policy required does not take for a guest on 0",
            id="the NUMA policy",
        ),
        pytest.param(
            [function(CARD)],
            nothing,
            wants(numa_policy=NumaPolicy.REQUIRED),
            Rule.NUMA,
            "on an unknown NUMA node",
            id="the NUMA policy and an unknown node",
        ),
    ],
)
def test_the_rule_that_removed_a_device_is_named(
    functions: list[object], before: object, request_: DeviceRequest, rule: Rule, message: str
) -> None:
    host = tracker(*functions)  # type: ignore[arg-type]
    before(host)  # type: ignore[operator]
    explanation = explain(host.view, claim("vm2", request_, guest_numa_nodes=frozenset({0})))
    found = [count.message for count in explanation.requests[0].rules if count.code is rule]
    assert any(message in text for text in found), explanation
    assert explanation.reason == "too few devices: request r finds 0 of 1"


def test_an_unknown_attribute_of_a_constraint_is_named() -> None:
    asked = claim("vm2", wants(), constraints=match("pcie_root", "r"))
    (count,) = explain(tracker(function(CARD)).view, asked).requests[0].rules
    assert count.message == "without a known pcie_root, which match needs"


def test_a_function_with_the_right_ids_that_no_spec_admits_is_named() -> None:
    host = tracker(function(CARD), specs=[])
    (count,) = explain(host.view, claim("vm2", wants(product_id="37c8"))).requests[0].rules
    assert (count.code, count.message, count.addresses) == (
        Rule.NOT_ADMITTED,
        "not admitted by any device spec",
        (at(CARD),),
    )


@pytest.mark.parametrize(
    ("beyond", "spec", "words"),
    [
        pytest.param(function("10000:01:00.0"), {"address": "*"}, "its domain 10000 is above ffff", id="a high domain"),
        pytest.param(
            function(CARD),
            {"address": "*", "remote_managed": True},
            "its VPD has no card serial number",
            id="a remote-managed device without a serial number",
        ),
    ],
)
def test_why_a_function_with_the_right_ids_may_not_be_admitted_is_told(
    beyond: PciFunction, spec: dict[str, object], words: str
) -> None:
    (count,) = explain(tracker(beyond, specs=[spec]).view, claim("vm2", wants(product_id="37c8"))).requests[0].rules
    assert (count.code, count.addresses) == (Rule.NOT_ADMITTED, (beyond.address,))
    assert count.message.startswith("not admitted: ")
    assert words in count.message


def test_a_group_that_is_not_viable_removes_nothing_from_a_request_beside_vfio() -> None:
    group = (pf(PF, iommu_group=7, driver="i40e"), vf(VF0, PF, iommu_group=7))
    host = tracker(*group, specs=[{"product_id": "154c"}])
    plain = explain(host.view, claim("vm2", replace(A_VF, count=2)))
    assert [count.code for count in plain.requests[0].rules if PF in count.message] == [Rule.BLOCKED]
    macvtap = explain(host.view, claim("vm2", replace(A_VF, count=2, attach=Attach.MACVTAP)))
    assert macvtap.requests[0].found == 1


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param(
            claim("vm2", replace(A_PF, name="a"), replace(A_VF, name="b")),
            "together they would if it were not for the rule that a PF and its own VFs never go to one consumer",
            id="a PF and its own VF",
        ),
        pytest.param(
            claim("vm2", replace(A_VF, name="a", count=2), constraints=match("numa_node", "a")),
            "if it were not for match on numa_node over a",
            id="a constraint",
        ),
        pytest.param(
            claim("vm2", replace(A_VF, name="a", count=2), replace(A_VF, name="b")),
            "requests a and b together want 3, and only 2 devices could serve them",
            id="two requests that compete",
        ),
    ],
)
def test_what_stands_between_requests_that_fit_alone_is_named(asked: ClaimRequest, reason: str) -> None:
    nic = (pf(PF, numa_node=0), vf(VF0, PF, numa_node=0), vf(VF1, PF, numa_node=1))
    explanation = explain(tracker(*nic).view, asked)
    assert reason in explanation.reason
    assert sentences(explanation)[-1].endswith(".")


def test_every_device_is_counted_once() -> None:
    host = tracker(*NIC, function(CARD, in_use_by=used()))
    take(host, "vm1", A_VF)
    for request in (A_VF, A_PF, wants(), wants(product_id="ffff")):
        (one,) = explain(host.view, claim("vm2", request)).requests
        assert one.found + sum(count.removed for count in one.rules) == 4


def test_hundreds_of_requests_for_the_same_devices_are_told_in_a_few_words() -> None:
    cards = [function(f"0000:{0x10 + number:02x}:00.0") for number in range(100)]
    asked = claim("vm2", *(wants(f"r{number}") for number in range(400)))
    reason = explain(tracker(*cards).view, asked).reason
    assert reason == (
        "requests r0, r1, r2, r3, r4 and 395 more together want 400, and only 100 devices could serve them"
    )


def test_requests_for_many_kinds_of_devices_are_not_all_tried_together() -> None:
    cards = [function(f"0000:{0x10 + number:02x}:00.0", product_id=f"{number:04x}") for number in range(100)]
    wanted = [wants(f"r{number}", product_id=f"{number:04x}") for number in range(100)]
    root = match("pcie_root", *(request.name for request in wanted))
    placed = [replace(card, pcie_roots=(f"0000:{number:02x}",)) for number, card in enumerate(cards)]
    reason = explain(tracker(*placed).view, claim("vm2", *wanted, constraints=root)).reason
    assert reason.startswith("each request fits alone, and together they would if it were not for match on pcie_root")


def test_a_device_that_only_has_to_be_asked_for_is_nearer_than_one_that_no_spec_admits() -> None:
    host = tracker(pf(PF), pf(CARD), specs=[{"address": PF}])
    explanation = explain(host.view, claim("vm2", wants(product_id="1572")))
    nearest = explanation.requests[0].nearest
    assert nearest is not None
    assert (nearest.address, nearest.code) == (at(PF), Rule.ONLY_IF_ASKED)
    assert "which has to be asked for" in sentences(explanation)[0]


def test_a_remote_managed_device_has_to_be_asked_for() -> None:
    card = Vpd(card_serial_number="MT2113X00000")
    host = tracker(pf(PF), vf(VF0, PF, vpd=card), specs=[{"product_id": "154c", "remote_managed": True, "net": "a"}])
    (count,) = explain(host.view, claim("vm2", wants(tags={"net": "a"}))).requests[0].rules
    assert (count.code, count.message) == (
        Rule.ONLY_IF_ASKED,
        "remote-managed, which has to be asked for by remote_managed",
    )
