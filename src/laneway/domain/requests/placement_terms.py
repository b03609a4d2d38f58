"""Resource classes and traits, the terms in which Placement sees a device (rules P3, P5, D3, D11).

Two names are the same if their normal forms are: ``blue`` and ``CUSTOM_BLUE`` are one trait, as
Placement would make the second of the first.
"""

import re
from collections.abc import Iterable

from laneway.domain.device import PciDevice

FORBIDDEN = "!"
"""A trait with this mark in front is one that a device must not have (rule D11)."""

_NOT_IN_NAMES = re.compile(r"[^A-Z0-9_]+")


def normal_name(name: str) -> str:
    """The name as Placement compares it, without the prefix that marks custom ones."""
    return _NOT_IN_NAMES.sub("_", name.strip().upper()).removeprefix("CUSTOM_")


def split_list(text: str) -> tuple[str, ...]:
    """The items of a comma-separated list, without blanks around them and without empty ones."""
    return tuple(item for item in map(str.strip, text.split(",")) if item)


def resource_class_of(device: PciDevice) -> str:
    """The normal name of a device's resource class: its tag's, else the one made of its ids."""
    tag = device.tags.get("resource_class")
    return normal_name(tag if isinstance(tag, str) else f"PCI_{device.vendor_id}_{device.product_id}")


def traits_of(device: PciDevice) -> frozenset[str]:
    """The normal names of a device's traits: those of its tag, and those that follow from tags."""
    tags = device.tags
    tag = tags.get("traits")
    traits = {normal_name(trait) for trait in split_list(tag)} if isinstance(tag, str) else set()
    traits.add("COMPUTE_MANAGED_PCI_DEVICE")
    if tags.get("live_migratable") is True:
        traits.add("HW_PCI_LIVE_MIGRATABLE")
    if tags.get("one_time_use") is True:
        traits.add("HW_PCI_ONE_TIME_USE")
    return frozenset(traits)


def has_traits(device: PciDevice, wanted: Iterable[str]) -> bool:
    """Whether a device has every trait that is wanted, and none that is forbidden."""
    traits = traits_of(device)
    return all(_holds(trait, traits) for trait in wanted)


def _holds(trait: str, traits: frozenset[str]) -> bool:
    if trait.startswith(FORBIDDEN):
        return normal_name(trait.removeprefix(FORBIDDEN)) not in traits
    return normal_name(trait) in traits
