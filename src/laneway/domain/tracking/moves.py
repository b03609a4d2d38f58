"""Moves: a consumer's devices change host, or set (rules C48, C80, C82, C83).

A move is a claim on the destination that knows what it takes the place of. Until it is confirmed
the consumer holds both; then the old devices are freed, or the new ones, where it is taken back.
So there is nothing beside the claims that could disagree with them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import ClaimRequest, Constraint, DeviceRequest
from laneway.domain.tracking.claim import ClaimRecord, MoveKind, MoveOrigin, Update
from laneway.domain.tracking.host_view import HostView
from laneway.domain.tracking.tracker import Claimed, PciDeviceTracker


def origin_of(kind: MoveKind, host: str, source: HostView, consumer: str) -> MoveOrigin:
    """What a move that starts now takes the place of: all that the consumer has on its host.

    Raises LanewayError(not_migratable) where a guest cannot run on while a device of it moves.
    """
    if kind is MoveKind.UNSHELVE:
        return MoveOrigin(kind=kind)
    under_way = pending(source, consumer)
    devices = [device for device in source.owned_by(consumer) if under_way is None or device.claim != under_way]
    if kind is MoveKind.LIVE:
        for device in devices:
            _require_migratable(source, device)
    return MoveOrigin(kind=kind, host=host, devices=tuple(device.address for device in devices))


def require_other_host(kind: MoveKind, source: str | None, destination: str) -> None:
    """Raises LanewayError(same_host): a live migration and an evacuation leave their host, and nothing else need."""
    if source == destination and kind in (MoveKind.LIVE, MoveKind.EVACUATION):
        raise LanewayError(
            ErrorCode.SAME_HOST,
            f"the {kind} move is from {source} to itself; name another host, or resize on this one",
            {"host": destination, "kind": str(kind)},
        )


def as_before(source: HostView, origin: MoveOrigin, consumer: str, claim: str) -> ClaimRequest:
    """The claim for what was asked for when the old devices were claimed.

    Raises LanewayError(no_claim) where they are of no claim, so that it is not known.
    """
    requests, constraints = _same_requests(source, origin)
    if not requests:
        raise LanewayError(
            ErrorCode.NO_CLAIM,
            f"{consumer} has no devices by a claim on its host, so it has to be said what it needs: give requests",
            {"consumer": consumer},
        )
    return ClaimRequest(consumer=consumer, claim=claim, requests=requests, constraints=constraints)


def start(destination: PciDeviceTracker, request: ClaimRequest, origin: MoveOrigin) -> Claimed:
    """Claims the devices on the destination, before anything of the source is given up (rule C83).

    A request for nothing is a move to a size of VM that has no devices.
    Started again with the same claim id it is answered the same. Raises as ``PciDeviceTracker.claim``
    does, and LanewayError(move_in_progress) where another move of the consumer is under way.
    """
    known = destination.view.claims.get(request.claim)
    if known is not None and known.move is not None and known.move.kind is origin.kind:
        origin = known.move
    elif known is not None:
        raise LanewayError(
            ErrorCode.CLAIM_CONFLICT,
            f"claim {request.claim} exists, and is no {origin.kind} move; choose another id for the move",
            {"claim": request.claim, "consumer": known.request.consumer},
        )
    under_way = pending(destination.view, request.consumer)
    if under_way is not None and under_way != request.claim:
        raise LanewayError(
            ErrorCode.MOVE_IN_PROGRESS,
            f"{request.consumer} is being moved already, by claim {under_way}; confirm or revert that move first",
            {"consumer": request.consumer, "claim": under_way},
        )
    if known is None and origin.kind is MoveKind.UNSHELVE:
        _require_offloaded(destination.view, request.consumer)
    if known is None and not request.requests:
        record = ClaimRecord(request=request, devices={}, move=origin)
        return Claimed(record, Update(claims={request.claim: record}))
    claimed = destination.claim(as_moved(request, origin.kind))
    if claimed.repeated:
        return claimed
    record = replace(claimed.record, move=origin)
    return replace(claimed, record=record, update=replace(claimed.update, claims={request.claim: record}))


def as_moved(request: ClaimRequest, kind: MoveKind) -> ClaimRequest:
    """The claim that such a move makes: what takes over from a running guest's devices has to be able to (rule C82)."""
    if kind is not MoveKind.LIVE:
        return request
    return replace(request, requests=tuple(_migratable_request(one) for one in request.requests))


def pending(view: HostView, consumer: str) -> str | None:
    """The claim that is the destination of the consumer's move under way on this host, or None."""
    for claim, record in view.claims.items():
        if record.request.consumer == consumer and record.move is not None and not record.move.confirmed:
            return claim
    return None


def last_confirmed(view: HostView, consumer: str) -> str | None:
    """The claim that was the destination of a confirmed move of the consumer; of several the last by its id."""
    return max(
        (
            claim
            for claim, record in view.claims.items()
            if record.request.consumer == consumer and record.move is not None and record.move.confirmed
        ),
        default=None,
    )


def confirm_destination(destination: PciDeviceTracker, claim: str) -> Update:
    """The new devices are the consumer's for good: allocated, where they were not yet."""
    record = destination.view.claims[claim]
    devices = destination.view.owned_by(record.request.consumer)
    waiting = any(device.claim == claim and device.status is Status.CLAIMED for device in devices)
    update = destination.allocate(claim=claim) if waiting else Update()
    kept = update.claims.get(claim) or record
    move = None if kept.move is None else replace(kept.move, confirmed=True)
    return replace(update, claims={claim: replace(kept, move=move)})


def free_source(source: PciDeviceTracker, consumer: str, origin: MoveOrigin) -> Update:
    """The old devices go back, as far as the consumer still has them."""
    owned = {device.address for device in source.view.owned_by(consumer)}
    return source.free(consumer=consumer, addresses=[address for address in origin.devices if address in owned])


def take_back(destination: PciDeviceTracker, consumer: str, claim: str) -> Update:
    """The new devices go back: the move is as if it had never been. Without that claim there is nothing to do.

    Raises LanewayError(no_move) where the claim is no move of the consumer, and LanewayError(invalid_status)
    where it was confirmed.
    """
    record = destination.view.claims.get(claim)
    if record is None:
        return Update()
    if record.request.consumer != consumer or record.move is None:
        raise no_move(consumer, "this host")
    if record.move.confirmed:
        raise LanewayError(
            ErrorCode.INVALID_STATUS,
            f"the move of {consumer} by claim {claim} was confirmed; move it back by another move",
            {"consumer": consumer, "claim": claim},
        )
    update = destination.free(claim=claim)
    return replace(update, claims={**update.claims, claim: None})


def together(first: Update, second: Update) -> Update:
    """Two updates of one host, on different devices, as one."""
    return Update(
        held={**first.held, **second.held},
        claims={**first.claims, **second.claims},
        blocks={**first.blocks, **second.blocks},
    )


def successors(old: Sequence[PciDevice], new: Sequence[PciDevice]) -> dict[PciAddress, PciAddress]:
    """The new address for each old one, where a request has as many devices as before; others have none."""
    found: dict[PciAddress, PciAddress] = {}
    for request in {device.request for device in old}:
        before = sorted(device.address for device in old if device.request == request)
        after = sorted(device.address for device in new if device.request == request)
        if len(before) == len(after):
            found |= dict(zip(before, after, strict=True))
    return found


def no_move(consumer: str, host: str) -> LanewayError:
    """The error where a move is to be ended that is not under way."""
    return LanewayError(
        ErrorCode.NO_MOVE,
        f"no move of {consumer} to {host} is under way; start one, or look whether it was reverted",
        {"consumer": consumer, "host": host},
    )


def _same_requests(source: HostView, origin: MoveOrigin) -> tuple[tuple[DeviceRequest, ...], tuple[Constraint, ...]]:
    """What was asked for when the devices that are to be replaced were claimed (rule C68: aliases as they were then).

    A request's name that stands in several of these claims gets the claim's id before it.
    """
    claims = {device.claim for address in origin.devices if (device := source.device(address))}
    records = [(claim, source.claims[claim]) for claim in sorted(filter(None, claims)) if claim in source.claims]
    names = Counter(request.name for _, record in records for request in record.request.requests)
    requests: list[DeviceRequest] = []
    constraints: list[Constraint] = []
    for claim, record in records:
        new = {one.name: one.name if names[one.name] == 1 else f"{claim}/{one.name}" for one in record.request.requests}
        requests += [replace(request, name=new[request.name]) for request in record.request.requests]
        constraints += [
            replace(constraint, requests=tuple(new[name] for name in constraint.requests))
            for constraint in record.request.constraints
        ]
    return tuple(requests), tuple(constraints)


def _require_offloaded(view: HostView, consumer: str) -> None:
    """Whoever was shelved and offloaded has no devices, which a confirmed move would have to give up."""
    held = sorted(device.address for device in view.owned_by(consumer))
    if held:
        addresses = [str(address) for address in held]
        message = f"{consumer} holds {', '.join(addresses)}, so it was not offloaded; free that first, or move it cold"
        raise LanewayError(ErrorCode.INVALID_STATUS, message, {"consumer": consumer, "addresses": addresses})


def _require_migratable(source: HostView, device: PciDevice) -> None:
    """Rule C82. The device of a port is unplugged, and its successor plugged, while the guest runs on."""
    if device.tags.get("live_migratable") is True or _is_of_port(source, device):
        return
    raise LanewayError(
        ErrorCode.NOT_MIGRATABLE,
        f"{device.address} of {device.consumer} cannot move with a running guest: its device spec does not say "
        "live_migratable; stop the guest and move it cold",
        {"address": str(device.address), "consumer": device.consumer},
    )


def _is_of_port(source: HostView, device: PciDevice) -> bool:
    record = source.claims.get(device.claim or "")
    requests = () if record is None else record.request.requests
    return any(request.name == device.request and request.requester is not None for request in requests)


def _migratable_request(request: DeviceRequest) -> DeviceRequest:
    if request.requester is not None:
        return request
    return replace(
        request,
        alternatives=tuple(replace(one, tags={**one.tags, "live_migratable": True}) for one in request.alternatives),
    )
