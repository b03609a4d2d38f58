"""Waiting for devices that come and go, without looking again and again."""

from laneway.interfaces.host_driver import HotplugEvents
from vm.commands import output_of
from vm.devices import DEVICES

_WAIT = ("udevadm", "wait", "--settle", "--timeout=120")


def wait_until_there(address: str) -> None:
    """Until udev has handled a function, with all that came of it."""
    output_of(*_WAIT, f"{DEVICES}/{address}")


def wait_until_gone(address: str) -> None:
    output_of(*_WAIT, "--removed", f"{DEVICES}/{address}")


def wait_for(events: HotplugEvents, *addresses: str) -> None:
    """Until events have named all of these functions."""
    missing = set(addresses)
    while missing:
        missing -= {str(address) for event in next(events) for address in event.addresses}
