"""Making devices that a guest had fit for the next one."""

from collections.abc import Collection

from laneway.compute.failing import block_after_cleaning, has_failed_cleaning, waits_for_somebody
from laneway.compute.managed_host import ManagedHost
from laneway.contracts.changes import Change, Changes
from laneway.domain.address import PciAddress
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.blocking import CLEANING_FAILED
from laneway.domain.tracking.displacement import refuse_displaced
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.host_changes import Clean


def clean(host: ManagedHost, addresses: Collection[PciAddress] = (), *, dry_run: bool = False) -> Changes:
    """Cleans these dirty devices, or all whose device spec says how, each on its own.

    A device whose spec names no cleaning is reset. One whose cleaning failed is tried again, and its
    block is lifted where that works. Raises LanewayError: unknown_device, invalid_status where a
    device is not dirty, host_busy.
    """
    if dry_run:
        planned = [_planned(host, device) for device in _chosen(host.look(), addresses)]
        return Changes(host=host.name, of=tuple(planned), dry_run=True)
    with host.changing() as view:
        return Changes(host=host.name, of=tuple(clean_one(host, view, device) for device in _chosen(view, addresses)))


def to_be_cleaned(view: HostView) -> list[PciDevice]:
    """The dirty devices whose spec says how they are cleaned, and whose cleaning has not failed.

    What is not where it was recorded is left alone: another device stands there.
    """
    return [
        device
        for address, device in sorted(view.held.items())
        if device.status is Status.DIRTY
        and device.extra_info.cleaning is not None
        and device.displaced is None
        and not waits_for_somebody(view, address)
    ]


def clean_one(host: ManagedHost, view: HostView, device: PciDevice) -> Change:
    """Cleans a dirty device; for whoever may change the host."""
    address = device.address
    try:
        steps = host.changer.apply(_action(device))
        host.plane.cleaned(host.name, address)
    except LanewayError as error:
        block_after_cleaning(host, address, error)
        return Change(address=address, error=error)
    if has_failed_cleaning(view, address):
        host.plane.unblock(host.name, address, CLEANING_FAILED)
    return Change(address=address, steps=steps)


def _planned(host: ManagedHost, device: PciDevice) -> Change:
    try:
        return Change(address=device.address, steps=host.changer.planned(_action(device)))
    except LanewayError as error:
        return Change(address=device.address, error=error)


def _action(device: PciDevice) -> Clean:
    """Raises LanewayError(wrong_device)."""
    refuse_displaced((device,))
    return Clean(address=device.address, cleaning=device.extra_info.cleaning or Cleaning(kind=CleaningKind.RESET))


def _chosen(view: HostView, addresses: Collection[PciAddress]) -> list[PciDevice]:
    if not addresses:
        return to_be_cleaned(view)
    devices = []
    for address in sorted(set(addresses)):
        device = view.device(address)
        if device is None:
            raise LanewayError(
                ErrorCode.UNKNOWN_DEVICE,
                f"{address} is no tracked device of this host; `laneway devices` lists them",
                {"address": str(address)},
            )
        if device.status is not Status.DIRTY:
            raise LanewayError(
                ErrorCode.INVALID_STATUS,
                f"{address} is {view.status_of(address)}; only a dirty device is cleaned, which a guest had",
                {"address": str(address), "status": str(view.status_of(address))},
            )
        devices.append(device)
    return devices
