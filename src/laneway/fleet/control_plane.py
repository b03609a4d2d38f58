"""The use cases on hosts: each is one transaction on one host."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.domain.report import HostReport
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import HostState, Update
from laneway.domain.tracking.host_view import IommuGroups
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.fleet.adoption import Adoption, plan_adoption
from laneway.fleet.cleanup import Cleanup, plan_cleanup
from laneway.fleet.explain import explained
from laneway.interfaces.running_vms import RunningVms
from laneway.interfaces.store import Store
from laneway.network.wished_bindings import refuse_ports_in_use

Clock = Callable[[], datetime]


class Plan(Protocol):
    """What was found out about a host, with the changes that record it."""

    @property
    def update(self) -> Update:
        """The changes; empty where there is nothing to do."""


P = TypeVar("P", bound=Plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an operation did: the host as it stands after it, the choice, and the devices that changed."""

    tracker: PciDeviceTracker
    devices: Mapping[str, tuple[PciAddress, ...]] | None = None
    proven_best: bool | None = None
    changed: tuple[PciAddress, ...] = ()
    repeated: bool = False


class ControlPlane:
    """Claims and devices of hosts over one store.

    A host has to be synced before anything is decided on it: admission happens there and
    nowhere else.
    """

    def __init__(self, store: Store, clock: Clock, iommu_groups: IommuGroups = IommuGroups.ENFORCE) -> None:
        self._store = store
        self._clock = clock
        self._iommu_groups = iommu_groups
        self._reports: dict[str, HostReport] = {}

    def sync(self, host: str, report: HostReport) -> Outcome:
        """Takes a host's report over, stores what follows from it, and frees claims whose time is over.

        Raises LanewayError(invalid_inventory); the last report stays in force then.
        """
        tracker = self._tracker_over(report, self._store.read(host))
        self._reports[host] = report
        now = self._clock()
        if tracker.settle().is_empty and tracker.expire(now).is_empty:
            return Outcome(tracker=tracker)
        with self._store.transaction(host) as transaction:
            tracker = self._tracker_over(report, transaction.state())
            settled = tracker.settle()
            transaction.write(settled, action="sync", at=now)
            tracker.apply(settled)
            expired = tracker.expire(now)
            transaction.write(expired, action="expire", at=now)
        tracker.apply(expired)
        return Outcome(tracker=tracker, changed=tuple(expired.held))

    def check(self, host: str, request: ClaimRequest) -> Outcome:
        """Answers what ``claim`` would, and changes nothing. Raises as ``claim`` does."""
        tracker = self.look(host)
        refuse_ports_in_use(tracker.view, request)
        with explained(tracker, request):
            claimed = tracker.claim(request)
        return Outcome(tracker=tracker, devices=claimed.record.devices, proven_best=claimed.record.proven_best)

    def claim(self, host: str, request: ClaimRequest, *, time_to_live: timedelta | None = None) -> Outcome:
        """Claims devices of a host; a repeated claim id with the same content is answered the same.

        Raises LanewayError(does_not_fit) with an explanation in its detail, LanewayError(search_exhausted),
        LanewayError(claim_conflict), LanewayError(invalid_request), and LanewayError(port_in_use) for a port of
        Neutron's that has a device.
        """
        now = self._clock()
        with self._store.transaction(host) as transaction:
            tracker = self.tracker_on(host, transaction.state())
            refuse_ports_in_use(tracker.view, request)
            with explained(tracker, request):
                claimed = tracker.claim(request, expires_at=now + time_to_live if time_to_live else None)
            if not claimed.repeated:
                transaction.write(claimed.update, action="claim", at=now)
        tracker.apply(claimed.update)
        return Outcome(
            tracker=tracker,
            devices=claimed.record.devices,
            proven_best=claimed.record.proven_best,
            changed=tuple(claimed.update.held),
            repeated=claimed.repeated,
        )

    def allocate(self, host: str, *, consumer: str | None = None, claim: str | None = None) -> Outcome:
        """Allocates what is claimed. Raises LanewayError(no_claim), LanewayError(not_owner)."""
        return self._change(host, "allocate", lambda tracker: tracker.allocate(consumer=consumer, claim=claim))

    def free(
        self,
        host: str,
        *,
        consumer: str | None = None,
        claim: str | None = None,
        addresses: Collection[PciAddress] | None = None,
    ) -> Outcome:
        """Gives devices back. Raises LanewayError(not_owner)."""
        return self._change(
            host, "free", lambda tracker: tracker.free(consumer=consumer, claim=claim, addresses=addresses)
        )

    def adopt(self, host: str, running: RunningVms) -> Adoption:
        """Records what running VMs hold as theirs; what cannot be recorded is told and left as it is."""
        return self.record(host, "adopt", lambda tracker: plan_adoption(tracker, running))

    def cleanup(self, host: str, keep: Collection[str]) -> Cleanup:
        """Frees what is held for consumers that are not to be kept (rule C44)."""
        return self.record(host, "cleanup", lambda tracker: plan_cleanup(tracker, keep))

    def record(self, host: str, action: str, plan: Callable[[PciDeviceTracker], P]) -> P:
        """Makes a plan on the host as it stands, and stores what that changes."""
        with self._store.transaction(host) as transaction:
            made = plan(self.tracker_on(host, transaction.state()))
            if not made.update.is_empty:
                transaction.write(made.update, action=action, at=self._clock())
        return made

    def cordon(self, host: str, address: PciAddress, reason: str | None = None) -> Outcome:
        """Keeps a device from being offered. Raises LanewayError(unknown_device)."""
        return self._change(host, "cordon", lambda tracker: tracker.cordon(address, reason))

    def uncordon(self, host: str, address: PciAddress) -> Outcome:
        """Offers a device again that was cordoned or blocked. Raises LanewayError(unknown_device)."""
        return self._change(host, "uncordon", lambda tracker: tracker.uncordon(address))

    def unblock(self, host: str, address: PciAddress, code: str) -> Outcome:
        """Lifts what ``block`` did for this reason."""
        return self._change(host, "unblock", lambda tracker: tracker.unblock(address, code))

    def prepared(self, host: str, address: PciAddress, placeholders: Sequence[PciFunction] = ()) -> Outcome:
        """The host gave an allocated device out of its hands, for the guest; ``placeholders`` are the VFs of a PF.

        Raises LanewayError(unknown_device), LanewayError(invalid_status), LanewayError(wrong_device).
        """
        return self._change(host, "prepare", lambda tracker: tracker.prepared(address, placeholders))

    def released(self, host: str, address: PciAddress) -> Outcome:
        """The host has a device back. Raises LanewayError(unknown_device), LanewayError(invalid_status)."""
        return self._change(host, "release", lambda tracker: tracker.released(address))

    def cleaned(self, host: str, address: PciAddress) -> Outcome:
        """A freed device is clean.

        Raises LanewayError(unknown_device), LanewayError(invalid_status), LanewayError(wrong_device).
        """
        return self._change(host, "clean", lambda tracker: tracker.cleaned(address))

    def block(self, host: str, address: PciAddress, code: str, message: str, detail: str | None = None) -> Outcome:
        """Laneway itself cordons a device (see ``blocking``). Raises LanewayError(unknown_device)."""
        return self._change(host, "block", lambda tracker: tracker.block(address, code, message, detail))

    def look(self, host: str) -> PciDeviceTracker:
        """The host as it stands: its last report over its stored state, without a lock."""
        return self.tracker_on(host, self._store.read(host))

    def _change(self, host: str, action: str, decide: Callable[[PciDeviceTracker], Update]) -> Outcome:
        with self._store.transaction(host) as transaction:
            tracker = self.tracker_on(host, transaction.state())
            update = decide(tracker)
            if not update.is_empty:
                transaction.write(update, action=action, at=self._clock())
        tracker.apply(update)
        return Outcome(tracker=tracker, changed=tuple(update.held) or tuple(update.blocks))

    def tracker_on(self, host: str, state: HostState) -> PciDeviceTracker:
        """The last report of a host over a state of it. Raises LanewayError(host_unreachable) where there is none."""
        report = self._reports.get(host)
        if report is None:
            raise LanewayError(
                ErrorCode.HOST_UNREACHABLE,
                f"host {host} has not reported its devices yet; sync it first",
                {"host": host},
            )
        return self._tracker_over(report, state)

    def _tracker_over(self, report: HostReport, state: HostState) -> PciDeviceTracker:
        return PciDeviceTracker(report, state, iommu_groups=self._iommu_groups)
