"""Records of another making, or of an unclean end, brought into a state that can be (1969496, D20)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, Status
from laneway.domain.tracking.claim import HELD, HostState


@dataclass(frozen=True, slots=True)
class Healed:
    """The state, and what was not as it should be."""

    state: HostState
    notes: tuple[str, ...]


def heal(records: Iterable[PciDevice]) -> Healed:
    """The state that stored device records stand for.

    Unclaimable and unavailable are not taken over: they follow from who holds what. A record that
    names an owner is believed, whatever its status: a device too much is kept rather than handed
    out twice.
    """
    held: dict[PciAddress, PciDevice] = {}
    notes: list[str] = []
    for record in records:
        device = _healed(record)
        if device is None:
            if record.status is not Status.AVAILABLE:
                notes.append(f"{record.address} was stored as {record.status} without an owner; that is derived now")
            continue
        if device.status is not record.status:
            was = f"{record.address} was stored as {record.status} with owner {record.consumer}"
            notes.append(f"{was}; it is {device.status} now")
        if device.address in held:
            notes.append(f"{record.address} was stored twice; the first record with an owner counts")
            if held[device.address].is_owned or not device.is_owned:
                continue
        held[device.address] = device
    return Healed(HostState(held=held), tuple(notes))


def _healed(record: PciDevice) -> PciDevice | None:
    if record.consumer is not None:
        return record if record.status in HELD and _may_own(record.status) else replace(record, status=Status.ALLOCATED)
    return record if record.status in HELD and not _may_own(record.status) else None


def _may_own(status: Status) -> bool:
    return status in (Status.CLAIMED, Status.ALLOCATED)
