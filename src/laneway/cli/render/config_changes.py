"""What a config changes: for the devices in use, and for the service that works by another."""

from collections.abc import Iterable, Iterator, Sequence

from laneway.cli.render.paragraphs import listed, notes
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, TagValue
from laneway.domain.tracking.config_changes import Changes, Orphan, Retagged, Tags
from laneway.domain.tracking.config_check import ConfigCheck


def change_blocks(check: ConfigCheck, screen: Screen) -> list[list[str]]:
    """A block for each kind of change; those without any are empty."""
    changes = [] if check.changes is None else list(_changes(check.changes))
    return [
        notes("In use, and admitted no more", [_orphan(one) for one in check.orphans], Tone.BAD, screen),
        notes("In use, with other tags once freed", list(_retagged(check.deferred)), Tone.WAITING, screen),
        notes("Other than by the config of the agent", changes, Tone.WAITING, screen),
    ]


def _orphan(orphan: Orphan) -> str:
    device = orphan.device
    return f"{device.address} is {device.standing} and kept until it is freed: {orphan.reason.message}"


def _changes(changes: Changes) -> Iterator[str]:
    for devices, what in ((changes.appear, "appears"), (changes.vanish, "vanishes")):
        if devices:
            yield f"{listed(_addresses(devices))} {what if len(devices) == 1 else what.removesuffix('s')}"
    yield from _retagged(changes.retagged)


def _addresses(devices: Iterable[PciDevice]) -> list[PciAddress]:
    return [device.address for device in devices]


def _retagged(devices: Sequence[Retagged]) -> Iterator[str]:
    """A sentence for all devices whose tags change in the same way."""
    alike: dict[str, list[PciAddress]] = {}
    for one in devices:
        alike.setdefault(", ".join(_differences(one.before, one.after)), []).append(one.device.address)
    for differences, addresses in alike.items():
        yield f"{listed(addresses)}: {differences}"


def _differences(before: Tags, after: Tags) -> Iterator[str]:
    for tag in sorted(before.keys() | after.keys()):
        if before.get(tag, ...) != after.get(tag, ...):
            old, new = (_shown(tags[tag]) if tag in tags else "not given" for tags in (before, after))
            yield f"{tag} is {new}, and was {old}"


def _shown(value: TagValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else repr(value)
