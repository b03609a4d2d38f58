"""What a change is planned on: the inventory, and how the functions that it touches stand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.inventory import Inventory
from laneway.hosts.linux.changes.function_files import FunctionFiles
from laneway.hosts.linux.changes.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """A host at one moment. ``standings`` has the functions that a change may touch, as far as they are there."""

    inventory: Inventory
    standings: Mapping[PciAddress, Standing]


def read_standings(files: FunctionFiles, addresses: Iterable[PciAddress]) -> dict[PciAddress, Standing]:
    """Of the functions, the other members of their IOMMU groups, and the VFs of all these. Raises OSError."""
    found: dict[PciAddress, Standing] = {}
    waiting = list(addresses)
    seen: set[PciAddress] = set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        standing = files.standing(address)
        if standing is not None:
            found[address] = standing
            waiting += (*standing.vfs, *(standing.group or ()))
    return found
