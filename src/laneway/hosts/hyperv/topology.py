"""Where functions stand: bridges, roots and paths, in the same form as on Linux. Pure.

Windows gives no bus number of a root, but what stands directly below a root is on its bus.
"""

from collections.abc import Iterable
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.hosts.hyperv.location import parse_location_path
from laneway.hosts.hyperv.property_bag import Key, PropertyBag, pci_enumerator

_DEEPEST = 64
"""More bridges than a path of PCI Express can have; a circle in a broken recording ends there."""


class Place(NamedTuple):
    """Where a function stands; all None where that is not known."""

    pcie_roots: tuple[str, ...] | None = None
    bridges: tuple[PciAddress, ...] | None = None
    path: str | None = None


class Topology:
    """Tells the place of each function of a host, by location paths, else by the parents of devices."""

    def __init__(self, functions: Iterable[tuple[PciAddress, str | None, PropertyBag]]) -> None:
        listed = tuple(functions)
        self._by_instance = {bag.instance_id.upper(): address for address, _, bag in listed}
        self._parents = {address: bag.text(Key.PARENT) for address, _, bag in listed}
        self._by_path = {
            parsed: address for address, path, _ in listed if path and (parsed := parse_location_path(path))
        }

    def place(self, address: PciAddress, location_path: str | None) -> Place:
        """The place of a function; its location path may be unknown."""
        bridges = self._bridges_by_path(location_path)
        if bridges is None:
            bridges = self._bridges_by_parents(address)
        if bridges is None:
            return Place()
        chain = (*bridges, address)
        root = f"{chain[0].domain:04x}:{chain[0].bus:02x}"
        return Place(
            pcie_roots=(root,),
            bridges=bridges,
            path="/".join((root, *(f"{hop.slot:02x}.{hop.function}" for hop in chain))),
        )

    def _bridges_by_path(self, location_path: str | None) -> tuple[PciAddress, ...] | None:
        parsed = parse_location_path(location_path) if location_path else None
        if parsed is None:
            return None
        bridges = tuple(self._by_path[above] for above in parsed.above if above in self._by_path)
        return bridges if len(bridges) == len(parsed.above) else None

    def _bridges_by_parents(self, address: PciAddress) -> tuple[PciAddress, ...] | None:
        bridges: list[PciAddress] = []
        below = address
        while len(bridges) < _DEEPEST:
            parent = self._parents[below]
            if parent is None:
                return None
            if pci_enumerator(parent) is None:
                return tuple(reversed(bridges))
            if parent.upper() not in self._by_instance:
                return None
            below = self._by_instance[parent.upper()]
            bridges.append(below)
        return None
