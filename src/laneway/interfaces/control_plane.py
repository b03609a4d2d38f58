"""The control plane as a host's service sees it: in the same process on one host, elsewhere in a fleet."""

from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.report import HostReport
from laneway.domain.tracking.tracker import PciDeviceTracker


class SyncOutcome(Protocol):
    """What a sync led to."""

    @property
    def tracker(self) -> PciDeviceTracker:
        """The host as it stands after it."""

    @property
    def changed(self) -> tuple[PciAddress, ...]:
        """The devices of claims whose time was over: they are free now."""


class ControlPlane(Protocol):
    """Where claims are decided, and devices admitted."""

    def sync(self, host: str, report: HostReport) -> SyncOutcome:
        """Takes the report of a host over. A report like the last one changes nothing that is stored.

        Raises LanewayError(invalid_inventory) and LanewayError(database_unreachable).
        """
