"""The contract ``laneway.inventory/1``: an inventory as JSON, and JSON as an inventory."""

import re
from collections.abc import Mapping
from dataclasses import fields

from laneway.contracts.codec import convert, encode, invalid, parse_json, to_plain
from laneway.contracts.inventory_faults import faults_of
from laneway.domain.errors import ErrorCode, LanewayError, together
from laneway.domain.inventory import (
    INVENTORY_SCHEMA,
    Bar,
    DevType,
    HostUse,
    Inventory,
    Link,
    NetDevice,
    NotAssignable,
    NumaNode,
    Opener,
    OperatingSystem,
    PciFunction,
    Platform,
    Problem,
    ReadinessNote,
    Sriov,
    Vdpa,
)

DOCUMENT_KEYS = (
    "schema",
    "host",
    "driver",
    "os",
    "boot_id",
    "captured_at",
    "platform",
    "numa_nodes",
    "readiness",
    "problems",
    "functions",
)
"""The keys of an inventory in the order of the contract."""

FUNCTION_KEYS = (
    "address",
    "vendor_id",
    "product_id",
    "subsystem_vendor_id",
    "subsystem_id",
    "class_code",
    "revision",
    "dev_type",
    "parent_addr",
    "vf_index",
    "numa_node",
    "iommu_group",
    "driver",
    "driver_override",
    "pcie_roots",
    "bridges",
    "path",
    "netdevs",
    "sriov",
    "vpd",
    "device_serial_number",
    "vdpa",
    "bars",
    "link",
    "reset_methods",
    "in_use_by",
    "opened_by",
    "not_assignable",
    "location_path",
)
"""The keys of a function in the order of the contract."""

_LISTS = ("numa_nodes", "readiness", "problems")
_HEX_DIGITS = {
    "vendor_id": 4,
    "product_id": 4,
    "subsystem_vendor_id": 4,
    "subsystem_id": 4,
    "class_code": 6,
    "revision": 2,
}
_HEX = {width: re.compile(rf"[0-9a-f]{{{width}}}").fullmatch for width in _HEX_DIGITS.values()}

_SUSPECT = re.compile(rb'[:,\[](?:""|-)').search
"""Finds every empty text and negative number in JSON without blanks, and a few things more: a quick look first."""

# Text of a card (``Vpd``) is not among them: an empty serial is what the card says, not an unknown one.
_CHECKED = (
    *(Inventory, PciFunction, NumaNode, OperatingSystem, Platform, ReadinessNote, Problem),
    *(NetDevice, Sriov, Vdpa, Bar, Link, HostUse, Opener, NotAssignable),
)
_FIELDS: Mapping[type, tuple[str, ...]] = {kind: tuple(field.name for field in fields(kind)) for kind in _CHECKED}


def function_to_plain(function: PciFunction) -> dict[str, object]:
    """A function as plain values, its keys in the order of the contract."""
    plain = to_plain(function)
    return {key: plain[key] for key in FUNCTION_KEYS}


def inventory_to_plain(inventory: Inventory) -> dict[str, object]:
    """An inventory as plain values, its keys in the order of the contract."""
    # Each by its name: an inventory that was read has only those of its values set that the document gave.
    plain: dict[str, object] = {key: to_plain(getattr(inventory, key)) for key in DOCUMENT_KEYS if key != "functions"}
    return {**plain, "functions": [function_to_plain(function) for function in inventory.functions]}


def encode_inventory(inventory: Inventory) -> bytes:
    """The inventory as one line of JSON, with every key of the contract, in its order."""
    return encode(inventory_to_plain(inventory))


def decode_inventory(document: bytes | str | object) -> Inventory:
    """The inventory that a JSON text, or a document already parsed, describes.

    An absent key equals null, and unknown keys are ignored. Raises LanewayError(invalid_json) for
    text that is no JSON, and LanewayError(invalid_inventory), with the JSON path and what would be
    right, for a document that breaks the contract: another ``schema``, a key that is required and
    absent, a wrong type, an id that is not lower-case hex of its width, -1 or "" in place of null,
    two functions of one address. Of several such faults CompoundError has each.
    """
    plain = parse_json(document) if isinstance(document, bytes | str) else document
    checked = _checked_document(plain)
    try:
        return _read(checked)
    except LanewayError:
        raise together(tuple(faults_of(checked, _read))) from None


def _read(checked: Mapping[str, object]) -> Inventory:
    inventory = _convert(checked)
    if _SUSPECT(encode(checked)):
        _refuse_stand_ins(inventory)
    for index, function in enumerate(inventory.functions):
        _check_ids(function, f"$.functions[{index}]")
    inventory.by_address  # noqa: B018 - raises where two functions have one address
    return inventory


def _checked_document(plain: object) -> dict[str, object]:
    if not isinstance(plain, dict):
        raise _invalid("$", f"an inventory is a JSON object, this is {_name_of(plain)}")
    schema = plain.get("schema")
    if schema != INVENTORY_SCHEMA:
        raise _invalid("$.schema", f"it must be {INVENTORY_SCHEMA!r}, and is {schema!r}")
    return {key: value for key, value in plain.items() if not (key in _LISTS and value is None)}


def _convert(document: Mapping[str, object]) -> Inventory:
    try:
        return convert(document, Inventory, ErrorCode.INVALID_INVENTORY)
    except LanewayError as error:
        path = str(error.detail["path"])
        if not path.endswith(".dev_type"):
            raise
        raise _invalid(path, f"it must be one of {', '.join(DevType)}") from error


def _check_ids(function: PciFunction, path: str) -> None:
    for name, width in _HEX_DIGITS.items():
        value = getattr(function, name)
        if value is not None and not _HEX[width](value):
            raise _invalid(
                f"{path}.{name}",
                f"it must be {width} lower-case hex digits without 0x, such as {'10de20'[:width]}, and is {value!r}",
            )


def _refuse_stand_ins(inventory: Inventory) -> None:
    """Unknown is null, never -1 or ""."""
    found = _stand_in(inventory)
    if found is not None:
        path, value = found
        raise _invalid(f"${path}", f"{value!r} is no value for it; write null, or leave it out, if it is not known")


def _stand_in(value: object) -> tuple[str, object] | None:
    """The path and value of the first negative number or empty text at or below ``value``."""
    if value is None:
        return None
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return ("", value) if value == "" or (kind is not str and value < 0) else None  # type: ignore[operator]
    if kind is tuple:
        for index, item in enumerate(value):  # type: ignore[arg-type, var-annotated]
            if found := _stand_in(item):
                return f"[{index}]{found[0]}", found[1]
        return None
    for name in _FIELDS.get(kind, ()):
        if found := _stand_in(getattr(value, name)):
            return f".{name}{found[0]}", found[1]
    return None


def _name_of(value: object) -> str:
    names = {list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


def _invalid(path: str, message: str) -> LanewayError:
    return invalid(ErrorCode.INVALID_INVENTORY, path, message)
