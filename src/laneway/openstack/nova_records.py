"""Rows of nova's tables, as a database or an export gives them, to values.

Of each table only the columns are read that are named here. A row that cannot be read costs that row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import DevType
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.nova_moves import ENDED, NovaMove, read_move
from laneway.openstack.nova_requests import NovaRequests, read_requests
from laneway.openstack.nova_rows import Row, RowReader, Value

Tables = Mapping[str, Sequence[Row]]
"""The rows of each table by its name; a table that is not there is not known."""

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
    "instance_extra": ("instance_uuid", "pci_requests", "migration_context", "deleted"),
    "migrations": (
        "id",
        "instance_uuid",
        "migration_type",
        "status",
        "source_compute",
        "source_node",
        "dest_compute",
        "dest_node",
        "deleted",
    ),
}
"""The tables and columns that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaNode:
    """A compute node. ``host`` is that of its service, ``name`` the hypervisor's."""

    id: int
    host: str | None
    name: str | None

    def is_at(self, host: str | None, node: str | None) -> bool:
        """Whether it is the one that an instance or a move names, which may leave the node out."""
        return host is not None and host == self.host and node in (None, self.name)


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

    ``moves`` are those under way, by instance; None: that is not known.
    """

    nodes: tuple[NovaNode, ...]
    devices: tuple[NovaPciDevice, ...]
    instances: Mapping[str, NovaInstance] | None
    requests: Mapping[str, NovaRequests]
    moves: Mapping[str, NovaMove] | None = None
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
        requests=dict(_read(tables, "instance_extra", read_requests, problems)),
        moves=_latest(_read(tables, "migrations", read_move, problems)) if "migrations" in tables else None,
        problems=tuple(problems),
    )


def read_nodes(rows: Sequence[Row]) -> tuple[NovaNode, ...]:
    """The compute nodes of these rows; those that make no sense are left out, as :func:`read_records` tells."""
    return tuple(_read({"compute_nodes": rows}, "compute_nodes", _node, []))


def _latest(moves: Iterable[NovaMove]) -> dict[str, NovaMove]:
    """Of an instance there is one move at a time, so an earlier one that has not ended has been forgotten."""
    under_way = (move for move in moves if move.status not in ENDED)
    return {move.instance: move for move in sorted(under_way, key=lambda move: move.id)}


def _read(tables: Tables, table: str, read: Callable[["RowReader"], Value], problems: list[Finding]) -> Iterator[Value]:
    for number, row in enumerate(tables.get(table, ()), 1):
        reader = RowReader(row)
        try:
            if reader.is_deleted:
                continue
            value = read(reader)
        except (LanewayError, ValueError) as error:
            fault = error.message if isinstance(error, LanewayError) else str(error)
            message = f"row {number} of {table} is left out: {fault}"
            problems.append(Finding(code="row_unreadable", severity=Severity.ERROR, message=message))
            continue
        if reader.unreadable:
            message = f"row {number} of {table} counts without what cannot be read: {'; '.join(reader.unreadable)}"
            problems.append(Finding(code="column_unreadable", severity=Severity.WARNING, message=message))
        yield value


def _node(row: RowReader) -> NovaNode:
    return NovaNode(id=row.number("id"), host=row.maybe_text("host"), name=row.maybe_text("hypervisor_hostname"))


def _instance(row: RowReader) -> NovaInstance:
    return NovaInstance(uuid=row.text("uuid"), host=row.maybe_text("host"), node=row.maybe_text("node"))


def _device(row: RowReader) -> NovaPciDevice:
    """Whose the device is counts first: what can be done without may be unreadable."""
    address = row.maybe_address("address")
    if address is None:
        raise ValueError("its address is empty")
    parent_addr = row.readable(lambda row: row.maybe_address("parent_addr"))
    return NovaPciDevice(
        id=row.number("id"),
        node_id=row.number("compute_node_id"),
        address=address,
        vendor_id=row.text("vendor_id").lower(),
        product_id=row.text("product_id").lower(),
        dev_type=row.readable(_dev_type) or (DevType.PCI if parent_addr is None else DevType.VF),
        status=row.text("status"),
        owner=row.maybe_text("instance_uuid"),
        request_id=row.readable(lambda row: row.maybe_text("request_id")),
        numa_node=row.readable(lambda row: row.maybe_number("numa_node")),
        parent_addr=parent_addr,
        extra_info=row.readable(_extra_info) or {},
    )


def _dev_type(row: RowReader) -> DevType | None:
    text = row.maybe_text("dev_type")
    if text is not None and text not in set(DevType):
        raise ValueError(f"its dev_type is {text!r}, which is none of {', '.join(DevType)}")
    return None if text is None else DevType(text)


def _extra_info(row: RowReader) -> Mapping[str, object]:
    extra_info = row.json("extra_info") or {}
    if not isinstance(extra_info, dict):
        raise ValueError("its extra_info is no object")
    return extra_info
