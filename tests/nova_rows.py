"""Rows of nova's tables, with only what a test is about spelled out."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

NODE = {"id": 7, "host": "compute-1", "hypervisor_hostname": "compute-1.example", "deleted": 0}
VM, OTHER_VM = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
REQUEST, PORT_REQUEST = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
PORT = "bbbbbbbb-0000-4000-8000-000000000001"

Row = dict[str, Any]


def device(address: str, owner: str | None = None, *, status: str | None = None, **columns: Any) -> Row:
    """A row of ``pci_devices``."""
    row = {
        "id": 1,
        "compute_node_id": 7,
        "address": address,
        "vendor_id": "8086",
        "product_id": "37c8",
        "dev_type": "type-PCI",
        "status": status or ("allocated" if owner else "available"),
        "instance_uuid": owner,
        "request_id": REQUEST if owner else None,
        "numa_node": 0,
        "parent_addr": None,
        "extra_info": "{}",
        "deleted": 0,
    }
    return row | columns


def vf(address: str, parent: str, owner: str | None = None, **columns: Any) -> Row:
    return device(address, owner, **{"dev_type": "type-VF", "product_id": "154c", "parent_addr": parent} | columns)


def pf(address: str, owner: str | None = None, **columns: Any) -> Row:
    return device(address, owner, **{"dev_type": "type-PF", "product_id": "1572"} | columns)


def instance(uuid: str = VM, host: str | None = "compute-1", **columns: Any) -> Row:
    return {"uuid": uuid, "host": host, "node": "compute-1.example", "deleted": 0} | columns


def flavor_request(request_id: str | None = REQUEST, count: int = 1, **spec: Any) -> Row:
    """A request of a flavor, as nova stores it in ``instance_extra.pci_requests``."""
    return {
        "count": count,
        "spec": [{"vendor_id": "8086", "product_id": "37c8"} | spec],
        "alias_name": "card",
        "is_new": False,
        "numa_policy": "legacy",
        "request_id": request_id,
        "requester_id": None,
    }


def port_request(network: str | None = "physnet1", **changed: Any) -> Row:
    """A request of a port, as nova stores it."""
    request = {
        "count": 1,
        "spec": [{"physical_network": network, "remote_managed": "False"}],
        "alias_name": None,
        "is_new": False,
        "numa_policy": None,
        "request_id": PORT_REQUEST,
        "requester_id": PORT,
    }
    return request | changed


def extra(*requests: Row, uuid: str = VM) -> Row:
    """A row of ``instance_extra``."""
    return {"instance_uuid": uuid, "pci_requests": json.dumps(requests), "migration_context": None, "deleted": 0}


def move(uuid: str = VM, to: str = "compute-2", **columns: Any) -> Row:
    """A row of ``migrations``: a resize that begins on the node."""
    row = {
        "id": 1,
        "instance_uuid": uuid,
        "migration_type": "resize",
        "status": "finished",
        "source_compute": "compute-1",
        "source_node": "compute-1.example",
        "dest_compute": to,
        "dest_node": f"{to}.example",
        "deleted": 0,
    }
    return row | columns


def context(old: Sequence[Row], new: Sequence[Row]) -> str:
    """``instance_extra.migration_context``: what was asked for before a move and is after it, as nova's objects."""
    both = {"old_pci_requests": old, "new_pci_requests": new}
    data = {key: _object({"requests": [_object(one) for one in requests]}) for key, requests in both.items()}
    return json.dumps(_object(data))


def _object(data: Row) -> Row:
    return {"nova_object.version": "1.0", "nova_object.namespace": "nova", "nova_object.data": data}


def port(address: str = "0000:31:01.0", **changed: Any) -> Row:
    """A bound port, as Neutron's API has it."""
    made = {
        "id": PORT,
        "device_id": VM,
        "binding:host_id": "compute-1",
        "binding:vnic_type": "direct",
        "binding:profile": {
            "pci_slot": address,
            "pci_vendor_info": "8086:154c",
            "physical_network": "physnet1",
        },
    }
    return made | changed


_DDL = {
    "compute_nodes": "id INTEGER PRIMARY KEY, host VARCHAR(255), hypervisor_hostname VARCHAR(255), deleted INTEGER",
    "pci_devices": "id INTEGER PRIMARY KEY, uuid VARCHAR(36), compute_node_id INTEGER NOT NULL,"
    " address VARCHAR(12) NOT NULL, vendor_id VARCHAR(4) NOT NULL, product_id VARCHAR(4) NOT NULL,"
    " dev_type VARCHAR(8) NOT NULL, dev_id VARCHAR(255), label VARCHAR(255), status VARCHAR(36) NOT NULL,"
    " request_id VARCHAR(36), extra_info TEXT, instance_uuid VARCHAR(36), numa_node INTEGER,"
    " parent_addr VARCHAR(12), deleted INTEGER, UNIQUE (compute_node_id, address, deleted)",
    "instances": "uuid VARCHAR(36), host VARCHAR(255), node VARCHAR(255), vm_state VARCHAR(255), deleted INTEGER",
    "instance_extra": "instance_uuid VARCHAR(36), numa_topology TEXT, pci_requests TEXT,"
    " migration_context TEXT, deleted INTEGER",
    "migrations": "id INTEGER PRIMARY KEY, instance_uuid VARCHAR(36), migration_type VARCHAR(14), status VARCHAR(255),"
    " source_compute VARCHAR(255), source_node VARCHAR(255), dest_compute VARCHAR(255), dest_node VARCHAR(255),"
    " hidden BOOLEAN, deleted INTEGER",
}
"""nova's tables in SQLite, with the columns that are read and some that are not."""


def write_database(file: Path, **tables: Sequence[Row]) -> Path:
    """A database of nova's with these rows."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for table, columns in _DDL.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            for row in tables.get(table, ()):
                marks = ", ".join("?" for _ in row)
                connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    return file
