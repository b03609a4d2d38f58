"""Moves of a consumer between hosts, and on one host, over each store."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.hosts import at, claim, function, report, wants
from domain.tracking.test_tracker import refused
from fleet.conftest import Fleet
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import ClaimRequest, DeviceRequest
from laneway.domain.tracking.claim import MoveKind
from laneway.fleet.moves import Moved, Moves
from laneway.store.memory import MemoryStore

OLD, OLD2 = "0000:3b:00.0", "0000:3d:00.0"
NEW, NEW2, NEW3 = "0000:a1:00.0", "0000:a2:00.0", "0000:a3:00.0"
MIGRATABLE: list[object] = [{"address": "*", "live_migratable": True}]


class Town:
    """Two hosts of plain cards, and the moves between them."""

    def __init__(self, fleet: Fleet, specs: Sequence[object] = ({"address": "*"},)) -> None:
        self.fleet = fleet
        fleet.plane.sync("h1", report(function(OLD), function(OLD2), specs=specs))
        fleet.plane.sync("h2", report(function(NEW), function(NEW2), function(NEW3), specs=specs))
        self.moves = Moves(fleet.plane, fleet.store, lambda: fleet.time)

    def settle(self, consumer: str, *requests: DeviceRequest, host: str = "h1") -> None:
        self.fleet.plane.claim(host, claim(consumer, *requests))
        self.fleet.plane.allocate(host, consumer=consumer)

    def start(self, kind: MoveKind = MoveKind.COLD, **change: Any) -> Moved:
        wanted: dict[str, Any] = {"source": "h1", "destination": "h2", "consumer": "vm1", "claim": "move-1"}
        return self.moves.start(kind, **{**wanted, **change})

    def confirm(self) -> Moved:
        return self.moves.confirm(destination="h2", consumer="vm1")

    def held(self) -> dict[str, str]:
        """What is held on both hosts: status and owner by address."""
        return {
            str(address): f"{device.status} {device.consumer}"
            for host in ("h1", "h2")
            for address, device in sorted(self.fleet.store.read(host).held.items())
        }

    def claims(self) -> list[str]:
        return [key for host in ("h1", "h2") for key in sorted(self.fleet.store.read(host).claims)]


@pytest.fixture
def town(fleet: Fleet) -> Town:
    town = Town(fleet)
    town.settle("vm1")
    return town


def test_a_move_claims_on_the_destination_before_the_source_gives_anything_up(town: Town) -> None:
    """Rule C83."""
    moved = town.start()
    assert town.held() == {OLD: "allocated vm1", NEW: "claimed vm1"}
    assert moved.successors == {at(OLD): at(NEW)}


def test_a_confirmed_move_frees_the_source_and_allocates_the_destination(town: Town) -> None:
    town.start()
    moved = town.confirm()
    assert town.held() == {NEW: "allocated vm1"}
    assert town.claims() == ["move-1"]
    assert moved.successors == {at(OLD): at(NEW)}


def test_a_reverted_move_leaves_what_was_before(town: Town) -> None:
    before = town.held(), town.claims()
    town.start()
    town.moves.revert(destination="h2", consumer="vm1")
    assert (town.held(), town.claims()) == before


def test_the_devices_of_the_destination_may_be_in_the_guest_before_the_move_is_confirmed(town: Town) -> None:
    town.start()
    town.fleet.plane.allocate("h2", consumer="vm1", claim="move-1")
    assert town.held() == {OLD: "allocated vm1", NEW: "allocated vm1"}
    town.moves.revert(destination="h2", consumer="vm1")
    assert town.held() == {OLD: "allocated vm1"}


@pytest.mark.parametrize("verb", ["start", "confirm", "revert"])
def test_each_verb_is_answered_the_same_when_it_is_repeated(town: Town, verb: str) -> None:
    calls: dict[str, Any] = {
        "start": town.start,
        "confirm": town.confirm,
        "revert": lambda: town.moves.revert(destination="h2", consumer="vm1"),
    }
    if verb != "start":
        town.start()
    first = calls[verb]()
    held, logged = town.held(), len(town.fleet.log("h2"))
    second = calls[verb]()
    assert (town.held(), len(town.fleet.log("h2"))) == (held, logged), "nothing is written the second time"
    if isinstance(first, Moved):
        assert second.record == first.record
        assert second.repeated


def test_a_retry_after_a_confirmed_move_does_not_free_what_came_later(town: Town) -> None:
    town.start()
    town.confirm()
    town.settle("vm1", host="h1")
    town.confirm()
    assert town.held() == {OLD: "allocated vm1", NEW: "allocated vm1"}


def test_a_confirmed_move_cannot_be_reverted(town: Town) -> None:
    town.start()
    town.confirm()
    with refused(ErrorCode.INVALID_STATUS):
        town.moves.revert(destination="h2", consumer="vm1", claim="move-1")
    assert town.held() == {NEW: "allocated vm1"}


def test_a_second_move_waits_for_the_first(town: Town) -> None:
    town.start()
    with refused(ErrorCode.MOVE_IN_PROGRESS):
        town.start(claim="move-2")


def test_what_was_moved_can_be_moved_back(town: Town) -> None:
    town.start()
    town.confirm()
    town.start(source="h2", destination="h1", claim="back")
    town.moves.confirm(destination="h1", consumer="vm1")
    assert town.held() == {OLD: "allocated vm1"}


def test_nothing_is_there_to_confirm_without_a_move(town: Town) -> None:
    with refused(ErrorCode.NO_MOVE):
        town.confirm()


def test_a_move_that_does_not_fit_changes_nothing(town: Town) -> None:
    before = town.held()
    with refused(ErrorCode.DOES_NOT_FIT):
        town.start(request=claim("vm1", wants(count=4), claim_id="move-1"))
    assert town.held() == before


def test_the_claim_id_of_another_claim_cannot_be_a_move(town: Town) -> None:
    town.fleet.plane.claim("h2", claim("vm2", claim_id="move-1"))
    with refused(ErrorCode.CLAIM_CONFLICT):
        town.start()


def test_a_resize_on_its_host_holds_old_and_new_devices(town: Town) -> None:
    """Rule C48."""
    town.start(MoveKind.RESIZE, destination="h1", request=claim("vm1", wants("bigger"), claim_id="move-1"))
    assert town.held() == {OLD: "allocated vm1", OLD2: "claimed vm1"}
    town.moves.confirm(destination="h1", consumer="vm1")
    assert town.held() == {OLD2: "allocated vm1"}


def test_a_resize_to_no_devices_frees_the_source_when_it_is_confirmed(town: Town) -> None:
    nothing = ClaimRequest(consumer="vm1", claim="move-1", requests=())
    town.start(MoveKind.RESIZE, request=nothing)
    assert town.held() == {OLD: "allocated vm1"}
    town.confirm()
    assert town.held() == {}


def test_a_resize_to_no_devices_can_be_reverted(town: Town) -> None:
    town.start(MoveKind.RESIZE, request=ClaimRequest(consumer="vm1", claim="move-1", requests=()))
    town.moves.revert(destination="h2", consumer="vm1")
    assert town.claims() == ["vm1-1"]
    town.start(claim="move-2")


def test_an_unshelved_vm_gets_devices_without_giving_any_up(fleet: Fleet) -> None:
    town = Town(fleet)
    town.start(MoveKind.UNSHELVE, source=None, request=claim("vm1", claim_id="move-1"))
    town.confirm()
    assert town.held() == {NEW: "allocated vm1"}


def test_the_devices_of_a_host_that_is_down_are_freed_when_the_evacuation_is_confirmed(town: Town) -> None:
    """The host has not reported since, and its devices are known from the store."""
    town.start(MoveKind.EVACUATION)
    town.confirm()
    assert town.held() == {NEW: "allocated vm1"}


def test_a_running_guest_moves_only_with_devices_that_can(town: Town) -> None:
    """Rule C82."""
    with refused(ErrorCode.NOT_MIGRATABLE):
        town.start(MoveKind.LIVE)
    assert town.held() == {OLD: "allocated vm1"}


def test_a_running_guest_moves_to_devices_that_can_move_on(fleet: Fleet) -> None:
    town = Town(fleet, MIGRATABLE)
    town.settle("vm1")
    fleet.plane.sync(
        "h2",
        report(function(NEW), function(NEW2), specs=[{"address": NEW}, {"address": NEW2, "live_migratable": True}]),
    )
    assert town.start(MoveKind.LIVE).successors == {at(OLD): at(NEW2)}


def test_the_device_of_a_port_is_replugged_and_need_not_be_migratable(fleet: Fleet) -> None:
    """Rule C82."""
    town = Town(fleet)
    port = DeviceRequest(name="port-0", alternatives=wants().alternatives, requester="port-0")
    town.settle("vm1", port)
    assert town.start(MoveKind.LIVE).successors == {at(OLD): at(NEW)}


@pytest.mark.parametrize("kind", [MoveKind.LIVE, MoveKind.EVACUATION])
def test_no_guest_is_moved_live_or_evacuated_to_the_host_where_it_is(fleet: Fleet, kind: MoveKind) -> None:
    town = Town(fleet, MIGRATABLE)
    town.settle("vm1")
    with refused(ErrorCode.SAME_HOST):
        town.start(kind, destination="h1")
    assert town.held() == {OLD: "allocated vm1"}


def test_the_requests_of_several_claims_are_told_apart_on_the_destination(town: Town) -> None:
    town.fleet.plane.claim("h1", claim("vm1", claim_id="second"))
    moved = town.start()
    assert set(moved.record.devices) == {"second/r", "vm1-1/r"}


def test_a_move_of_nothing_has_to_say_what_it_needs(fleet: Fleet) -> None:
    town = Town(fleet)
    with refused(ErrorCode.NO_CLAIM):
        town.start()


def test_free_ends_the_move_too(town: Town) -> None:
    town.start(MoveKind.RESIZE, request=ClaimRequest(consumer="vm1", claim="move-1", requests=()))
    town.fleet.plane.free("h2", consumer="vm1")
    assert town.claims() == ["vm1-1"]
    town.start(claim="move-2")


VERBS = ("start", "confirm", "revert", "allocate", "free")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(VERBS), st.sampled_from(["h1", "h2"]), st.sampled_from(["vm1", "vm2"])), max_size=14
    )
)
def test_whatever_happens_in_between_no_device_has_two_owners_and_none_is_lost(
    steps: Sequence[tuple[str, str, str]],
) -> None:
    """After all moves are ended and all consumers freed, the hosts are empty."""
    store = MemoryStore()
    fleet = Fleet(store)  # type: ignore[arg-type] # no counting here
    town = Town(fleet)
    for consumer in ("vm1", "vm2"):
        town.settle(consumer, host="h1")
    refusals: list[ErrorCode] = []
    for number, (verb, host, consumer) in enumerate(steps):
        other = "h2" if host == "h1" else "h1"
        try:
            if verb == "start":
                town.start(source=other, destination=host, consumer=consumer, claim=f"m{number}")
            elif verb == "confirm":
                town.moves.confirm(destination=host, consumer=consumer)
            elif verb == "revert":
                town.moves.revert(destination=host, consumer=consumer)
            elif verb == "allocate":
                fleet.plane.allocate(host, consumer=consumer)
            else:
                fleet.plane.free(host, consumer=consumer)
        except LanewayError as error:
            refusals.append(error.code)
        for name in ("h1", "h2"):
            state = store.read(name)
            listed = [a for record in state.claims.values() for found in record.devices.values() for a in found]
            assert sorted(listed) == sorted(state.held), "each held device is of exactly one claim"
            assert all(device.status in (Status.CLAIMED, Status.ALLOCATED) for device in state.held.values())
    assert ErrorCode.INTERNAL_ERROR not in refusals
    for name in ("h1", "h2"):
        for consumer in ("vm1", "vm2"):
            fleet.plane.free(name, consumer=consumer)
        assert store.read(name).held == {}
        assert store.read(name).claims == {}
