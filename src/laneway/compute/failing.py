"""Devices that failed their reset or their cleaning: nobody gets them before somebody has looked."""

from laneway.compute.managed_host import ManagedHost
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.blocking import CLEANING_FAILED, OWN_CORDONS, RESET_FAILED
from laneway.domain.tracking.host_view import HostView

RESET = "reset"
"""The kind of the step that resets a function, in every driver."""


def waits_for_somebody(view: HostView, address: PciAddress) -> bool:
    """Whether something failed with the device, so that it is let be. An operator's cordon is only against claims."""
    return any(mark.code in OWN_CORDONS for mark in view.marks.get(address, ()))


def has_failed_cleaning(view: HostView, address: PciAddress) -> bool:
    return any(mark.code == CLEANING_FAILED for mark in view.marks.get(address, ()))


def block_after_release(host: ManagedHost, address: PciAddress, error: LanewayError) -> None:
    """Blocks a device whose reset failed as it was given back."""
    if error.detail.get("step") == RESET:
        _block(host, address, RESET_FAILED, "its reset failed", error)


def block_after_cleaning(host: ManagedHost, address: PciAddress, error: LanewayError) -> None:
    """Blocks a device whose cleaning was begun and failed; one that was not begun, it being open, is tried again."""
    if error.code in (ErrorCode.CLEANING_FAILED, ErrorCode.HOST_CHANGE_FAILED):
        _block(host, address, CLEANING_FAILED, "its cleaning failed", error)


def _block(host: ManagedHost, address: PciAddress, code: str, what: str, error: LanewayError) -> None:
    message = f"{what}: {error.message}; when it is in order, laneway uncordon"
    host.plane.block(host.name, address, code, message, error.message)
