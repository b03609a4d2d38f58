"""Cards that have other addresses after a boot: what is free is followed, what is owned is refused, both named."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from domain.hosts import (
    A_PF,
    A_VF,
    allocate,
    at,
    blocks,
    claim,
    function,
    give_back,
    offered,
    opened,
    pf,
    statuses,
    take,
    tracker,
    vf,
    wants,
)
from domain.tracking.test_preparation import do, prepared, released, seen
from domain.tracking.test_tracker import refused
from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction, Vpd
from laneway.domain.tracking.displacement import refuse_displaced
from laneway.domain.tracking.tracker import PciDeviceTracker

A, B, C, D = "0000:3a:00.0", "0000:3b:00.0", "0000:3c:00.0", "0000:3d:00.0"
ONCE: list[object] = [{"address": "*", "one_time_use": True}]


def card(address: str, slot: int, serial: str | None = None, **facts: Any) -> PciFunction:
    """A card of one kind, in a numbered slot of its root."""
    vpd = None if serial is None else Vpd(card_serial_number=serial)
    return function(address, path=f"0000:30/{slot:02x}.0/00.0", vpd=vpd, **facts)


def owned(*cards: PciFunction, consumers: int = 1, **rest: Any) -> PciDeviceTracker:
    """A host whose first cards are allocated to vm1, vm2 and so on."""
    host = tracker(*cards, **rest)
    for number in range(1, consumers + 1):
        allocate(host, f"vm{number}")
    return host


def reasons(host: PciDeviceTracker, address: str) -> list[str]:
    return [reason.message for reason in host.view.blocked_by(at(address))]


# what is owned


@pytest.mark.parametrize("serials", [("S1", "S2"), (None, None)], ids=["with serials", "without serials"])
def test_an_owned_device_is_refused_where_every_address_shifted_by_a_bus(serials: Sequence[str | None]) -> None:
    """Two twins; a card was added before them."""
    host = owned(card(A, 1, serials[0]), card(B, 2, serials[1]))
    host = seen(host, card(B, 1, serials[0]), card(C, 2, serials[1]), boot="b2")
    assert statuses(host) == {A: Status.ALLOCATED, B: Status.AVAILABLE, C: Status.AVAILABLE}
    assert blocks(host) == {A: ["wrong_device"], B: ["wrong_device"]}
    assert "nothing stands there now; the device that was recorded is at 0000:3b:00.0" in reasons(host, A)[0]
    assert reasons(host, B) == ["it may be the device that vm1 holds as 0000:3a:00.0"]
    assert offered(host) == 1


def test_both_devices_are_named() -> None:
    host = owned(card(A, 1, "S1"), card(B, 2, "S2"), consumers=2)
    host = seen(host, card(A, 3, "S0"), card(B, 1, "S1"), card(C, 2, "S2"), boot="b2")
    (said,) = reasons(host, A)
    assert "8086:37c8 with serial S1 was recorded at 0000:3a:00.0" in said
    assert "it is 8086:37c8 with serial S0, not 8086:37c8 with serial S1" in said
    assert "the device that was recorded is at 0000:3b:00.0" in said
    assert blocks(host) == {A: ["wrong_device"], B: ["wrong_device", "wrong_device"], C: ["wrong_device"]}
    assert offered(host) == 0, "the card that was added stands at the address of another, and goes to nobody"


def test_two_cards_that_changed_places_are_both_refused() -> None:
    host = owned(card(A, 1, "S1"), card(B, 2, "S2"), consumers=2)
    host = seen(host, card(A, 1, "S2"), card(B, 2, "S1"), boot="b2")
    assert [device.displaced is not None for device in host.view.held.values()] == [True, True]
    assert seen(host, card(A, 1, "S1"), card(B, 2, "S2"), boot="b3").view.displaced == {}


def test_a_card_in_another_slot_at_the_same_address_is_the_same_by_its_serial() -> None:
    host = owned(card(A, 1, "S1"))
    assert blocks(seen(host, card(A, 2, "S1"), boot="b2")) == {}


def test_a_serial_that_cannot_be_read_changes_nothing() -> None:
    host = owned(card(A, 1, "S1"))
    assert blocks(seen(host, card(A, 1))) == {}
    host = owned(card(A, 1))
    assert blocks(seen(host, card(A, 1, "S1"))) == {}


def test_an_owned_device_that_is_only_gone_is_no_wrong_device() -> None:
    host = owned(card(A, 1, "S1"), card(B, 2, "S2"))
    host = seen(host, card(B, 2, "S2"))
    assert (statuses(host)[A], blocks(host), offered(host)) == (Status.ALLOCATED, {}, 1)


def test_twins_with_one_serial_that_may_be_either_are_both_refused() -> None:
    host = owned(card(A, 1, "same"), card(B, 2, "same"))
    host = seen(host, replace(card(B, 1, "same"), path=None), replace(card(C, 2, "same"), path=None))
    assert blocks(host) == {A: ["wrong_device"], B: ["wrong_device"], C: ["wrong_device"]}
    assert "0000:3b:00.0 or 0000:3c:00.0: nothing tells which" in reasons(host, A)[0]


def test_the_relatives_of_what_may_be_owned_go_to_nobody_else() -> None:
    nic, first, second = "0000:81:00.0", "0000:81:02.0", "0000:81:02.1"
    moved = "0000:82:00.0", "0000:82:02.0", "0000:82:02.1"

    def a_nic(addresses: Sequence[str]) -> list[PciFunction]:
        path = "0000:80/00.0/00.0"
        vfs = [
            vf(address, addresses[0], vf_index=number, path=f"{path}+vf{number}")
            for number, address in enumerate(addresses[1:])
        ]
        return [pf(addresses[0], path=path), *vfs]

    host = tracker(*a_nic((nic, first, second)))
    allocate(host, "vm1", A_VF)
    host = seen(host, *a_nic(moved), boot="b2")
    assert blocks(host) == {first: ["wrong_device"], moved[0]: ["wrong_device"], moved[1]: ["wrong_device"]}
    assert take(host, "vm2", A_VF) == [moved[2]]
    host = tracker(*a_nic((nic, first, second)))
    allocate(host, "vm1", A_PF)
    host = seen(host, *a_nic(moved), boot="b2")
    assert (offered(host), len(blocks(host))) == (0, 4)


def test_the_iommu_group_of_what_may_be_owned_goes_to_nobody_else() -> None:
    host = owned(card(A, 1), card("0000:3a:00.1", 1, product_id="10f7", iommu_group=1))
    host = seen(host, card(B, 1, iommu_group=7), card("0000:3b:00.1", 1, product_id="10f7", iommu_group=7), boot="b2")
    assert blocks(host)["0000:3b:00.1"] == ["wrong_device"]
    assert "0000:3b:00.0, its relative, may be the device that vm1 holds" in reasons(host, "0000:3b:00.1")[0]


HANDING_OVER: dict[str, Callable[[PciDeviceTracker], object]] = {
    "preparing": lambda host: host.prepared(at(A)),
    "a definition": lambda host: refuse_displaced(host.view.owned_by("vm1")),
}


@pytest.mark.parametrize("what", HANDING_OVER)
def test_what_is_displaced_is_never_handed_over(what: str) -> None:
    host = owned(card(A, 1, "S1"))
    HANDING_OVER[what](host)
    host = seen(host, card(A, 2, "S2"), boot="b2")
    with pytest.raises(LanewayError, match=r"serial S1 was recorded at .* it is .* serial S2") as refusal:
        HANDING_OVER[what](host)
    assert refusal.value.code is ErrorCode.WRONG_DEVICE


def test_that_a_device_is_displaced_is_stored_for_those_that_see_no_host() -> None:
    host = owned(card(A, 1, "S1"))
    host = seen(host, card(B, 1, "S1"), boot="b2")
    stored = host.state.held[at(A)]
    assert stored.displaced == host.view.held[at(A)].displaced is not None
    assert host.settle().is_empty
    host = seen(host, card(A, 1, "S1"), boot="b3")
    assert host.state.held[at(A)].displaced is None


def test_freeing_an_owned_device_that_is_displaced_frees_what_it_is_now() -> None:
    host = seen(owned(card(A, 1, "S1")), card(B, 1, "S1"), boot="b2")
    give_back(host, "vm1")
    assert (statuses(host), blocks(host), offered(host)) == ({B: Status.AVAILABLE}, {}, 1)


def test_facts_of_another_device_are_not_taken_for_those_of_an_owned_one() -> None:
    host = seen(owned(card(A, 1, "S1")), card(A, 2, "S2", driver="nvme", opened_by=opened()), boot="b2")
    device = host.view.held[at(A)]
    assert (device.function.driver, device.function.opened_by) == (None, None)


# what nobody owns


def dirty(*cards: PciFunction) -> PciDeviceTracker:
    """A host whose first card is dirty."""
    host = owned(*cards, specs=ONCE)
    give_back(host, "vm1")
    return host


@pytest.mark.parametrize("serials", [("S1", "S2"), (None, None)], ids=["with serials", "without serials"])
def test_a_dirty_device_is_followed_to_its_new_address(serials: Sequence[str | None]) -> None:
    host = dirty(card(A, 1, serials[0]), card(B, 2, serials[1]))
    host = seen(host, card(B, 1, serials[0]), card(C, 2, serials[1]), boot="b2", specs=ONCE)
    assert (statuses(host), blocks(host)) == ({B: Status.DIRTY, C: Status.AVAILABLE}, {})
    do(host, lambda tracked: tracked.cleaned(at(B)))
    assert (statuses(host), host.state.held) == ({B: Status.AVAILABLE, C: Status.AVAILABLE}, {})


def test_a_releasing_device_is_followed_to_its_new_address() -> None:
    host = owned(card(A, 1), card(B, 2))
    do(host, prepared(A))
    give_back(host, "vm1")
    host = seen(host, card(B, 1), card(C, 2), boot="b2")
    assert statuses(host) == {B: Status.RELEASING, C: Status.AVAILABLE}
    do(host, released(B))
    assert offered(host) == 2


def test_two_dirty_devices_that_changed_places_are_both_followed() -> None:
    host = dirty(card(A, 1, "S1"), card(B, 2, "S2"))
    allocate(host, "vm2")
    give_back(host, "vm2")
    host = seen(host, card(A, 2, "S2"), card(B, 1, "S1"), boot="b2", specs=ONCE)
    assert {str(a): device.function.vpd for a, device in host.view.held.items()} == {
        A: Vpd(card_serial_number="S2"),
        B: Vpd(card_serial_number="S1"),
    }
    assert blocks(host) == {}


def test_a_dirty_device_at_the_address_of_an_owned_one_waits_until_that_is_freed() -> None:
    host = owned(card(A, 1, "S1"), card(B, 2, "S2"), consumers=2, specs=ONCE)
    give_back(host, "vm1")
    host = seen(host, card(A, 2, "S2"), card(B, 1, "S1"), boot="b2", specs=ONCE)
    assert statuses(host) == {A: Status.DIRTY, B: Status.ALLOCATED}
    with refused(ErrorCode.WRONG_DEVICE):
        host.cleaned(at(A))
    assert offered(host) == 0
    give_back(host, "vm2")
    host = seen(host, card(A, 2, "S2"), card(B, 1, "S1"), boot="b3", specs=ONCE)
    assert {str(a): device.status for a, device in host.view.held.items()} == {A: Status.DIRTY, B: Status.DIRTY}
    assert blocks(host) == {}


def test_a_card_that_was_put_in_the_place_of_a_dirty_one_waits_until_an_operator_says_that_it_is_gone() -> None:
    host = dirty(card(A, 1, "S1"))
    host = seen(host, card(A, 1, "S2"), boot="b2", specs=ONCE)
    assert (statuses(host), blocks(host), offered(host)) == ({A: Status.DIRTY}, {A: ["wrong_device"]}, 0)
    with pytest.raises(LanewayError, match=r"'laneway uncordon 0000:3a:00\.0' forgets it"):
        host.cleaned(at(A))
    do(host, lambda tracked: tracked.uncordon(at(A)))
    assert (statuses(host), blocks(host), offered(host)) == ({A: Status.AVAILABLE}, {}, 1)


def test_uncordon_forgets_no_device_that_is_somewhere_or_somebodys() -> None:
    host = seen(owned(card(A, 1, "S1")), card(A, 1, "S2"), boot="b2")
    assert host.uncordon(at(A)).is_empty
    host = owned(card(A, 1, "S1"), card(B, 2, "S2"), consumers=2, specs=ONCE)
    give_back(host, "vm1")
    host = seen(host, card(A, 2, "S2"), card(B, 1, "S1"), boot="b2", specs=ONCE)
    assert host.uncordon(at(A)).is_empty


def test_a_dirty_device_that_is_only_gone_stays_dirty() -> None:
    host = seen(dirty(card(A, 1, "S1"), card(B, 2, "S2")), card(B, 2, "S2"), boot="b2", specs=ONCE)
    assert statuses(host) == {A: Status.DIRTY, B: Status.AVAILABLE}
    assert statuses(seen(host, card(B, 2, "S2"), card(D, 7, "S1"), boot="b3", specs=ONCE))[D] is Status.DIRTY


def test_a_dirty_device_is_followed_below_a_root_that_was_renumbered() -> None:
    host = dirty(card(A, 1), card(B, 2))
    after = [replace(one, path=(one.path or "").replace("0000:30", "0000:31")) for one in (card(B, 1), card(C, 2))]
    assert statuses(seen(host, *after, boot="b2", specs=ONCE)) == {B: Status.DIRTY, C: Status.AVAILABLE}


# cordons


def cordoned(host: PciDeviceTracker) -> list[str]:
    return [address for address, codes in blocks(host).items() if "cordoned" in codes]


@pytest.mark.parametrize("serials", [("S1", "S2"), (None, None)], ids=["with serials", "without serials"])
def test_a_cordon_follows_its_device(serials: Sequence[str | None]) -> None:
    host = tracker(card(A, 1, serials[0]), card(B, 2, serials[1]))
    do(host, lambda tracked: tracked.cordon(at(A), "fan is loud"))
    host = seen(host, card(B, 1, serials[0]), card(C, 2, serials[1]), boot="b2")
    assert (cordoned(host), offered(host)) == ([B], 1)
    assert reasons(host, B) == ["cordoned by an operator: fan is loud"]
    host = seen(host, card(A, 1, serials[0]), card(B, 2, serials[1]), boot="b3")
    assert cordoned(host) == [A]


def test_cordons_of_two_cards_that_changed_places_change_too() -> None:
    host = tracker(card(A, 1, "S1"), card(B, 2, "S2"))
    do(host, lambda tracked: tracked.cordon(at(A), "one"), lambda tracked: tracked.cordon(at(B), "two"))
    host = seen(host, card(A, 1, "S2"), card(B, 2, "S1"), boot="b2")
    assert [host.view.marks[at(address)][0].detail for address in (A, B)] == ["two", "one"]


def test_a_cordon_of_what_is_gone_stays_where_it_was() -> None:
    host = tracker(card(A, 1, "S1"), card(B, 2, "S2"))
    do(host, lambda tracked: tracked.cordon(at(A)))
    host = seen(host, card(A, 2, "S2"), boot="b2")
    assert (cordoned(host), offered(host)) == ([A], 0)
    do(host, lambda tracked: tracked.uncordon(at(A)))
    assert offered(host) == 1


def test_a_cordon_does_not_drive_out_that_of_a_device_that_stays() -> None:
    host = tracker(card(A, 1, "S1"), card(B, 2))
    do(host, lambda tracked: tracked.cordon(at(A), "one"), lambda tracked: tracked.cordon(at(B), "two"))
    host = seen(host, replace(card(B, 1, "S1"), path=None), boot="b2")
    assert host.view.marks[at(B)][0].detail == "two"
    assert offered(host) == 0


def test_a_cordon_of_an_owned_device_is_lifted_where_it_was_put() -> None:
    host = owned(card(A, 1, "S1"))
    do(host, lambda tracked: tracked.cordon(at(A)), lambda tracked: tracked.uncordon(at(A)))
    assert host.state.blocks == {}


def test_a_claim_takes_what_is_at_an_address_today() -> None:
    host = tracker(card(A, 1, "S1"), card(B, 2, "S2"))
    host = seen(host, card(A, 2, "S2"), card(B, 1, "S1"), boot="b2")
    claimed = host.claim(claim("vm1"))
    held = claimed.update.held[PciAddress.parse(A)]
    assert held is not None
    assert held.function.vpd == Vpd(card_serial_number="S2")
    assert host.claim(claim("vm1", wants(count=2))).record.devices["r"] == (at(A), at(B))
