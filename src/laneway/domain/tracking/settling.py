"""What a host's newest report makes of what is stored: another boot has begun, cards have other addresses."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, PciDevice
from laneway.domain.identity import identifying
from laneway.domain.inventory import PciFunction
from laneway.domain.tracking.claim import Update
from laneway.domain.tracking.host_view import HostView

_Marks = tuple[BlockReason, ...]
_Record = TypeVar("_Record", PciDevice, _Marks)


def settle(view: HostView) -> Update:
    """The changes of stored records that follow from the report. Nothing where it is like the one before.

    After another boot nothing counts as prepared, as that boot prepared nothing; what was releasing
    stays so until the release is reported. The IOMMU group of a held device is kept up to date:
    while the device is gone its last one binds, and after another boot none does. What nobody owns
    follows its device to another address; what somebody owns stays, and is refused while it is displaced.
    """
    state = view.state
    held = {address: _as_of_today(view, device) for address, device in state.held.items()}
    moved = {
        address: found for address in view.displaced if not held[address].is_owned and (found := _found(view, address))
    }
    now = view.report.inventory.boot_id
    return Update(
        held=_changes(state.held, _moved(held, moved, _with_device)),
        blocks=_changes(state.blocks, _moved(state.blocks, _moved_marks(view), _with_marks)),
        boot_id=now if now != state.boot_id else None,
    )


def _as_of_today(view: HostView, device: PciDevice) -> PciDevice:
    address = device.address
    displaced = view.displaced.get(address)
    device = replace(device, displaced=None if displaced is None else displaced.message)
    found = None if displaced is not None else view.report.inventory.by_address.get(address)
    group = None if found is None else found.iommu_group
    if view.is_another_boot:
        device = replace(device, prepared=False, placeholders=())
    elif group is None:
        return device
    return replace(device, function=replace(device.function, iommu_group=group))


def _found(view: HostView, address: PciAddress) -> PciFunction | None:
    """Where a displaced device stands, if that is one place."""
    places = view.displaced[address].found
    return places[0] if len(places) == 1 else None


def _moved_marks(view: HostView) -> dict[PciAddress, PciFunction]:
    """Where the marks of an address go: to one place, all of them, or they stay."""
    moved = {}
    for address, reasons in view.marks.items():
        places = {_place(view, reason) for reason in reasons}
        place = places.pop()
        if place is not None and not places:
            moved[address] = place
    return moved


def _place(view: HostView, reason: BlockReason) -> PciFunction | None:
    displaced = None if reason.function is None else view.displacement_of(reason.function)
    return displaced.found[0] if displaced is not None and len(displaced.found) == 1 else None


def _with_device(device: PciDevice, found: PciFunction) -> PciDevice:
    return replace(device, function=found, placeholders=(), displaced=None)


def _with_marks(reasons: _Marks, found: PciFunction) -> _Marks:
    return tuple(replace(reason, function=identifying(found)) for reason in reasons)


def _moved(
    records: Mapping[PciAddress, _Record],
    moves: Mapping[PciAddress, PciFunction],
    onto: Callable[[_Record, PciFunction], _Record],
) -> dict[PciAddress, _Record]:
    """The records, those that move at their new addresses. None takes the place of one that stays."""
    moving: dict[PciAddress, PciFunction] = {}
    for address, found in sorted(moves.items()):
        if found.address not in (other.address for other in moving.values()):
            moving[address] = found
    while stuck := [address for address, found in moving.items() if found.address in records.keys() - moving.keys()]:
        for address in stuck:
            del moving[address]
    left = {address: record for address, record in records.items() if address not in moving}
    return left | {found.address: onto(records[address], found) for address, found in moving.items()}


def _changes(
    before: Mapping[PciAddress, _Record], after: Mapping[PciAddress, _Record]
) -> dict[PciAddress, _Record | None]:
    """What has to be stored, so that the records are as they are after it."""
    addresses = sorted(before.keys() | after.keys())
    return {address: after.get(address) for address in addresses if before.get(address) != after.get(address)}
