"""The use cases of a move: devices of a consumer change host, or set. Each verb is one transaction on both hosts."""

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking import moves
from laneway.domain.tracking.claim import ClaimRecord, MoveKind, MoveOrigin, Update
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.fleet.control_plane import Clock, ControlPlane
from laneway.fleet.explain import explained
from laneway.interfaces.store import HostTransaction, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """How a move stands: the claim on the destination, and the new address for the old one of each device.

    ``repeated``: it stood like this already, and nothing was changed.
    """

    destination: PciDeviceTracker
    claim: str
    record: ClaimRecord
    successors: Mapping[PciAddress, PciAddress]
    repeated: bool = False


class Moves:
    """Moves between the hosts of a control plane, which have reported to it."""

    def __init__(self, plane: ControlPlane, store: Store, clock: Clock) -> None:
        self._plane = plane
        self._store = store
        self._clock = clock

    def start(
        self,
        kind: MoveKind,
        *,
        source: str | None,
        destination: str,
        consumer: str,
        claim: str,
        request: ClaimRequest | None = None,
    ) -> Moved:
        """Claims on the destination what is to take the place of all that the consumer has on the source.

        ``source`` is None to unshelve. Without a request it is what was asked for when the old devices
        were claimed. Raises as a claim does, LanewayError(not_migratable), LanewayError(move_in_progress),
        LanewayError(same_host), and LanewayError(no_claim) where there is neither a request nor a device.
        """
        moves.require_other_host(kind, source, destination)
        with self._store.transactions({destination, source or destination}) as open_on:
            old = self._tracker(open_on, source or destination)
            new = old if source in (None, destination) else self._tracker(open_on, destination)
            origin = moves.origin_of(kind, source or destination, old.view, consumer)
            wanted = request or moves.as_before(old.view, origin, consumer, claim)
            with explained(new, moves.as_moved(wanted, kind)):
                claimed = moves.start(new, wanted, origin)
            replaced = _devices(old, claimed.record.move)
            if not claimed.repeated:
                open_on[destination].write(claimed.update, action="move start", at=self._clock())
        new.apply(claimed.update)
        return _moved(new, claim, claimed.record, replaced, repeated=claimed.repeated)

    def confirm(self, *, destination: str, consumer: str, claim: str | None = None) -> Moved:
        """Gives the old devices up; the new ones are the consumer's. Confirmed again, it is answered the same.

        Raises LanewayError(no_move).
        """
        source, key = self._source(destination, consumer, claim)
        with self._store.transactions({destination, source or destination}) as open_on:
            new = self._tracker(open_on, destination)
            old = new if source in (None, destination) else self._tracker(open_on, source or destination)
            record = _record_of(new, consumer, key)
            move = record.move or MoveOrigin(kind=MoveKind.UNSHELVE)
            replaced = _devices(old, move)
            if move.confirmed:
                return _moved(new, key, record, replaced, repeated=True)
            gained, lost = moves.confirm_destination(new, key), moves.free_source(old, consumer, move)
            now = self._clock()
            if old is new:
                gained, lost = moves.together(lost, gained), Update()
            open_on[destination].write(gained, action="move confirm", at=now)
            open_on[source or destination].write(lost, action="move confirm", at=now)
        new.apply(gained)
        return _moved(new, key, new.view.claims[key], replaced)

    def revert(self, *, destination: str, consumer: str, claim: str | None = None) -> PciDeviceTracker:
        """Gives the new devices up: the consumer has what it had. Reverted again, nothing changes.

        To abort a live migration is the same. Raises LanewayError(invalid_status) where the move was confirmed.
        """
        with self._store.transaction(destination) as transaction:
            new = self._plane.tracker_on(destination, transaction.state())
            key = claim or moves.pending(new.view, consumer)
            if key is None:
                return new
            update = moves.take_back(new, consumer, key)
            transaction.write(update, action="move revert", at=self._clock())
        new.apply(update)
        return new

    def _tracker(self, open_on: Mapping[str, HostTransaction], host: str) -> PciDeviceTracker:
        return self._plane.tracker_on(host, open_on[host].state())

    def _source(self, destination: str, consumer: str, claim: str | None) -> tuple[str | None, str]:
        """The source of the consumer's move, and its claim; looked at again under the locks."""
        view = self._plane.look(destination).view
        key = claim or moves.pending(view, consumer) or moves.last_confirmed(view, consumer)
        record = view.claims.get(key or "")
        if key is None or record is None or record.move is None or record.request.consumer != consumer:
            raise moves.no_move(consumer, destination)
        return record.move.host, key


def _devices(source: PciDeviceTracker, move: MoveOrigin | None) -> list[PciDevice]:
    """The old devices, as far as they are still there."""
    return [device for address in (move.devices if move else ()) if (device := source.view.device(address))]


def _moved(
    destination: PciDeviceTracker,
    claim: str,
    record: ClaimRecord,
    replaced: list[PciDevice],
    *,
    repeated: bool = False,
) -> Moved:
    new = [device for device in destination.view.owned_by(record.request.consumer) if device.claim == claim]
    return Moved(
        destination=destination,
        claim=claim,
        record=record,
        successors=moves.successors(replaced, new),
        repeated=repeated,
    )


def _record_of(destination: PciDeviceTracker, consumer: str, claim: str) -> ClaimRecord:
    """The claim as it stands under the lock."""
    record = destination.view.claims.get(claim)
    if record is None or record.move is None:
        raise moves.no_move(consumer, destination.view.report.inventory.host or "this host")
    return record
