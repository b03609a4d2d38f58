"""Resource classes and traits, the terms in which Placement sees a device (rules P3, P5, D3, D11).

Two names are the same if their normal forms are: ``blue`` and ``CUSTOM_BLUE`` are one trait, as
Placement would make the second of the first.
"""

import re
from collections.abc import Container, Iterable, Mapping

from laneway.domain.device import PciDevice, TagValue

FORBIDDEN = "!"
"""A trait with this mark in front is one that a device must not have (rule D11)."""

CUSTOM = "CUSTOM_"
"""What every name begins with that is not one of Placement's own."""

MAX_NAME_LENGTH = 255
"""The most characters that Placement takes for a name, the mark of custom ones counted."""

LIVE_MIGRATABLE_TRAIT = "HW_PCI_LIVE_MIGRATABLE"
ONE_TIME_USE_TRAIT = "HW_PCI_ONE_TIME_USE"

MANAGED_TRAIT = "COMPUTE_MANAGED_PCI_DEVICE"
"""What providers have whose inventory a compute service reports of its PCI devices."""

_NOT_IN_NAMES = re.compile(r"[^A-Z0-9_]+")


def normal_name(name: str) -> str:
    """The name as Placement compares it, without the prefix that marks custom ones."""
    return _upper_name(name).removeprefix(CUSTOM)


def official_name(name: str, standard: Container[str]) -> str:
    """The name as Placement writes it: one of its own as it is, every other one with ``CUSTOM_`` before it."""
    upper = _upper_name(name)
    return upper if upper in standard or upper.startswith(CUSTOM) else CUSTOM + upper


def resource_class_of_ids(vendor_id: str, product_id: str) -> str:
    """The class of devices that no tag gives another: a name that Placement writes with ``CUSTOM_`` (rule P3)."""
    return f"PCI_{vendor_id}_{product_id}"


def split_list(text: str) -> tuple[str, ...]:
    """The items of a comma-separated list, without blanks around them and without empty ones."""
    return tuple(item for item in map(str.strip, text.split(",")) if item)


def resource_class_of(device: PciDevice) -> str:
    """The normal name of a device's resource class: its tag's, else the one made of its ids."""
    return resource_class_by(device.tags, device.vendor_id, device.product_id)


def resource_class_by(tags: Mapping[str, object], vendor_id: str, product_id: str) -> str:
    """The same, of devices with these tags and ids, or of what asks for such."""
    return normal_name(_class_text(tags, vendor_id, product_id))


def traits_of(device: PciDevice) -> frozenset[str]:
    """The normal names of a device's traits: those of its tag, and those that follow from tags."""
    return traits_by(device.tags)


def traits_by(tags: Mapping[str, TagValue]) -> frozenset[str]:
    """The same, of devices with these tags."""
    return frozenset(map(normal_name, split_list(_text_of(tags, "traits")))) | _implied_traits(tags)


def official_resource_class(device: PciDevice, standard: Container[str]) -> str:
    """A device's resource class as Placement writes it (rule P3). ``standard`` are the classes that are its own."""
    return official_name(_class_text(device.tags, device.vendor_id, device.product_id), standard)


def official_traits(device: PciDevice, standard: Container[str]) -> frozenset[str]:
    """A device's traits as Placement writes them (rule P5). ``standard`` are the traits that are its own."""
    named = split_list(_text_of(device.tags, "traits"))
    return frozenset(official_name(trait, standard) for trait in named) | _implied_traits(device.tags)


def is_reported(tags: Mapping[str, TagValue]) -> bool:
    """Whether devices with these tags are reported to Placement: not those of a named physical network (rule P6)."""
    return not tags.get("physical_network")


def has_traits(device: PciDevice, wanted: Iterable[str]) -> bool:
    """Whether a device has every trait that is wanted, and none that is forbidden."""
    traits = traits_of(device)
    return all(_holds(trait, traits) for trait in wanted)


def _holds(trait: str, traits: frozenset[str]) -> bool:
    if trait.startswith(FORBIDDEN):
        return normal_name(trait.removeprefix(FORBIDDEN)) not in traits
    return normal_name(trait) in traits


def _upper_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name.strip().upper())


def _class_text(tags: Mapping[str, object], vendor_id: str, product_id: str) -> str:
    return _text_of(tags, "resource_class") or resource_class_of_ids(vendor_id, product_id)


def _text_of(tags: Mapping[str, object], tag: str) -> str:
    value = tags.get(tag)
    return value.strip() if isinstance(value, str) else ""


def _implied_traits(tags: Mapping[str, TagValue]) -> frozenset[str]:
    implied = {"live_migratable": LIVE_MIGRATABLE_TRAIT, "one_time_use": ONE_TIME_USE_TRAIT}
    return frozenset({MANAGED_TRAIT, *(trait for tag, trait in implied.items() if tags.get(tag) is True)})
