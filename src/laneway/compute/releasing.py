"""Giving devices back to the host as they were."""

from collections.abc import Collection, Sequence

from laneway.compute.failing import block_after_release, waits_for_somebody
from laneway.compute.managed_host import ManagedHost, stays_taken
from laneway.compute.taken import is_taken, prepared_now, release_of, without_prepared
from laneway.contracts.changes import Change, Changes
from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.host_changes import Step
from laneway.interfaces.journal import JournalState


def release(
    host: ManagedHost,
    consumer: str | None = None,
    addresses: Collection[PciAddress] = (),
    *,
    dry_run: bool = False,
) -> Changes:
    """Gives devices the drivers that they had before: all that is prepared for a consumer, or these, or what was freed.

    Each on its own: what cannot be given back, such as a device that is open, stands in the answer
    with its error. Raises LanewayError: no_claim where the consumer has nothing prepared, not_owner,
    invalid_status where a device is not taken, host_busy.
    """
    if dry_run:
        view, state = host.look(), host.journal.state()
        chosen = _chosen(view, state, consumer, addresses)
        return Changes(
            host=host.name, consumer=consumer, of=tuple(_planned(host, state, a) for a in chosen), dry_run=True
        )
    with host.changing() as view:
        chosen = _chosen(view, host.journal.state(), consumer, addresses)
        return Changes(host=host.name, consumer=consumer, of=give_back(host, chosen))


def release_freed(host: ManagedHost, view: HostView) -> tuple[Change, ...]:
    """Gives back what was freed; for whoever may change the host. Storage and what is to be cleaned stays taken."""
    freed = to_be_released(view)
    kept = frozenset(address for address in freed if stays_taken(view, address))
    return give_back(host, freed, kept)


def to_be_released(view: HostView) -> list[PciAddress]:
    """What was freed and is still on its way back, unless that failed so that somebody has to look."""
    return [address for address in _freed(view) if not waits_for_somebody(view, address)]


def give_back(
    host: ManagedHost, addresses: Sequence[PciAddress], kept: Collection[PciAddress] = ()
) -> tuple[Change, ...]:
    """Releases devices, each on its own; for whoever may change the host."""
    return tuple(_given_back(host, address, keep=address in kept) for address in addresses)


def _given_back(host: ManagedHost, address: PciAddress, *, keep: bool) -> Change:
    state = host.journal.state()
    steps: tuple[Step, ...] = ()
    note: str | None = None
    try:
        if is_taken(state, address):
            action = release_of(state, address, keep=keep)
            steps = host.changer.apply(action)
            note = _note(state, address, keep=keep)
        else:
            host.journal.keep(without_prepared(state, {address}))
        host.tell_released(address)
    except LanewayError as error:
        block_after_release(host, address, error)
        return Change(address=address, error=error)
    return Change(address=address, steps=steps, note=note)


def _planned(host: ManagedHost, state: JournalState, address: PciAddress) -> Change:
    try:
        steps = host.changer.planned(release_of(state, address)) if is_taken(state, address) else ()
    except LanewayError as error:
        return Change(address=address, error=error)
    return Change(address=address, steps=steps, note=_note(state, address, keep=False))


def _note(state: JournalState, address: PciAddress, *, keep: bool) -> str | None:
    others = sorted(state.taken[address].holders - {address}) if address in state.taken else []
    if others:
        return f"it stays with the driver for guests: {others[0]} of its IOMMU group needs that"
    if keep:
        return f"it stays with the driver for guests until the host wants it: laneway release --device {address}"
    return None


def _chosen(
    view: HostView, state: JournalState, consumer: str | None, addresses: Collection[PciAddress]
) -> list[PciAddress]:
    if consumer is None and not addresses:
        return _freed(view)
    prepared = prepared_now(state)
    if consumer is None:
        for address in addresses:
            if not (is_taken(state, address) or address in prepared or address in _freed(view)):
                raise _not_taken(state, address)
        return sorted(set(addresses))
    theirs = sorted(address for address, device in prepared.items() if device.consumer == consumer)
    for address in addresses:
        if address not in theirs:
            raise _not_theirs(prepared[address].consumer if address in prepared else None, consumer, address)
    if not theirs:
        raise LanewayError(
            ErrorCode.NO_CLAIM, f"nothing is prepared for {consumer} on this host", {"consumer": consumer}
        )
    return sorted(set(addresses)) or theirs


def _not_taken(state: JournalState, address: PciAddress) -> LanewayError:
    message = f"{address} is not taken from the host, so there is nothing to give back"
    if address in state.taken:
        holder = min(state.taken[address].holders)
        message = (
            f"{address} was taken along for {holder} of its IOMMU group; it comes back with that: --device {holder}"
        )
    return LanewayError(ErrorCode.INVALID_STATUS, message, {"address": str(address)})


def _not_theirs(owner: str | None, consumer: str, address: PciAddress) -> LanewayError:
    detail = {"address": str(address), "owner": owner, "consumer": consumer}
    if owner is None:
        return LanewayError(ErrorCode.INVALID_STATUS, f"{address} is not prepared for {consumer}", detail)
    return LanewayError(ErrorCode.NOT_OWNER, f"{address} is prepared for {owner}, not for {consumer}", detail)


def _freed(view: HostView) -> list[PciAddress]:
    return sorted(address for address, device in view.held.items() if device.status is Status.RELEASING)
