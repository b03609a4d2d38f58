"""Devices that nobody may claim while the host is changed under them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from laneway.domain.address import PciAddress
from laneway.domain.tracking.blocking import CHANGING_VFS
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.control_plane import ControlPlane


@contextmanager
def withheld(plane: ControlPlane, host: str, pf: PciAddress, addresses: Iterable[PciAddress]) -> Iterator[None]:
    """Keeps tracked devices from being claimed while the VFs of a PF come and go; for whoever may change the host.

    Who claimed one before that has it: look at the host anew.
    """
    devices = tuple(addresses)
    try:
        for address in devices:
            plane.block(host, address, CHANGING_VFS, f"the number of VFs of {pf} is being changed")
        yield
    finally:
        _offer_again(plane, host, devices)


def end_withholding(plane: ControlPlane, host: str, view: HostView) -> bool:
    """Offers again what was withheld by somebody who was interrupted, and says whether there was any.

    For whoever may change the host.
    """
    left = [a for a, marks in view.marks.items() if any(mark.code == CHANGING_VFS for mark in marks)]
    _offer_again(plane, host, left)
    return bool(left)


def _offer_again(plane: ControlPlane, host: str, addresses: Iterable[PciAddress]) -> None:
    for address in addresses:
        plane.unblock(host, address, CHANGING_VFS)
