"""The interface to a host: the only way by which the rest reaches an operating system."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.inventory import Inventory


class Ability(StrEnum):
    """What a driver may be able to do besides discovery."""

    WATCH = "watch"
    PREPARE = "prepare"
    SET_VF_COUNT = "set_vf_count"
    CLEAN = "clean"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverCapabilities:
    """What a driver is and can do. ``facts`` names the inventory fields that it reports."""

    name: str
    os_family: str
    abilities: frozenset[Ability] = frozenset()
    facts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class HotplugEvent:
    """Something on the PCI bus changed. ``addresses`` may be empty where only that is known."""

    addresses: tuple[PciAddress, ...] = ()


class HostDriver(Protocol):
    """One host as seen by one operating system's means."""

    def describe(self) -> DriverCapabilities:
        """Name, OS family, abilities and facts. Touches nothing; always the same answer."""

    def discover(self) -> Inventory:
        """Every PCI function of the host, unfiltered, as one value: by address, NUMA nodes by number.

        Reads only. A function that vanishes meanwhile is left out; an attribute that cannot be
        read is None with a note in ``problems``. Raises LanewayError(host_unreachable) or
        LanewayError(no_permission) where nothing at all can be read, never for one bad device.
        """


class HostDriverFactory(Protocol):
    """What the entry point group ``laneway.host_drivers`` names."""

    def unavailable(self) -> str | None:
        """Why this driver cannot work on this machine, or None if it can."""

    def __call__(self) -> HostDriver:
        """The driver for this machine."""


class HotplugEvents(Iterator[Sequence[HotplugEvent]], Protocol):
    """Debounced batches of events, which are waited for by ``next``.

    There are no more once it is closed. ``next`` raises LanewayError(host_unreachable) or
    LanewayError(no_permission) where the host can no longer be watched.
    """

    def close(self) -> None:
        """Ends it, from any thread: who waits for the next batch is told that there is none."""


class WatchingHostDriver(HostDriver, Protocol):
    """A driver with the ability ``watch``."""

    def watch(self) -> HotplugEvents:
        """Events from now on, whenever they are asked for.

        Raises LanewayError(host_unreachable) or LanewayError(no_permission) where it cannot be watched.
        """
