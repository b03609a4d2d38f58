"""Records whose device is not what stands at their address: buses were renumbered, or cards changed places."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.identity import Census, described, difference, is_surely
from laneway.domain.inventory import PciFunction
from laneway.domain.tracking.blocking import WRONG_DEVICE, Blocks


@dataclass(frozen=True, slots=True)
class Displacement:
    """``found`` is where the recorded device may stand now: nowhere, or at several places that nothing tells apart."""

    message: str
    found: tuple[PciFunction, ...] = ()


def displacement(recorded: PciFunction, census: Census) -> Displacement | None:
    """Why the device that was recorded is not what stands at its address; None where it is, or is only gone."""
    address = recorded.address
    here = census.functions.get(address)
    if here is not None and is_surely(recorded, here):
        return None
    other = difference(recorded, here) if here is not None else None
    found = census.whereabouts(recorded)
    if other is None and found in ((), (here,)):
        return None
    who = f"{described(recorded)} was recorded at {address}"
    places = " or ".join(str(one.address) for one in found)
    if other is not None:
        what = f"another device stands there now: {other}"
    elif here is None:
        what = "nothing stands there now"
    else:
        what = "what stands there now may be another"
    return Displacement(f"{who}, and {what}; {_where(places, len(found))}", found)


def displacements(held: Mapping[PciAddress, PciDevice], census: Census) -> dict[PciAddress, Displacement]:
    """Of all held devices those that are displaced."""
    found = ((address, displacement(device.function, census)) for address, device in held.items())
    return {address: displaced for address, displaced in found if displaced is not None}


def displaced_blocks(
    displaced: Mapping[PciAddress, Displacement],
    held: Mapping[PciAddress, PciDevice],
    functions: Iterable[PciFunction],
    groups: Mapping[PciAddress, Iterable[PciFunction]],
) -> Blocks:
    """What a displaced device keeps from being offered: itself, where it may stand now, and its relatives there.

    ``groups`` has for each member of a shared IOMMU group all of them.
    """
    blocks: Blocks = {}
    for address, displacement in displaced.items():
        blocks[address] = (*blocks.get(address, ()), BlockReason(WRONG_DEVICE, displacement.message, str(address)))
    if not displaced:
        return blocks
    vfs: dict[PciAddress, list[PciAddress]] = {}
    for function in functions:
        if function.parent_addr is not None:
            vfs.setdefault(function.parent_addr, []).append(function.address)
    for address, displacement in displaced.items():
        device = held[address]
        holder = f"{device.consumer} holds" if device.consumer else f"is {device.status}"
        for found in displacement.found:
            siblings = (sibling.address for sibling in groups.get(found.address, ()))
            parent = () if found.parent_addr is None else (found.parent_addr,)
            for near in {found.address, *siblings, *parent, *vfs.get(found.address, ())} - {address}:
                what = "it may be" if near == found.address else f"{found.address}, its relative, may be"
                reason = BlockReason(WRONG_DEVICE, f"{what} the device that {holder} as {address}", str(address))
                blocks[near] = (*blocks.get(near, ()), reason)
    return blocks


def refuse_displaced(devices: Iterable[PciDevice]) -> None:
    """Refuses to do anything with a device that is not what was recorded. Raises LanewayError(wrong_device)."""
    for device in devices:
        if device.displaced is not None:
            otherwise = (
                "free it and claim anew" if device.is_owned else f"'laneway uncordon {device.address}' forgets it"
            )
            raise LanewayError(
                ErrorCode.WRONG_DEVICE,
                f"{device.displaced}; put the card back where it was, or {otherwise}",
                {"address": str(device.address), "consumer": device.consumer},
            )


def _where(places: str, number: int) -> str:
    if not number:
        return "the device that was recorded is nowhere on this host"
    return f"the device that was recorded is at {places}" + ("" if number == 1 else ": nothing tells which")
