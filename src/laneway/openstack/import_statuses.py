"""What nova's statuses of one host say of each other, and which of them cannot be."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.nova_records import NovaPciDevice

CLAIMED: Final = "claimed"
ALLOCATED: Final = "allocated"
AVAILABLE: Final = "available"
_TAKEN = frozenset({CLAIMED, ALLOCATED})
_SHADOWED = frozenset({"unclaimable", "unavailable"})


def wrong_statuses(devices: Iterable[NovaPciDevice]) -> Iterator[Finding]:
    """Statuses that contradict the owner, or those of a PF and its VFs; in Laneway these follow from who holds what."""
    devices = tuple(devices)
    by_address = {device.address: device for device in devices}
    vfs: defaultdict[PciAddress, list[NovaPciDevice]] = defaultdict(list)
    for device in devices:
        if device.parent_addr is not None:
            vfs[device.parent_addr].append(device)
    for device in devices:
        yield from _against_owner(device)
        yield from _against_relatives(device, by_address, vfs)


def _against_owner(device: NovaPciDevice) -> Iterator[Finding]:
    if device.owner is None and device.status in _TAKEN:
        what = f"{device.address} is {device.status} without an owner"
        yield _finding("status_without_owner", device, f"{what}; it counts as free", Severity.WARNING)
    elif device.owner is not None and device.status not in _TAKEN:
        what = f"{device.address} is {device.status} and has the owner {device.owner}"
        yield _finding("owner_without_status", device, f"{what}; it counts as allocated", Severity.WARNING)


def _against_relatives(
    device: NovaPciDevice,
    by_address: Mapping[PciAddress, NovaPciDevice],
    vfs: Mapping[PciAddress, list[NovaPciDevice]],
) -> Iterator[Finding]:
    if device.owner is not None:
        return
    relatives = vfs[device.address] if device.dev_type is DevType.PF else []
    pf = by_address.get(device.parent_addr) if device.parent_addr is not None else None
    taken = [relative for relative in (*relatives, *([pf] if pf else [])) if relative.owner is not None]
    if device.status == AVAILABLE and taken:
        code, kind = ("pf_available", "its VF") if device.dev_type is DevType.PF else ("vf_available", "its PF")
        what = f"{device.address} is available although {kind} {taken[0].address} is with {taken[0].owner}"
        yield _finding(code, device, f"{what}; here it cannot be claimed", Severity.NOTE)
    elif device.status in _SHADOWED and not taken:
        what = f"{device.address} is {device.status} although neither its PF nor a VF of it is taken"
        yield _finding("held_by_no_one", device, f"{what}; here it is free", Severity.NOTE)


def _finding(code: str, device: NovaPciDevice, message: str, severity: Severity) -> Finding:
    return Finding(code=code, severity=severity, message=message, address=device.address, consumer=device.owner)
