"""Those of nova's tables that an import reads, as nova 34 makes them, with each server's own types."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Enum,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.dialects.postgresql import INET
from sqlalchemy.schema import SchemaItem

METADATA = MetaData()
LONG_TEXT = Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")
ADDRESS = String(39).with_variant(INET(), "postgresql")


def _table(name: str, *items: SchemaItem) -> Table:
    """With the columns that all of nova's tables have: ``deleted`` is the id of a row that is deleted."""
    times = [Column(one, DateTime()) for one in ("created_at", "updated_at", "deleted_at")]
    return Table(name, METADATA, Column("id", Integer, primary_key=True), *times, Column("deleted", Integer), *items)


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, String(255)) for name in names]


def _numbers(*names: str) -> list[Column[int]]:
    return [Column(name, Integer) for name in names]


COMPUTE_NODES = _table(
    "compute_nodes",
    *_numbers("service_id"),
    *_texts("host"),
    Column("uuid", String(36)),
    *(
        Column(name, Integer, nullable=False, server_default="0")
        for name in ("vcpus", "memory_mb", "local_gb", "vcpus_used", "memory_mb_used", "local_gb_used")
    ),
    Column("hypervisor_type", LONG_TEXT),
    Column("hypervisor_version", Integer, nullable=False, server_default="1"),
    *_texts("hypervisor_hostname"),
    *_numbers("free_ram_mb", "free_disk_gb", "current_workload", "running_vms", "disk_available_least", "mapped"),
    Column("host_ip", ADDRESS),
    *(Column(name, Text) for name in ("supported_instances", "pci_stats", "stats", "numa_topology")),
    *(Column(f"{name}_allocation_ratio", Float) for name in ("ram", "cpu", "disk")),
    UniqueConstraint("host", "hypervisor_hostname", "deleted"),
)

PCI_DEVICES = _table(
    "pci_devices",
    Column("uuid", String(36)),
    Column("compute_node_id", Integer, ForeignKey("compute_nodes.id"), nullable=False),
    Column("address", String(12), nullable=False),
    Column("vendor_id", String(4), nullable=False),
    Column("product_id", String(4), nullable=False),
    Column("dev_type", String(8), nullable=False),
    *_texts("dev_id"),
    Column("label", String(255), nullable=False, server_default="label"),
    Column("status", String(36), nullable=False),
    Column("request_id", String(36)),
    Column("extra_info", Text),
    Column("instance_uuid", String(36)),
    Column("numa_node", Integer),
    Column("parent_addr", String(12)),
    Index("ix_pci_devices_compute_node_id_deleted", "compute_node_id", "deleted"),
    Index("ix_pci_devices_instance_uuid_deleted", "instance_uuid", "deleted"),
    UniqueConstraint("compute_node_id", "address", "deleted"),
)

INSTANCES = _table(
    "instances",
    *_texts("user_id", "project_id", "hostname", "display_name", "vm_state", "task_state", "host", "node"),
    Column("compute_id", BigInteger),
    Column("user_data", LONG_TEXT),
    Column("locked", Boolean),
    Column("locked_by", Enum("owner", "admin", name="instances0locked_by")),
    Column("uuid", String(36), nullable=False, unique=True),
    Column("access_ip_v4", ADDRESS),
    Column("hidden", Boolean),
    Index("instances_host_node_deleted_idx", "host", "node", "deleted"),
    Index("instances_uuid_deleted_idx", "uuid", "deleted"),
)

INSTANCE_EXTRA = _table(
    "instance_extra",
    Column("instance_uuid", String(36), ForeignKey("instances.uuid"), nullable=False),
    *(
        Column(name, Text)
        for name in ("device_metadata", "numa_topology", "pci_requests", "flavor", "migration_context", "resources")
    ),
    Index("instance_extra_idx", "instance_uuid"),
)

MIGRATIONS = _table(
    "migrations",
    *_texts("source_compute", "dest_compute", "source_node", "dest_node", "dest_host", "status"),
    Column("dest_compute_id", BigInteger),
    Column("instance_uuid", String(36), ForeignKey("instances.uuid")),
    Column("uuid", String(36), unique=True),
    Column("migration_type", Enum("migration", "resize", "live-migration", "evacuation", name="migration_type")),
    Column("hidden", Boolean),
    Column("memory_total", BigInteger),
    Column("cross_cell_move", Boolean),
    Index("migrations_instance_uuid_and_status_idx", "deleted", "instance_uuid", "status"),
)
