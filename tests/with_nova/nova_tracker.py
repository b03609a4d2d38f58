"""Run in nova's environment: feeds nova's tracker with a list of devices, and prints what it made of it.

Standard input is ``{"device_spec": [...], "devices": [...], "requests": [...]}``; each request is
claimed by an instance of its own. There is no database: the tracker starts empty and saves nothing.
"""
# mypy: disable-error-code="import-not-found"

import json
import logging
import sys
import uuid
from typing import Any

from nova import conf, context, objects
from nova.pci import manager

_CONTEXT = context.RequestContext(is_admin=True)


def main() -> None:
    logging.disable(logging.CRITICAL)
    given = json.load(sys.stdin)
    objects.register_all()
    objects.PciDeviceList.get_by_compute_node = lambda _context, _node: objects.PciDeviceList(objects=[])
    conf.CONF([], project="nova", default_config_files=[], default_config_dirs=[])
    conf.CONF.set_override("device_spec", [json.dumps(spec) for spec in given["device_spec"]], group="pci")
    tracker = manager.PciDevTracker(_CONTEXT, objects.ComputeNode(id=1, numa_topology=None))
    tracker.update_devices_from_hypervisor_resources(json.dumps(given["devices"]))
    claimed = [_claim(tracker, spec) for spec in given["requests"]]
    devices = {device.address: _facts(device) for device in tracker.pci_devs}
    json.dump({"devices": devices, "claimed": claimed, "free": _free(tracker)}, sys.stdout)


def _claim(tracker: Any, spec: dict[str, str]) -> list[str]:
    request = objects.InstancePCIRequest(count=1, spec=[spec], request_id=str(uuid.uuid4()))
    requests = objects.InstancePCIRequests(instance_uuid=str(uuid.uuid4()), requests=[request])
    return [device.address for device in tracker.claim_instance(_CONTEXT, requests, None)]


def _facts(device: Any) -> dict[str, object]:
    names = ("status", "dev_type", "dev_id", "label", "numa_node", "parent_addr")
    return {name: getattr(device, name) for name in names} | {
        "pf": device.parent_device and device.parent_device.address,
        "serial": device.card_serial_number,
        "sriov": device.sriov_cap,
        "network": device.network_caps,
        "mac_address": device.mac_address,
        "parent_ifname": device.extra_info.get("parent_ifname"),
    }


def _free(tracker: Any) -> list[str]:
    return sorted(device.address for device in tracker.stats.get_free_devs())


if __name__ == "__main__":
    main()
