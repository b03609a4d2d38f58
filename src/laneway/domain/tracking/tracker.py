"""The tracker of one host's devices: who holds what. Every operation only says what would change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from laneway.domain.address import PciAddress
from laneway.domain.assignment.problem import SearchExhausted, Solution
from laneway.domain.assignment.solver import DEFAULT_BUDGET
from laneway.domain.device import Attach, BlockReason, PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.identity import identifying
from laneway.domain.inventory import PciFunction
from laneway.domain.report import HostReport
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.blocking import CORDONED
from laneway.domain.tracking.claim import ClaimRecord, HostState, Update
from laneway.domain.tracking.claiming import check_claim, no_choice, same_claim
from laneway.domain.tracking.displacement import refuse_displaced
from laneway.domain.tracking.host_view import HostView, IommuGroups
from laneway.domain.tracking.pools import Pool
from laneway.domain.tracking.selection import select
from laneway.domain.tracking.settling import settle
from laneway.domain.tracking.transitions import Event, step


@dataclass(frozen=True, slots=True)
class Claimed:
    """The answer to a claim. ``repeated``: the same claim was made before, and nothing changes."""

    record: ClaimRecord
    update: Update
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Synced:
    """The tracker over a newer report, and what that changed."""

    tracker: "PciDeviceTracker"
    appeared: tuple[PciDevice, ...] = ()
    vanished: tuple[PciDevice, ...] = ()
    changed: tuple[PciDevice, ...] = ()


class PciDeviceTracker:
    """A state machine over the devices of one host.

    Operations return an ``Update`` and leave the tracker as it was; ``apply`` takes one over,
    once the caller has stored it.
    """

    def __init__(
        self,
        report: HostReport,
        state: HostState | None = None,
        *,
        iommu_groups: IommuGroups = IommuGroups.ENFORCE,
        budget: int = DEFAULT_BUDGET,
    ) -> None:
        """Raises LanewayError(invalid_inventory) where the inventory lists an address twice."""
        self._budget = budget
        self.view = HostView(report, state or HostState(), iommu_groups)

    @property
    def state(self) -> HostState:
        """What a store has to keep."""
        return self.view.state

    def sync(self, report: HostReport) -> Synced:
        """The tracker with newer facts or specs (rules C40 to C43, D25 to D28).

        What is owned stays owned, with deferred changes; nothing of the state is touched, so
        there is nothing to store.
        """
        view = self.view.with_report(report)
        if view is self.view:
            return Synced(self)
        tracker = PciDeviceTracker.__new__(PciDeviceTracker)
        tracker._budget = self._budget
        tracker.view = view
        before, after = self.view, view
        old, new = set(before.addresses()), set(after.addresses())
        return Synced(
            tracker,
            appeared=tuple(d for address in sorted(new - old) if (d := after.device(address))),
            vanished=tuple(d for address in sorted(old - new) if (d := before.device(address))),
            changed=tuple(
                device
                for address in sorted(old & new)
                if (device := after.device(address)) and device is not (was := before.device(address)) and device != was
            ),
        )

    def claim(self, request: ClaimRequest, *, expires_at: datetime | None = None) -> Claimed:
        """Chooses devices for a consumer: the best choice there is, or none (D14, D20 to D23, D34).

        Raises LanewayError(does_not_fit), LanewayError(search_exhausted), LanewayError(claim_conflict) where
        the claim id stands for another claim, LanewayError(invalid_request).
        """
        known = self.view.claims.get(request.claim)
        if known is not None:
            return Claimed(same_claim(known, request), Update(), repeated=True)
        check_claim(request)
        view = self.view
        chosen = select(view, request, self._budget)
        if not isinstance(chosen, Solution):
            raise no_choice(request, exhausted=isinstance(chosen, SearchExhausted))
        held: dict[PciAddress, PciDevice | None] = {}
        devices: dict[str, tuple[PciAddress, ...]] = {}
        for wanted, addresses in zip(request.requests, chosen.chosen, strict=True):
            devices[wanted.name] = addresses
            for address in addresses:
                device = view.admitted[address]
                held[address] = PciDevice(
                    function=device.function,
                    extra_info=device.extra_info,
                    entry=device.entry,
                    status=step(view.status_of(address), Event.CLAIM, address),
                    consumer=request.consumer,
                    claim=request.claim,
                    request=wanted.name,
                    attach=wanted.attach,
                )
        record = ClaimRecord(request=request, devices=devices, proven_best=chosen.proven_best, expires_at=expires_at)
        return Claimed(record, Update(held=held, claims={request.claim: record}))

    def allocate(self, *, consumer: str | None = None, claim: str | None = None) -> Update:
        """Allocates all that the consumer, or the claim, has claimed (rule C38).

        Raises LanewayError(no_claim) where that is nothing, LanewayError(not_owner) where the claim is another's.
        """
        devices = [d for d in self._select_owned(consumer, claim, None) if d.status is Status.CLAIMED]
        if not devices:
            subject = f"claim {claim}" if claim is not None else f"consumer {consumer}"
            message = f"{subject} has nothing claimed on this host; make a claim first"
            if consumer is claim is None:
                message = "neither a consumer nor a claim is named; say whose devices are to be allocated"
            raise LanewayError(
                ErrorCode.NO_CLAIM,
                message,
                {"consumer": consumer, "claim": claim},
            )
        held: dict[PciAddress, PciDevice | None] = {
            device.address: replace(self._stored(device), status=step(device.status, Event.ALLOCATE, device.address))
            for device in devices
        }
        claims = {device.claim for device in devices if device.claim in self.view.claims}
        return Update(
            held=held,
            claims={key: replace(self.view.claims[key], expires_at=None) for key in claims if key is not None},
        )

    def adopt(self, owners: Mapping[PciAddress, str], attach: Mapping[PciAddress, Attach] | None = None) -> Update:
        """Records devices that guests have already as allocated to them (D20: whole, or nothing).

        ``attach`` says how they have them, where that is not ``vfio``.
        Raises LanewayError(unknown_device) for what no spec admits, LanewayError(invalid_status) for what is held.
        """
        held: dict[PciAddress, PciDevice | None] = {}
        for address, consumer in sorted(owners.items()):
            device = self._tracked(address)
            status = step(self.view.status_of(address), Event.ALLOCATE, address)
            how = (attach or {}).get(address, device.attach)
            held[address] = replace(device, status=status, consumer=consumer, attach=how)
        return Update(held=held)

    def free(
        self,
        *,
        consumer: str | None = None,
        claim: str | None = None,
        addresses: Collection[PciAddress] | None = None,
    ) -> Update:
        """Gives devices back: of a consumer, of a claim, or by address (rule C39). Nothing to free is no error.

        Raises LanewayError(not_owner) where a device or the claim is another consumer's.
        """
        update = self._freed(self._select_owned(consumer, claim, addresses))
        if consumer is None or claim is not None or addresses is not None:
            return update
        return replace(update, claims={**self._claims_of_nothing(consumer), **update.claims})

    def cleanup(self, keep: Collection[str]) -> Update:
        """Frees what consumers hold that are no longer known (rule C44)."""
        return self._freed([d for d in self._owned_devices() if d.consumer not in keep])

    def expire(self, now: datetime) -> Update:
        """Frees claims whose time is over and of which no device is allocated or open."""
        over = {
            key
            for key, record in self.view.claims.items()
            if record.expires_at is not None and record.expires_at <= now and not self._in_guest(key)
        }
        return self._freed([d for d in self._owned_devices() if d.claim in over])

    def cordon(self, address: PciAddress, reason: str | None = None) -> Update:
        """Keeps a device from being offered until it is uncordoned; who has it keeps it.

        Raises LanewayError(unknown_device).
        """
        message = "cordoned by an operator" + (f": {reason}" if reason else "")
        return self._marked(address, BlockReason(CORDONED, message, reason))

    def block(self, address: PciAddress, code: str, message: str, detail: str | None = None) -> Update:
        """Laneway itself cordons a device, for a reason that it names; who has it keeps it.

        What is dirty or releasing stays so. Raises LanewayError(unknown_device).
        """
        return self._marked(address, BlockReason(code, message, detail))

    def unblock(self, address: PciAddress, code: str) -> Update:
        """Lifts what ``block`` put on the device for this reason; any other stays."""
        marks = self.view.marks.get(address, ())
        left = tuple(reason for reason in marks if reason.code != code)
        return Update() if left == marks else Update(blocks={address: left or None})

    def uncordon(self, address: PciAddress) -> Update:
        """Lifts all that was put on the device by ``cordon`` and by ``block``.

        A freed device that is nowhere on the host, while another stands at its address, is forgotten.
        Raises LanewayError(unknown_device).
        """
        device = self._tracked(address)
        displaced = self.view.displaced.get(address)
        replaced = displaced is not None and not displaced.found and not device.is_owned
        return Update(
            held={address: None} if replaced else {},
            blocks={address: None} if address in self.view.marks else {},
        )

    def prepared(self, address: PciAddress, placeholders: Sequence[PciFunction] = ()) -> Update:
        """The host reports that it gave an allocated device out of its hands, for the guest.

        ``placeholders`` are the VFs of a PF as they were before. A device that is prepared already
        stays as it is. Raises LanewayError(unknown_device), LanewayError(invalid_status), LanewayError(wrong_device).
        """
        device = self._tracked(address)
        status = step(self.view.status_of(address), Event.PREPARE, address)
        refuse_displaced((device,))
        if device.prepared:
            return Update()
        stored = replace(self._stored(device), status=status, prepared=True, placeholders=tuple(placeholders))
        return Update(held={address: stored})

    def released(self, address: PciAddress) -> Update:
        """The host reports that a prepared device is back in its hands: one that is freed, or still allocated.

        Raises LanewayError(unknown_device), LanewayError(invalid_status).
        """
        device = self._tracked(address)
        status = self.view.status_of(address)
        if device.prepared and device.is_owned:
            status = step(status, Event.GIVE_BACK, address)
            return Update(held={address: replace(self._stored(device), status=status, prepared=False, placeholders=())})
        event = Event.RELEASE_TO_CLEAN if _needs_cleaning(device) else Event.RELEASE
        return self._unowned(device, step(status, event, address))

    def cleaned(self, address: PciAddress) -> Update:
        """The host reports that a freed device is clean.

        Raises LanewayError(unknown_device), LanewayError(invalid_status), LanewayError(wrong_device).
        """
        device = self._tracked(address)
        refuse_displaced((device,))
        return self._unowned(device, step(self.view.status_of(address), Event.CLEAN, address))

    def settle(self) -> Update:
        """What the report makes of what is stored, once it is new: another boot has begun."""
        return settle(self.view)

    def apply(self, update: Update) -> None:
        """Takes over an update that this tracker gave."""
        self.view.apply(update)

    def pools(self) -> list[Pool]:
        """The available, unblocked devices, counted by pool."""
        return self.view.index.pools()

    def _tracked(self, address: PciAddress) -> PciDevice:
        device = self.view.device(address)
        if device is None:
            raise LanewayError(
                ErrorCode.UNKNOWN_DEVICE,
                f"{address} is no tracked device of this host; 'laneway devices' lists them, "
                "and a device spec has to admit it",
                {"address": str(address)},
            )
        return device

    def _stored(self, device: PciDevice) -> PciDevice:
        """The device as it was stored when it was claimed: today's facts are not frozen into it."""
        return self.view.stored(device.address)

    def _owned_devices(self) -> Iterable[PciDevice]:
        return [device for device in self.view.held.values() if device.is_owned]

    def _select_owned(
        self, consumer: str | None, claim: str | None, addresses: Collection[PciAddress] | None
    ) -> list[PciDevice]:
        """The owned devices that all given conditions name."""
        if addresses is not None:
            devices = [d for address in addresses if (d := self.view.held.get(address)) and d.is_owned]
        elif consumer is not None and claim is None:
            devices = self.view.owned_by(consumer)
        elif claim is not None:
            devices = self._devices_of_claim(claim)
        else:
            devices = []
        if claim is not None:
            devices = [device for device in devices if device.claim == claim]
        for device in devices:
            if consumer is not None and device.consumer != consumer:
                raise LanewayError(
                    ErrorCode.NOT_OWNER,
                    f"{device.address} is held by {device.consumer}, not by {consumer}",
                    {"address": str(device.address), "owner": device.consumer, "consumer": consumer},
                )
        return devices

    def _devices_of_claim(self, claim: str) -> list[PciDevice]:
        record = self.view.claims.get(claim)
        if record is None:
            return []
        return [device for device in self.view.owned_by(record.request.consumer) if device.claim == claim]

    def _claims_of_nothing(self, consumer: str) -> dict[str, ClaimRecord | None]:
        """The consumer's moves to a size without devices: they end with what else it has."""
        return {
            key: None
            for key, record in self.view.claims.items()
            if record.request.consumer == consumer and not any(record.devices.values())
        }

    def _in_guest(self, claim: str) -> bool:
        return any(d.status is Status.ALLOCATED or d.function.opened_by for d in self._devices_of_claim(claim))

    def _freed(self, devices: Iterable[PciDevice]) -> Update:
        held: dict[PciAddress, PciDevice | None] = {}
        claims: dict[str, ClaimRecord | None] = {}
        for device in devices:
            address = device.address
            status = step(device.status, _freeing(device), address)
            held[address] = None if status is Status.AVAILABLE else _without_owner(self._stored(device), status)
            record = claims.get(device.claim or "", self.view.claims.get(device.claim or ""))
            if record is not None and device.claim is not None:
                claims[device.claim] = _without(record, address)
        return Update(held=held, claims=claims)

    def _unowned(self, device: PciDevice, status: Status) -> Update:
        back = replace(self._stored(device), prepared=False, placeholders=())
        return Update(held={device.address: None if status is Status.AVAILABLE else _without_owner(back, status)})

    def _marked(self, address: PciAddress, reason: BlockReason) -> Update:
        reason = replace(reason, function=identifying(self._tracked(address).function))
        marks = self.view.marks.get(address, ())
        others = tuple(mark for mark in marks if mark.code != reason.code)
        return Update() if reason in marks else Update(blocks={address: (*others, reason)})


def _needs_cleaning(device: PciDevice) -> bool:
    """Whether the next user may only have it after a cleaning (D19)."""
    return device.extra_info.cleaning is not None or device.tags.get("one_time_use") is True


def _freeing(device: PciDevice) -> Event:
    """One that was never prepared is free at once, unless a guest had it and it is to be cleaned."""
    if device.prepared:
        return Event.FREE_PREPARED
    return Event.FREE_TO_CLEAN if device.status is Status.ALLOCATED and _needs_cleaning(device) else Event.FREE


def _without_owner(device: PciDevice, status: Status) -> PciDevice:
    return replace(device, status=status, consumer=None, claim=None, request=None)


def _without(record: ClaimRecord, address: PciAddress) -> ClaimRecord | None:
    """The claim without a device; None where it was the last."""
    left = {name: tuple(other for other in addresses if other != address) for name, addresses in record.devices.items()}
    return replace(record, devices=left) if any(left.values()) else None
