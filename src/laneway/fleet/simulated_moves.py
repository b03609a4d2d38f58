"""The step ``move`` of a scenario: a move from the one host that a scenario has to itself."""

from collections.abc import Callable

from laneway.contracts.answer import Json, step_json
from laneway.contracts.scenario import Step
from laneway.domain.device import PciDevice
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.requests.request_shape import refused
from laneway.domain.tracking import moves
from laneway.domain.tracking.claim import MoveKind, MoveOrigin
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.fleet.explain import explained

VERBS = ("start", "confirm", "revert", "abort")
_ASKS = ("requests", "flavor", "ports")
_HOST = "this host"

ReadClaim = Callable[[Step], ClaimRequest]


def play_move(tracker: PciDeviceTracker, step: Step, read_claim: ReadClaim) -> Json:
    """Plays one verb, and answers it with the new address for each old one as ``moved``.

    Raises LanewayError: invalid_request, no_move, move_in_progress, not_migratable, and as a claim does.
    """
    consumer, verb = step.text("consumer"), step.text("verb")
    if not consumer:
        raise refused("consumer", consumer, "is missing; a move is of one consumer's devices")
    if verb == "start":
        return _start(tracker, step, read_claim, consumer)
    if verb == "confirm":
        return _confirm(tracker, step, consumer)
    if verb in ("revert", "abort"):
        return _revert(tracker, step, consumer)
    raise refused("verb", verb, f"is no verb of a move; there are {', '.join(VERBS)}")


def _start(tracker: PciDeviceTracker, step: Step, read_claim: ReadClaim, consumer: str) -> Json:
    kind = _kind(step)
    origin = moves.origin_of(kind, _HOST, tracker.view, consumer)
    request = read_claim(step) if any(step.values.get(key) is not None for key in _ASKS) else None
    wanted = request or moves.as_before(tracker.view, origin, consumer, step.text("claim") or f"move of {consumer}")
    with explained(tracker, moves.as_moved(wanted, kind)):
        started = moves.start(tracker, wanted, origin)
    tracker.apply(started.update)
    record = started.record
    answer = step_json(step.op, tracker, devices=record.devices, proven_best=record.proven_best)
    return {**answer, "moved": _moved(tracker, _old(tracker, record.move), wanted.claim)}


def _confirm(tracker: PciDeviceTracker, step: Step, consumer: str) -> Json:
    claim = step.text("claim") or moves.pending(tracker.view, consumer) or moves.last_confirmed(tracker.view, consumer)
    record = tracker.view.claims.get(claim or "")
    if claim is None or record is None or record.move is None or record.request.consumer != consumer:
        raise moves.no_move(consumer, _HOST)
    old = _old(tracker, record.move)
    if not record.move.confirmed:
        gained = moves.confirm_destination(tracker, claim)
        tracker.apply(moves.together(moves.free_source(tracker, consumer, record.move), gained))
    return {**step_json(step.op, tracker), "moved": _moved(tracker, old, claim)}


def _revert(tracker: PciDeviceTracker, step: Step, consumer: str) -> Json:
    claim = step.text("claim") or moves.pending(tracker.view, consumer)
    if claim is not None:
        tracker.apply(moves.take_back(tracker, consumer, claim))
    return step_json(step.op, tracker)


def _kind(step: Step) -> MoveKind:
    kind = step.text("kind")
    if kind is None:
        return MoveKind.COLD
    if kind not in list(MoveKind):
        raise refused("kind", kind, f"is no kind of move; there are {', '.join(MoveKind)}")
    return MoveKind(kind)


def _old(tracker: PciDeviceTracker, move: MoveOrigin | None) -> list[PciDevice]:
    return [device for address in (move.devices if move else ()) if (device := tracker.view.device(address))]


def _moved(tracker: PciDeviceTracker, old: list[PciDevice], claim: str) -> dict[str, str]:
    new = [device for device in tracker.view.held.values() if device.claim == claim]
    return {str(before): str(after) for before, after in moves.successors(old, new).items()}
