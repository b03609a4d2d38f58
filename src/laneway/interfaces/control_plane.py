"""The control plane as a host's service sees it: in the same process on one host, elsewhere in a fleet."""

from collections.abc import Sequence
from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.inventory import PciFunction
from laneway.domain.report import HostReport
from laneway.domain.tracking.tracker import PciDeviceTracker


class SyncOutcome(Protocol):
    """What a sync, or another report of a host, led to."""

    @property
    def tracker(self) -> PciDeviceTracker:
        """The host as it stands after it."""

    @property
    def changed(self) -> tuple[PciAddress, ...]:
        """The devices that it changed: of a sync those of claims whose time was over, which are free now."""


class ControlPlane(Protocol):
    """Where claims are decided, and devices admitted."""

    def sync(self, host: str, report: HostReport) -> SyncOutcome:
        """Takes the report of a host over. A report like the last one changes nothing that is stored.

        Raises LanewayError(invalid_inventory) and LanewayError(database_unreachable).
        """

    def look(self, host: str) -> PciDeviceTracker:
        """The host as it stands: its last report over its stored state."""

    def prepared(self, host: str, address: PciAddress, placeholders: Sequence[PciFunction] = ()) -> SyncOutcome:
        """The host gave an allocated device out of its hands, for the guest. Idempotent.

        ``placeholders`` are, of a PF, its VFs as they were: they are tracked while they are gone.
        Raises LanewayError(invalid_status) unless the device is allocated, LanewayError(wrong_device) where
        it is not what stands at its address, LanewayError(unknown_device).
        """

    def released(self, host: str, address: PciAddress) -> SyncOutcome:
        """The host has a device back that is releasing, or prepared while its claim stays.

        Raises LanewayError(invalid_status) for any other, LanewayError(unknown_device).
        """

    def cleaned(self, host: str, address: PciAddress) -> SyncOutcome:
        """A dirty device is clean. Raises LanewayError: invalid_status, wrong_device, unknown_device."""

    def block(self, host: str, address: PciAddress, code: str, message: str, detail: str | None = None) -> SyncOutcome:
        """Laneway itself cordons a device until it is uncordoned; it stays as dirty or as owned as it is.

        ``code`` is one of ``tracking.blocking``: cleaning_failed, reset_failed, fatal_errors, not_responding.
        Raises LanewayError(unknown_device).
        """

    def unblock(self, host: str, address: PciAddress, code: str) -> SyncOutcome:
        """Lifts what ``block`` did for this reason; another one, and an operator's cordon, stay."""
