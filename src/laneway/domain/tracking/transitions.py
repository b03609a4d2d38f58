"""The table of statuses: what may happen to a device, and where that leads (rules C34 to C40)."""

from collections.abc import Iterable
from enum import StrEnum

from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError


class Event(StrEnum):
    CLAIM = "claim"
    ALLOCATE = "allocate"
    FREE = "free"
    FREE_TO_CLEAN = "free_to_clean"
    FREE_PREPARED = "free_prepared"
    PREPARE = "prepare"
    GIVE_BACK = "give_back"
    RELEASE = "release"
    RELEASE_TO_CLEAN = "release_to_clean"
    CLEAN = "clean"
    REMOVE = "remove"
    FORGET = "forget"


TRANSITIONS: dict[tuple[Status, Event], Status] = {
    (Status.AVAILABLE, Event.CLAIM): Status.CLAIMED,
    # A device is claimed by its own consumer although a sibling of its IOMMU group is held by it.
    (Status.UNCLAIMABLE, Event.CLAIM): Status.CLAIMED,
    (Status.UNAVAILABLE, Event.CLAIM): Status.CLAIMED,
    # Adoption: the device is in a guest already.
    (Status.AVAILABLE, Event.ALLOCATE): Status.ALLOCATED,
    (Status.UNCLAIMABLE, Event.ALLOCATE): Status.ALLOCATED,
    (Status.UNAVAILABLE, Event.ALLOCATE): Status.ALLOCATED,
    (Status.CLAIMED, Event.ALLOCATE): Status.ALLOCATED,
    (Status.CLAIMED, Event.FREE): Status.AVAILABLE,
    (Status.ALLOCATED, Event.FREE): Status.AVAILABLE,
    (Status.ALLOCATED, Event.FREE_TO_CLEAN): Status.DIRTY,
    (Status.ALLOCATED, Event.FREE_PREPARED): Status.RELEASING,
    (Status.ALLOCATED, Event.PREPARE): Status.ALLOCATED,
    # The host has it back while its claim stays: it may be prepared again.
    (Status.ALLOCATED, Event.GIVE_BACK): Status.ALLOCATED,
    (Status.RELEASING, Event.RELEASE): Status.AVAILABLE,
    (Status.RELEASING, Event.RELEASE_TO_CLEAN): Status.DIRTY,
    (Status.DIRTY, Event.CLEAN): Status.AVAILABLE,
    (Status.AVAILABLE, Event.REMOVE): Status.REMOVED,
    (Status.UNCLAIMABLE, Event.REMOVE): Status.REMOVED,
    (Status.UNAVAILABLE, Event.REMOVE): Status.REMOVED,
    (Status.REMOVED, Event.FORGET): Status.DELETED,
}
"""Everything else is refused. An owned device cannot be removed: it goes when it is freed (C40)."""


def step(status: Status, event: Event, address: object) -> Status:
    """The status that follows.

    Raises LanewayError(invalid_status) for a transition that is not in the table.
    """
    after = TRANSITIONS.get((status, event))
    if after is None:
        possible = sorted(str(before) for before, what in TRANSITIONS if what is event)
        raise LanewayError(
            ErrorCode.INVALID_STATUS,
            f"{address} is {status}; {event} needs a device that is {' or '.join(possible)}",
            {"address": str(address), "status": str(status), "event": str(event)},
        )
    return after


def shadow(holders: Iterable[PciDevice]) -> Status:
    """The status of a free device whose relatives are held by ``holders``.

    A relative that is only claimed makes it unclaimable; one that a guest has, or had and that has
    not been given back and cleaned, makes it unavailable.
    """
    status = Status.AVAILABLE
    for holder in holders:
        if holder.status is not Status.CLAIMED:
            return Status.UNAVAILABLE
        status = Status.UNCLAIMABLE
    return status
