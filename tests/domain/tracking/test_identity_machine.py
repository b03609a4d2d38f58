"""Cards as they are in a machine, whatever addresses its boots give them: none is ever taken for another.

The machine knows which card is which; the tracker only what a host reports. Cards without a serial
number stay in their slots, as nobody could tell that they were changed.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from domain.hosts import A_PF, A_VF, claim, function, pf, report, vf, wants
from domain.tracking.test_tracker import refused
from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction, Vpd
from laneway.domain.tracking.tracker import Claimed, PciDeviceTracker

ROOTS = ("0000:10", "0000:80")
SLOTS = tuple((root, port) for root in ROOTS for port in (1, 2, 3))
Slot = tuple[str, int]
Unit = tuple[str, int]
"""A card by its name, and of a NIC which VF of it; -1 is the card itself, or the PF."""


@dataclass(frozen=True)
class Card:
    """``serial``: what the card tells; several cards are alike but for it."""

    name: str
    serial: str | None
    is_nic: bool = False

    def functions(self, slot: Slot, bus: int) -> Iterator[tuple[Unit, PciFunction]]:
        root, port = slot
        path = f"{root}/{port:02x}.0/00.0"
        vpd = None if self.serial is None else Vpd(card_serial_number=self.serial)
        known: dict[str, Any] = {"vpd": vpd, "subsystem_vendor_id": "8086", "subsystem_id": "0001"}
        address = f"0000:{bus:02x}:00.0"
        if not self.is_nic:
            yield (self.name, -1), function(address, path=path, **known)
            return
        yield (self.name, -1), pf(address, path=path, **known)
        for index in range(2):
            place = f"0000:{bus:02x}:10.{index}"
            yield (self.name, index), vf(place, address, vf_index=index, path=f"{path}+vf{index}", **known)


CARDS = (
    Card("a", "S1"),
    Card("b", "S2"),
    Card("c", None),
    Card("d", None),
    Card("m", "N1", is_nic=True),
    Card("n", None, is_nic=True),
)
BY_NAME = {card.name: card for card in CARDS}


@dataclass
class Machine:
    """Which card is in which slot, and how many buses each slot takes up in this boot."""

    slots: dict[Slot, str]
    widths: dict[Slot, int] = field(default_factory=dict)

    def units(self) -> dict[Unit, PciFunction]:
        """What is there, by what it is: buses are numbered in order of the slots, as firmware and kernel do."""
        found: dict[Unit, PciFunction] = {}
        for root in ROOTS:
            bus = int(root[-2:], 16)
            for slot in SLOTS:
                if slot[0] == root:
                    bus += self.widths.get(slot, 1)
                    if slot in self.slots:
                        found |= dict(BY_NAME[self.slots[slot]].functions(slot, bus))
        return found


WIDTHS = st.sampled_from([{}, {SLOTS[0]: 2}, {SLOTS[3]: 2}, {SLOTS[1]: 3, SLOTS[4]: 2}])
SERIAL = [card.name for card in CARDS if card.serial is not None]
KINDS = (wants(product_id="37c8"), A_PF, A_VF)


class IdentityMachine(RuleBasedStateMachine):
    """Claims, cordons and cleanings of cards, and boots that renumber buses after cards were moved."""

    @initialize(widths=WIDTHS)
    def start(self, widths: dict[Slot, int]) -> None:
        self.machine = Machine(dict(zip(SLOTS, BY_NAME, strict=True)), widths)
        self.boots = count(1)
        self.claims = count(1)
        self.owned: dict[str, Unit] = {}
        self.unclean: set[Unit] = set()
        self.cordoned: set[Unit] = set()
        self.tracker = PciDeviceTracker(self.report())
        self.sync()

    # what the operator and guests do

    @rule(kind=st.sampled_from(KINDS), prepared=st.booleans())
    def claim_and_allocate(self, kind: Any, prepared: bool) -> None:
        name = f"vm{next(self.claims)}"
        with suppress(LanewayError):  # there is none left
            self.give(name, self.tracker.claim(claim(name, kind)), prepared=prepared)

    def give(self, name: str, claimed: Claimed, *, prepared: bool) -> None:
        (address,) = claimed.record.devices["r"]
        self.owned[name] = self.at(address)
        self.tracker.apply(claimed.update)
        self.tracker.apply(self.tracker.allocate(consumer=name))
        if prepared:
            self.tracker.apply(self.tracker.prepared(address))

    @precondition(lambda self: self.owned)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.owned)))
        self.tracker.apply(self.tracker.free(consumer=name))
        self.unclean.add(self.owned.pop(name))

    @rule(data=st.data())
    def clean(self, data: st.DataObject) -> None:
        """What is freed is released and cleaned, where the host sees the right device."""
        there = {one.address for one in self.machine.units().values()}
        freed = sorted(a for a, device in self.tracker.view.held.items() if not device.is_owned and a in there)
        if not freed:
            return
        address = data.draw(st.sampled_from(freed))
        if self.tracker.view.held[address].status is Status.RELEASING:
            self.tracker.apply(self.tracker.released(address))
            return
        if address in self.tracker.view.displaced:
            with refused(ErrorCode.WRONG_DEVICE):
                self.tracker.cleaned(address)
            return
        unit = self.at(address)
        assert unit in self.unclean, "never is another card cleaned"
        self.tracker.apply(self.tracker.cleaned(address))
        self.unclean.discard(unit)

    @rule(data=st.data(), on=st.booleans())
    def cordon(self, data: st.DataObject, on: bool) -> None:
        units = self.machine.units()
        free = sorted(unit for unit in units if units[unit].address not in self.tracker.view.held)
        if not free:
            return
        unit = data.draw(st.sampled_from(free))
        address = units[unit].address
        if on and address not in self.tracker.view.marks:
            self.tracker.apply(self.tracker.cordon(address))
            self.cordoned.add(unit)
        elif not on and unit in self.cordoned:
            self.tracker.apply(self.tracker.uncordon(address))
            self.cordoned.discard(unit)

    # what happens to the machine

    @rule(widths=WIDTHS, order=st.permutations([*SERIAL, None, None]), move=st.booleans())
    def boot(self, widths: dict[Slot, int], order: list[str | None], move: bool) -> None:
        """Cards with serials may be in other slots, or taken out; all buses may be numbered anew."""
        if move:
            fixed = {slot: name for slot, name in self.machine.slots.items() if name not in SERIAL}
            empty = [slot for slot in SLOTS if slot not in fixed]
            moved = {slot: name for slot, name in zip(empty, order, strict=False) if name is not None}
            self.machine.slots = fixed | moved
        self.machine.widths = widths
        next(self.boots)
        self.sync()
        self.freed_devices_are_followed()

    @rule()
    def restart(self) -> None:
        self.tracker = PciDeviceTracker(self.report(), self.tracker.state)
        self.sync()

    def sync(self) -> None:
        self.tracker = self.tracker.sync(self.report()).tracker
        self.tracker.apply(self.tracker.settle())
        assert self.tracker.settle().is_empty

    def report(self) -> Any:
        told = report(*self.machine.units().values(), specs=[{"address": "*", "one_time_use": True}])
        number = repr(self.boots)
        return replace(told, inventory=replace(told.inventory, boot_id=number))

    def at(self, address: PciAddress) -> Unit:
        return next(unit for unit, one in self.machine.units().items() if one.address == address)

    @invariant()
    def no_owned_device_is_shown_as_another(self) -> None:
        units = self.machine.units()
        view = self.tracker.view
        for name, unit in self.owned.items():
            (device,) = view.owned_by(name)
            here = {one.address: other for other, one in units.items()}.get(device.address)
            if device.displaced is None:
                assert here in (None, unit)
            if here == unit:
                assert device.displaced is None, "it is where it was, so it can be used"
            elif unit in units:
                assert device.displaced is not None
                assert str(units[unit].address) in device.displaced, "both are named"

    @invariant()
    def what_is_taken_or_unclean_or_cordoned_is_offered_to_nobody(self) -> None:
        units = self.machine.units()
        view = self.tracker.view
        for unit in (*self.owned.values(), *self.unclean, *self.cordoned):
            if unit in units:
                address = units[unit].address
                assert view.status_of(address) is not Status.AVAILABLE or view.blocked_by(address)
        for address, device in view.held.items():
            assert view.status_of(address) is device.status, "and what stands at the address of another neither"

    @invariant()
    def what_conflicts_with_a_taken_one_is_offered_to_nobody(self) -> None:
        units = self.machine.units()
        view = self.tracker.view
        for name, index in (*self.owned.values(), *self.unclean):
            for other, one in units.items():
                if other[0] == name and (other[1] == -1) is not (index == -1):
                    assert view.status_of(one.address) is not Status.AVAILABLE or view.blocked_by(one.address)

    def freed_devices_are_followed(self) -> None:
        """Unless the address is still that of another device, which is owned or gone."""
        units = self.machine.units()
        view = self.tracker.view
        if any(
            device.is_owned or not view.displaced[a].found for a, device in view.held.items() if a in view.displaced
        ):
            return
        for unit in self.unclean & units.keys():
            held = view.held[units[unit].address]
            assert (held.is_owned, held.displaced) == (False, None)


IdentityMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
TestIdentity = IdentityMachine.TestCase
