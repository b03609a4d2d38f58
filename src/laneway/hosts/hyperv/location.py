"""Where Windows says that a function is: addresses and location paths. Pure.

``BusNumber`` is laid out as PCI_SEGMENT_BUS_NUMBER (wdm.h): bits 0 to 7 are the bus, 8 to 23 the
segment, which is the PCI domain. ``Address`` is the device in its upper and the function in its lower
16 bits. The location text has the same numbers in decimal, in words of the language of Windows.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError

_NUMBER = re.compile(r"\d+")
_IN_BRACKETS = re.compile(r"\((.*)\)")
_ROOT = "PCIROOT("
_LOCATION_PATH = re.compile(r"(PCIROOT\([0-9A-F]+\))((?:#PCI\([0-9A-F]{4}\))+)", re.IGNORECASE)
_HOP = re.compile(r"PCI\(([0-9A-F]{2})([0-9A-F]{2})\)", re.IGNORECASE)


def address_from_numbers(bus_number: int, address: int) -> PciAddress | None:
    """The address by the properties BusNumber and Address; None where they are none."""
    return _address(bus_number >> 8 & 0xFFFF, bus_number & 0xFF, address >> 16, address & 0xFFFF)


def address_from_text(text: str) -> PciAddress | None:
    """The address by the numbers of a location text, whatever its words; None where it has no address.

    ``PCI bus 3, device 0, function 1``, ``PCI-Bus 3, ...``, ``PCI segment 2 bus 3, device 0, function 1``, and
    with the number of a slot before it: ``PCI Slot 4 (PCI bus 3, device 0, function 1)``.
    """
    bracketed = _IN_BRACKETS.search(text)
    numbers = [int(number) for number in _NUMBER.findall(bracketed[1] if bracketed else text)]
    if len(numbers) == 3:
        bus_number, slot, function = numbers
        return _address(bus_number >> 8 & 0xFFFF, bus_number & 0xFF, slot, function)
    if len(numbers) == 4:
        return _address(*numbers)
    return None


def _address(domain: int, bus: int, slot: int, function: int) -> PciAddress | None:
    try:
        return PciAddress.of(domain, bus, slot, function)
    except LanewayError:
        return None


def pci_location_path(paths: Iterable[str]) -> str | None:
    """The path by which Hyper-V names the function: the one that begins with PCIROOT, wherever it stands."""
    return next((path for path in paths if path.upper().startswith(_ROOT)), None)


class LocationPath(NamedTuple):
    """A location path taken apart: the root, and the device and function of each hop from there down.

    The number of the root is its identity in ACPI and no bus; no bus can be read from a path.
    """

    root: str
    hops: tuple[tuple[int, int], ...]

    @property
    def above(self) -> tuple["LocationPath", ...]:
        """The paths of the bridges above, from the root down."""
        return tuple(LocationPath(self.root, self.hops[:depth]) for depth in range(1, len(self.hops)))


def parse_location_path(path: str) -> LocationPath | None:
    """``PCIROOT(0)#PCI(1D00)#PCI(0000)`` taken apart; None where it is no path of a PCI function."""
    found = _LOCATION_PATH.fullmatch(path)
    if found is None:
        return None
    return LocationPath(found[1].upper(), tuple((int(slot, 16), int(fn, 16)) for slot, fn in _HOP.findall(found[2])))
