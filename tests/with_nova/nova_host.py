"""Run in nova's environment: nova's own code makes its tables and a host in them, with two instances that have devices.

The arguments are the file of the database and the devices of the host, as a JSON list.
"""
# mypy: disable-error-code="import-not-found"

import json
import logging
import sys
import uuid
from typing import Any

from nova import conf, context, objects
from nova.db.main import api, models
from nova.pci import manager

_CONTEXT = context.RequestContext("user", "project", is_admin=True)


def main() -> None:
    logging.disable(logging.CRITICAL)
    file, devices = sys.argv[1:]
    _open_database(file)
    node = _compute_node()
    conf.CONF.set_override("device_spec", ['{"address": "*:*:*.*"}'], group="pci")
    tracker = manager.PciDevTracker(_CONTEXT, node)
    tracker.update_devices_from_hypervisor_resources(devices)
    tracker.save(_CONTEXT)
    running, starting = _instance(node), _instance(node)
    made = {
        "running": _claim(tracker, running, _flavor_request(2)),
        "starting": _claim(tracker, starting, _port_request()),
    }
    tracker.allocate_instance(running)
    tracker.save(_CONTEXT)
    resized = _move(running)
    gone = _instance(node)
    _claim(tracker, gone, _flavor_request(1))
    tracker.save(_CONTEXT)
    gone.destroy()
    json.dump(made | {"gone": gone.uuid, "new_request": resized}, sys.stdout)


def _open_database(file: str) -> None:
    conf.CONF([], project="nova", default_config_files=[], default_config_dirs=[])
    conf.CONF.set_override("connection", f"sqlite:///{file}", group="database")
    api.configure(conf.CONF)
    models.BASE.metadata.create_all(api.get_engine())
    objects.register_all()


def _compute_node() -> Any:
    facts = dict.fromkeys(("vcpus", "memory_mb", "local_gb", "vcpus_used", "memory_mb_used", "local_gb_used"), 1)
    node = objects.ComputeNode(_CONTEXT, **facts, hypervisor_type="QEMU", hypervisor_version=1, cpu_info="{}")
    node.host, node.hypervisor_hostname, node.uuid = "compute-1", "compute-1.example", str(uuid.uuid4())
    node.free_disk_gb = node.free_ram_mb = node.current_workload = node.running_vms = 0
    node.cpu_allocation_ratio = node.ram_allocation_ratio = node.disk_allocation_ratio = 1.0
    node.create()
    return node


def _instance(node: Any) -> Any:
    instance = objects.Instance(_CONTEXT, uuid=str(uuid.uuid4()), project_id="project", user_id="user")
    instance.host, instance.node, instance.compute_id = node.host, node.hypervisor_hostname, node.id
    instance.create()
    instance.pci_devices = objects.PciDeviceList(objects=[])
    return instance


def _move(instance: Any) -> str:
    """A resize to another host that has yet to be confirmed; the id of the request that the new flavor makes."""
    migration = objects.Migration(_CONTEXT, instance_uuid=instance.uuid, migration_type="resize", status="finished")
    migration.source_compute, migration.source_node = instance.host, instance.node
    migration.dest_compute, migration.dest_node, migration.dest_compute_id = "compute-2", "compute-2.example", 2
    migration.create()
    new = objects.InstancePCIRequests(instance_uuid=instance.uuid, requests=[_flavor_request(1)])
    instance.migration_context = objects.MigrationContext(
        instance_uuid=instance.uuid,
        migration_id=migration.id,
        old_pci_requests=instance.pci_requests,
        new_pci_requests=new,
    )
    instance.save()
    return str(new.requests[0].request_id)


def _flavor_request(count: int) -> Any:
    spec = [{"vendor_id": "8086", "product_id": "37c8"}]
    return objects.InstancePCIRequest(
        count=count, spec=spec, alias_name="card", numa_policy="preferred", request_id=str(uuid.uuid4())
    )


def _port_request() -> Any:
    spec = [{"dev_type": "type-PF", "physical_network": None, "remote_managed": "False"}]
    return objects.InstancePCIRequest(count=1, spec=spec, request_id=str(uuid.uuid4()), requester_id=str(uuid.uuid4()))


def _claim(tracker: Any, instance: Any, request: Any) -> dict[str, object]:
    requests = objects.InstancePCIRequests(instance_uuid=instance.uuid, requests=[request])
    instance.pci_requests = requests
    instance.save()
    claimed = tracker.claim_instance(_CONTEXT, requests, None)
    return {
        "uuid": instance.uuid,
        "request": request.request_id,
        "port": request.requester_id,
        "devices": sorted(device.address for device in claimed),
    }


if __name__ == "__main__":
    main()
