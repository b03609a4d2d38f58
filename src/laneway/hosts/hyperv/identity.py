"""What a function is, by the ids that Windows makes of its configuration space. Pure.

They are upper-case hex, such as ``PCI\\VEN_8086&DEV_10C9&SUBSYS_A03C8086&REV_01``: the subsystem is the
device's id before its vendor's. Compatible ids end with the class, as ``&CC_020000``.
"""

import re
from typing import NamedTuple

from laneway.hosts.hyperv.property_bag import Key, PropertyBag

_FIELD = re.compile(r"(VEN|DEV|SUBSYS|REV|CC)_([0-9A-F]+)(?=[&\\]|$)")
_WIDTHS = {"VEN": (4,), "DEV": (4,), "SUBSYS": (8,), "REV": (2,), "CC": (6, 4)}
_BRIDGE = "06"


class Identity(NamedTuple):
    """The ids of a function, lower-case hex."""

    vendor_id: str
    product_id: str
    subsystem_vendor_id: str | None
    subsystem_id: str | None
    class_code: str | None
    revision: str | None


def read_identity(bag: PropertyBag) -> Identity | None:
    """The ids of a function; None, with a note, where it has no vendor and product."""
    fields: dict[str, str] = {}
    for source in (bag.instance_id, *bag.texts(Key.HARDWARE_IDS), *bag.texts(Key.COMPATIBLE_IDS)):
        for name, value in _FIELD.findall(source.upper()):
            if len(value) in _WIDTHS[name] and len(value) > len(fields.get(name, "")):
                fields[name] = value.lower()
    if "VEN" not in fields or "DEV" not in fields:
        bag.note(Key.HARDWARE_IDS, "neither the ids nor the instance id name vendor and device")
        return None
    subsystem = fields.get("SUBSYS")
    return Identity(
        vendor_id=fields["VEN"],
        product_id=fields["DEV"],
        subsystem_vendor_id=subsystem[4:] if subsystem else None,
        subsystem_id=subsystem[:4] if subsystem else None,
        class_code=_class_code(bag, fields.get("CC", "")),
        revision=fields.get("REV"),
    )


def _class_code(bag: PropertyBag, from_ids: str) -> str | None:
    """The class by its properties, which the host bridge lacks, else by the ids.

    A short class without programming interface is completed for bridges only, which must be known as
    such; most of them have the interface 00.
    """
    numbers = [bag.number(key) for key in (Key.BASE_CLASS, Key.SUB_CLASS, Key.PROG_IF)]
    known = [number for number in numbers if number is not None and number <= 0xFF]
    if len(known) == 3:
        return bytes(known).hex()
    if len(from_ids) == 6:
        return from_ids
    return f"{from_ids}00" if from_ids.startswith(_BRIDGE) else None
