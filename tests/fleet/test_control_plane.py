"""The use cases on hosts: each is one transaction, and what is answered is stored."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from domain.hosts import A_PF, A_VF, PLAIN, at, claim, function, inventory, opened, pf, report, statuses, vf, wants
from domain.tracking.test_tracker import refused
from fleet.conftest import NOON, Fleet
from laneway.domain.device import Attach, Status
from laneway.domain.errors import ErrorCode
from laneway.domain.inventory import PciFunction
from laneway.domain.report import HostReport
from laneway.domain.tracking.claim import HostState
from laneway.fleet.control_plane import ControlPlane
from laneway.interfaces.running_vms import RunningVm, RunningVms

CARD, OTHER, THIRD = "0000:3b:00.0", "0000:3d:00.0", "0000:5e:00.0"
PF, VF0, VF1 = "0000:81:00.0", "0000:81:02.0", "0000:81:02.1"
CARDS = report(function(CARD), function(OTHER), function(THIRD))
QUARTER = timedelta(minutes=15)


@pytest.fixture
def synced(fleet: Fleet) -> Fleet:
    """A fleet of one host, h1, with three cards."""
    fleet.plane.sync("h1", CARDS)
    return fleet


def open_cards(*addresses: str) -> HostReport:
    """The three cards, of which a process has some open."""
    functions = CARDS.inventory.functions
    return replace(
        CARDS,
        inventory=inventory(*(replace(f, opened_by=opened()) if str(f.address) in addresses else f for f in functions)),
    )


def running(consumer: str, *addresses: str) -> RunningVm:
    devices = {at(address): Attach.VFIO for address in addresses}
    return RunningVm(consumer=consumer, uuid=None, pid=1, devices=devices, source="qemu")


def held(fleet: Fleet, host: str = "h1") -> dict[str, tuple[str, str | None]]:
    """Status and owner of what the store holds."""
    state = fleet.store.read(host)
    return {str(address): (str(device.status), device.consumer) for address, device in state.held.items()}


# a host has to report first

CALLS: dict[str, Callable[[ControlPlane], Any]] = {
    "claim": lambda plane: plane.claim("h1", claim("vm1")),
    "check": lambda plane: plane.check("h1", claim("vm1")),
    "allocate": lambda plane: plane.allocate("h1", consumer="vm1"),
    "free": lambda plane: plane.free("h1", consumer="vm1"),
    "adopt": lambda plane: plane.adopt("h1", RunningVms(vms=())),
    "cordon": lambda plane: plane.cordon("h1", at(CARD)),
    "uncordon": lambda plane: plane.uncordon("h1", at(CARD)),
    "look": lambda plane: plane.look("h1"),
}


@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_decided_on_a_host_that_has_not_reported(call: str, fleet: Fleet) -> None:
    with refused(ErrorCode.HOST_UNREACHABLE):
        CALLS[call](fleet.plane)
    assert fleet.log() == []


# claim


def test_what_was_answered_is_stored_and_another_process_sees_it(synced: Fleet) -> None:
    """Rule C47."""
    outcome = synced.plane.claim("h1", claim("vm1", wants(count=2)))
    assert outcome.devices == {"r": (at(CARD), at(OTHER))}
    assert outcome.changed == (at(CARD), at(OTHER))
    assert (outcome.proven_best, outcome.repeated) == (True, False)
    another = synced.another_plane()
    another.sync("h1", CARDS)
    assert statuses(another.look("h1")) == statuses(outcome.tracker)
    assert held(synced) == {CARD: ("claimed", "vm1"), OTHER: ("claimed", "vm1")}
    assert another.claim("h1", claim("vm2")).devices == {"r": (at(THIRD),)}


def test_a_claim_that_does_not_fit_stores_nothing_and_says_why(synced: Fleet) -> None:
    with refused(ErrorCode.DOES_NOT_FIT) as refusal:
        synced.plane.claim("h1", claim("vm1", wants(count=4)))
    assert refusal.value.detail["sentences"]
    assert (held(synced), synced.log()) == ({}, [])


def test_a_claim_that_is_repeated_is_answered_the_same_and_stored_once(synced: Fleet) -> None:
    first = synced.plane.claim("h1", claim("vm1"))
    another = synced.another_plane()
    another.sync("h1", CARDS)
    again = another.claim("h1", claim("vm1"))
    assert (again.devices, again.proven_best, again.repeated) == (first.devices, first.proven_best, True)
    assert again.changed == ()
    assert [action for action, _ in synced.log()] == ["claim"]


def test_a_repeated_id_with_other_content_is_a_conflict_and_changes_nothing(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1", claim_id="c1"))
    with refused(ErrorCode.CLAIM_CONFLICT):
        synced.plane.claim("h1", claim("vm2", claim_id="c1"))
    assert held(synced) == {CARD: ("claimed", "vm1")}


def test_an_id_belongs_to_one_host(fleet: Fleet) -> None:
    for host in ("h1", "h2"):
        fleet.plane.sync(host, CARDS)
        assert fleet.plane.claim(host, claim("vm1", claim_id="c1")).devices == {"r": (at(CARD),)}
    fleet.plane.free("h1", claim="c1")
    assert (held(fleet, "h1"), held(fleet, "h2")) == ({}, {CARD: ("claimed", "vm1")})


def test_a_check_answers_what_the_claim_would_and_opens_no_transaction(synced: Fleet) -> None:
    before = synced.store.begun
    checked = synced.plane.check("h1", claim("vm1", wants(count=2)))
    assert (synced.store.begun, held(synced)) == (before, {})
    claimed = synced.plane.claim("h1", claim("vm1", wants(count=2)))
    assert (checked.devices, checked.proven_best) == (claimed.devices, claimed.proven_best)


# allocate, free, adopt, cordon


def test_allocate_and_free_follow_a_claim_through_its_life(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1"))
    allocated = synced.plane.allocate("h1", consumer="vm1")
    assert allocated.changed == (at(CARD),)
    assert held(synced) == {CARD: ("allocated", "vm1")}
    freed = synced.plane.free("h1", claim="vm1-1")
    assert (freed.changed, statuses(freed.tracker)[CARD]) == ((at(CARD),), Status.AVAILABLE)
    assert synced.store.read("h1") == HostState()


def test_nothing_to_allocate_is_refused_and_nothing_to_free_is_not(synced: Fleet) -> None:
    with refused(ErrorCode.NO_CLAIM):
        synced.plane.allocate("h1", consumer="vm1")
    assert synced.plane.free("h1", consumer="vm1").changed == ()
    assert synced.log() == []


def test_what_is_anothers_is_not_freed_and_not_allocated(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1", claim_id="c1"))
    with refused(ErrorCode.NOT_OWNER):
        synced.plane.free("h1", consumer="vm2", addresses=[at(CARD)])
    with refused(ErrorCode.NOT_OWNER):
        synced.plane.allocate("h1", consumer="vm2", claim="c1")
    assert held(synced) == {CARD: ("claimed", "vm1")}


def test_one_device_of_a_claim_is_freed_and_the_claim_has_the_rest(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1", wants(count=2), claim_id="c1"))
    synced.plane.free("h1", addresses=[at(CARD)])
    assert synced.store.read("h1").claims["c1"].devices == {"r": (at(OTHER),)}
    synced.plane.free("h1", addresses=[at(OTHER)])
    assert synced.store.read("h1") == HostState()


def test_devices_that_guests_have_already_are_recorded_as_theirs_at_once(synced: Fleet) -> None:
    vms = (running("vm1", CARD, OTHER), running("vm2", THIRD))
    synced.plane.adopt("h1", RunningVms(vms=vms))
    assert held(synced) == {
        CARD: ("allocated", "vm1"),
        OTHER: ("allocated", "vm1"),
        THIRD: ("allocated", "vm2"),
    }
    synced.plane.adopt("h1", RunningVms(vms=vms))
    assert [action for action, _ in synced.log()] == ["adopt"]


def test_a_cordon_outlives_the_process_and_is_lifted_once(synced: Fleet) -> None:
    synced.plane.cordon("h1", at(CARD), "fan is loud")
    another = synced.another_plane()
    another.sync("h1", CARDS)
    assert another.claim("h1", claim("vm1")).devices == {"r": (at(OTHER),)}
    assert another.uncordon("h1", at(CARD)).changed == (at(CARD),)
    assert another.uncordon("h1", at(CARD)).changed == ()
    assert [action for action, _ in synced.log()] == ["cordon", "claim", "uncordon"]


# sync


def test_a_sync_in_which_nothing_changed_writes_nothing(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1"), time_to_live=QUARTER)
    before = synced.store.begun
    for _ in range(3):
        synced.plane.sync("h1", CARDS)
        synced.plane.sync("h1", report(*CARDS.inventory.functions))
    assert synced.store.begun == before


def test_facts_that_change_are_not_stored_as_they_follow_from_the_next_report(synced: Fleet) -> None:
    before = synced.store.begun
    tracker = synced.plane.sync("h1", report(function(OTHER), pf(PF), vf(VF0, PF))).tracker
    assert list(statuses(tracker)) == [OTHER, PF, VF0]
    assert synced.store.begun == before


def test_a_new_boot_is_stored(fleet: Fleet) -> None:
    for boot in ("b1", "b1", "b2", "b2"):
        fleet.plane.sync("h1", replace(CARDS, inventory=replace(CARDS.inventory, boot_id=boot)))
        assert fleet.store.read("h1").boot_id == boot
    assert fleet.store.begun == 2


def test_an_inventory_with_an_address_twice_is_refused_and_the_last_one_stays_in_force(synced: Fleet) -> None:
    twice: list[PciFunction] = [function(CARD), function(CARD)]
    with refused(ErrorCode.INVALID_INVENTORY):
        synced.plane.sync("h1", report(*twice))
    assert list(statuses(synced.plane.look("h1"))) == [CARD, OTHER, THIRD]


def test_a_pf_and_its_vf_conflict_across_processes(fleet: Fleet) -> None:
    nic = report(pf(PF), vf(VF0, PF), vf(VF1, PF))
    fleet.plane.sync("h1", nic)
    another = fleet.another_plane()
    another.sync("h1", nic)
    fleet.plane.claim("h1", claim("vm1", A_VF))
    with refused(ErrorCode.DOES_NOT_FIT):
        another.claim("h1", claim("vm2", A_PF))
    fleet.plane.free("h1", consumer="vm1")
    assert another.claim("h1", claim("vm2", A_PF)).devices == {"r": (at(PF),)}
    with refused(ErrorCode.DOES_NOT_FIT):
        fleet.plane.claim("h1", claim("vm1", A_VF))


# time to live


def test_a_claim_whose_time_is_over_is_freed_at_the_next_sync(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1"), time_to_live=QUARTER)
    synced.later(minutes=14)
    assert synced.plane.sync("h1", CARDS).changed == ()
    synced.later(minutes=1)
    assert synced.plane.sync("h1", CARDS).changed == (at(CARD),)
    assert synced.store.read("h1") == HostState()
    assert synced.log()[-1][0] == "expire"


def test_a_claim_without_a_time_to_live_stays(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1"))
    synced.later(days=10_000)
    synced.plane.sync("h1", CARDS)
    assert held(synced) == {CARD: ("claimed", "vm1")}


def test_a_claim_that_is_allocated_never_expires(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1"), time_to_live=QUARTER)
    synced.plane.allocate("h1", consumer="vm1")
    synced.later(days=1)
    synced.plane.sync("h1", CARDS)
    assert held(synced) == {CARD: ("allocated", "vm1")}


def test_a_claim_of_which_one_device_is_open_does_not_expire_until_it_is_closed(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1", wants(count=2)), time_to_live=QUARTER)
    synced.later(hours=1)
    synced.plane.sync("h1", open_cards(OTHER))
    assert held(synced) == {CARD: ("claimed", "vm1"), OTHER: ("claimed", "vm1")}
    synced.plane.sync("h1", CARDS)
    assert held(synced) == {}


def test_only_the_claim_whose_time_is_over_expires(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1", claim_id="c1"), time_to_live=QUARTER)
    synced.plane.claim("h1", claim("vm1", claim_id="c2"), time_to_live=2 * QUARTER)
    synced.later(minutes=20)
    synced.plane.sync("h1", CARDS)
    assert held(synced) == {OTHER: ("claimed", "vm1")}


def test_a_repeated_claim_keeps_the_time_that_it_had(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1"), time_to_live=QUARTER)
    synced.later(minutes=10)
    assert synced.plane.claim("h1", claim("vm1"), time_to_live=QUARTER).repeated
    synced.later(minutes=5)
    synced.plane.sync("h1", CARDS)
    assert held(synced) == {}


# the audit log


def test_every_change_leaves_a_line_that_says_who_did_what_and_when(synced: Fleet) -> None:
    synced.plane.claim("h1", claim("vm1", wants("g"), claim_id="c1"))
    synced.later(minutes=1)
    synced.plane.allocate("h1", claim="c1")
    synced.plane.cordon("h1", at(OTHER), "loud")
    synced.plane.uncordon("h1", at(OTHER))
    synced.plane.free("h1", consumer="vm1")
    assert synced.log() == [
        (
            "claim",
            {
                "devices": {CARD: {"status": "claimed", "consumer": "vm1", "claim": "c1"}},
                "claims": {"c1": {"consumer": "vm1", "devices": {"g": [CARD]}}},
            },
        ),
        (
            "allocate",
            {
                "devices": {CARD: {"status": "allocated", "consumer": "vm1", "claim": "c1"}},
                "claims": {"c1": {"consumer": "vm1", "devices": {"g": [CARD]}}},
            },
        ),
        ("cordon", {"blocks": {OTHER: ["cordoned"]}}),
        ("uncordon", {"blocks": {OTHER: None}}),
        ("free", {"devices": {CARD: None}, "claims": {"c1": None}}),
    ]
    first, second, *_ = synced.store.audit("h1", last=99)
    assert (first.at, second.at) == (NOON, NOON + timedelta(minutes=1))
    assert (first.host, first.actor) == ("h1", "ada")


def test_a_refused_operation_leaves_no_line(synced: Fleet) -> None:
    with refused(ErrorCode.DOES_NOT_FIT):
        synced.plane.claim("h1", claim("vm1", wants(count=9)))
    with refused(ErrorCode.NO_CLAIM):
        synced.plane.allocate("h1", claim="c9")
    with refused(ErrorCode.UNKNOWN_DEVICE):
        synced.plane.cordon("h1", at("0000:77:00.0"))
    assert synced.log() == []


def test_plain_requests_of_two_hosts_do_not_meet(fleet: Fleet) -> None:
    fleet.plane.sync("h1", CARDS)
    fleet.plane.sync("h2", CARDS)
    assert fleet.plane.claim("h1", claim("vm1", PLAIN)).devices == fleet.plane.claim("h2", claim("vm2", PLAIN)).devices
    assert [action for action, _ in fleet.log("h2")] == ["claim"]
