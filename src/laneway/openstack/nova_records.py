"""Rows of nova's tables, as a database or an export gives them, to values.

Of each table only the columns are read that are named here. A number may be a text (CSV has
nothing else), and JSON in a column may be a text or JSON. A row that cannot be read costs that row.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.alias import Aliases
from laneway.domain.requests.request import DeviceRequest
from laneway.domain.requests.request_parser import parse_requests
from laneway.openstack.import_findings import Finding, Severity

Row = Mapping[str, object]
Tables = Mapping[str, Sequence[Row]]
"""The rows of each table by its name; a table that is not there is not known."""

Value = TypeVar("Value")

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "compute_nodes": ("id", "host", "hypervisor_hostname", "deleted"),
    "pci_devices": (
        "id",
        "compute_node_id",
        "address",
        "vendor_id",
        "product_id",
        "dev_type",
        "status",
        "instance_uuid",
        "request_id",
        "numa_node",
        "parent_addr",
        "extra_info",
        "deleted",
    ),
    "instances": ("uuid", "host", "node", "deleted"),
    "instance_extra": ("instance_uuid", "pci_requests", "deleted"),
}
"""The tables and columns that are read."""

NULL_TEXTS = frozenset({"", "NULL", "\\N"})
"""How exports of databases write that there is no value."""

_NOT_OF_DEVICES = frozenset({"capability_type", "rp_uuids"})
"""Keys of a stored request that no device has: rule C63, and what Placement chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaNode:
    """A compute node. ``host`` is that of its service, ``name`` the hypervisor's."""

    id: int
    host: str | None
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaPciDevice:
    """A row of ``pci_devices``, with what its ``extra_info`` holds. ``status`` is nova's."""

    id: int
    node_id: int
    address: PciAddress
    vendor_id: str
    product_id: str
    dev_type: DevType
    status: str
    owner: str | None
    request_id: str | None
    numa_node: int | None
    parent_addr: PciAddress | None
    extra_info: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaInstance:
    """An instance that exists, and where it runs: None while it runs nowhere."""

    uuid: str
    host: str | None
    node: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaRecords:
    """What nova knows. ``instances`` None: that is not known, and no owner can be doubted.

    ``requests`` are those of an instance, named by nova's ids of them, with the port as requester.
    """

    nodes: tuple[NovaNode, ...]
    devices: tuple[NovaPciDevice, ...]
    instances: Mapping[str, NovaInstance] | None
    requests: Mapping[str, tuple[DeviceRequest, ...]]
    problems: tuple[Finding, ...] = ()

    def has_instance(self, uuid: str | None) -> bool:
        """Whether there is such an instance, or may be one."""
        return uuid is not None and (self.instances is None or uuid in self.instances)


def read_records(tables: Tables) -> NovaRecords:
    """The rows that are not deleted; those that make no sense are problems."""
    problems: list[Finding] = []
    instances = None
    if "instances" in tables:
        found = _read(tables, "instances", _instance, problems)
        instances = {instance.uuid: instance for instance in found}
    return NovaRecords(
        nodes=tuple(_read(tables, "compute_nodes", _node, problems)),
        devices=tuple(_read(tables, "pci_devices", _device, problems)),
        instances=instances,
        requests=dict(_read(tables, "instance_extra", _requests, problems)),
        problems=tuple(problems),
    )


def _read(tables: Tables, table: str, read: Callable[["_Reader"], Value], problems: list[Finding]) -> Iterator[Value]:
    for number, row in enumerate(tables.get(table, ()), 1):
        reader = _Reader(row)
        try:
            if reader.is_deleted:
                continue
            value = read(reader)
        except (LanewayError, ValueError) as error:
            fault = error.message if isinstance(error, LanewayError) else str(error)
            message = f"row {number} of {table} is left out: {fault}"
            problems.append(Finding(code="row_unreadable", severity=Severity.ERROR, message=message))
            continue
        yield value


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row. Every method raises ValueError that names the column."""

    row: Row

    @property
    def is_deleted(self) -> bool:
        """nova writes the row's id into ``deleted`` when it deletes the row."""
        value = self._value("deleted")
        return value not in (None, 0, False) and str(value).lower() not in {"0", "false", "f"}

    def text(self, column: str) -> str:
        value = self.maybe_text(column)
        if value is None:
            raise ValueError(f"its {column} is empty")
        return value

    def maybe_text(self, column: str) -> str | None:
        value = self._value(column)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"its {column} is {value!r}, which is no text")
        return value

    def number(self, column: str) -> int:
        value = self.maybe_number(column)
        if value is None:
            raise ValueError(f"its {column} is empty")
        return value

    def maybe_number(self, column: str) -> int | None:
        value = self._value(column)
        try:
            return None if value is None else int(str(value))
        except ValueError:
            raise ValueError(f"its {column} is {value!r}, which is no whole number") from None

    def maybe_address(self, column: str) -> PciAddress | None:
        text = self.maybe_text(column)
        return None if text is None else PciAddress.parse(text)

    def json(self, column: str) -> object:
        """What the column holds, which may be text of it; None where it is empty."""
        value = self._value(column)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"its {column} is not JSON: {error}") from None

    def _value(self, column: str) -> object:
        value = self.row.get(column)
        return None if isinstance(value, str) and value in NULL_TEXTS else value


def _node(row: _Reader) -> NovaNode:
    return NovaNode(id=row.number("id"), host=row.maybe_text("host"), name=row.maybe_text("hypervisor_hostname"))


def _instance(row: _Reader) -> NovaInstance:
    return NovaInstance(uuid=row.text("uuid"), host=row.maybe_text("host"), node=row.maybe_text("node"))


def _device(row: _Reader) -> NovaPciDevice:
    address = row.maybe_address("address")
    if address is None:
        raise ValueError("its address is empty")
    extra_info = row.json("extra_info") or {}
    if not isinstance(extra_info, dict):
        raise ValueError("its extra_info is no object")
    return NovaPciDevice(
        id=row.number("id"),
        node_id=row.number("compute_node_id"),
        address=address,
        vendor_id=row.text("vendor_id").lower(),
        product_id=row.text("product_id").lower(),
        dev_type=DevType(row.text("dev_type")),
        status=row.text("status"),
        owner=row.maybe_text("instance_uuid"),
        request_id=row.maybe_text("request_id"),
        numa_node=row.maybe_number("numa_node"),
        parent_addr=row.maybe_address("parent_addr"),
        extra_info=extra_info,
    )


def _requests(row: _Reader) -> tuple[str, tuple[DeviceRequest, ...]]:
    """What an instance asked for, as it is stored with it: its aliases may be others by now (rule C68)."""
    stored = row.json("pci_requests")
    if not isinstance(stored, list | None):
        raise ValueError("its pci_requests are no list")
    requests: dict[str, DeviceRequest] = {}
    for number, value in enumerate(stored or ()):
        request = _request(value, number)
        if request.name in requests:
            raise ValueError(f"two of its pci_requests have the id {request.name}")
        requests[request.name] = request
    return row.text("instance_uuid"), tuple(requests.values())


def _request(value: object, number: int) -> DeviceRequest:
    """Before 2023.1 (Antelope) nova gave requests of a flavor no id; they are numbered then."""
    if not isinstance(value, dict):
        raise ValueError(f"pci_requests[{number}] is no object")
    spec = value.get("spec")
    described = {
        "name": value.get("request_id") or f"request-{number}",
        "count": value.get("count"),
        "numa_policy": value.get("numa_policy"),
        "any_of": [_without_null(way) for way in spec] if isinstance(spec, list) else spec,
    }
    (request,) = parse_requests([described], Aliases())
    return replace(request, alias=_text(value, "alias_name"), requester=_text(value, "requester_id"))


def _without_null(way: object) -> object:
    """Null is no condition, but for the network, of which it says that it is tunnelled."""
    if not isinstance(way, dict):
        return way
    return {
        key: value
        for key, value in way.items()
        if key not in _NOT_OF_DEVICES and (value is not None or key == "physical_network")
    }


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    if found is not None and not isinstance(found, str):
        raise ValueError(f"its pci_requests have the {key} {found!r}, which is no text")
    return found
