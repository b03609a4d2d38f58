"""What a config would change where another is in force, and where devices are in use."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, TagValue
from laneway.domain.specs.admission import admit
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.domain.specs.refusal import Refusal, why_not
from laneway.domain.tracking.host_view import HostView

GONE = Refusal("gone", "the host has no such function any more")

Tags = Mapping[str, TagValue]


@dataclass(frozen=True, slots=True)
class Retagged:
    """A device whose tags are others by the new config. ``device`` is as it is now."""

    device: PciDevice
    before: Tags
    after: Tags


@dataclass(frozen=True, slots=True)
class Orphan:
    """A device in use that the config no longer admits: it is kept, and gone once it is freed (rule C91)."""

    device: PciDevice
    reason: Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What differs from the config in force: devices that would be there, would be gone, and have other tags."""

    appear: tuple[PciDevice, ...]
    vanish: tuple[PciDevice, ...]
    retagged: tuple[Retagged, ...]


def changes_from(in_force: DeviceSpecs, host: HostView) -> Changes:
    """What the host's specs change where those ``in_force`` count now, on today's functions."""
    before, after = admit(host.report.inventory, in_force).devices, host.admitted
    return Changes(
        appear=tuple(after[address] for address in sorted(after.keys() - before.keys())),
        vanish=tuple(before[address] for address in sorted(before.keys() - after.keys())),
        retagged=tuple(
            Retagged(after[address], before[address].tags, after[address].tags)
            for address in sorted(before.keys() & after.keys())
            if before[address].tags != after[address].tags
        ),
    )


def orphans(host: HostView) -> tuple[Orphan, ...]:
    """The devices in use that no spec of the host admits, with why."""
    return tuple(
        Orphan(device, _why_not(address, host))
        for address, device in sorted(host.held.items())
        if not host.is_admitted(address)
    )


def deferred(host: HostView) -> tuple[Retagged, ...]:
    """The devices in use that keep the tags with which they were claimed, until they are freed (rules C41 and D36)."""
    return tuple(_deferred(host))


def _deferred(host: HostView) -> Iterator[Retagged]:
    for address, device in sorted(host.held.items()):
        today = host.admitted.get(address)
        before = host.stored(address).tags
        if today is not None and today.tags != before:
            yield Retagged(device, before, today.tags)


def _why_not(address: PciAddress, host: HostView) -> Refusal:
    functions = host.report.inventory.by_address
    function = functions.get(address)
    if function is None:
        return GONE
    parent = functions.get(function.parent_addr) if function.parent_addr is not None else None
    return why_not(function, parent, host.report.specs)[0]
