"""nova's part of the comparison, run in nova's own environment: prints measures as JSON.

nova's own code for PCI devices, as it comes from PyPI. There is no database (the tracker starts
empty and nothing is saved) and no host: what nova reads of /sys is answered from memory, so that
it is measured without the cost of files.
"""
# mypy: disable-error-code="import-not-found"

import json
import logging
import uuid
from typing import Any

from nova import conf, context, objects
from nova.pci import manager, utils, whitelist

from bench import shapes
from bench.timing import calls, seconds, seconds_each, seconds_on

SIZES = (128, 1024, 4096)


def main() -> None:
    logging.disable(logging.CRITICAL)
    objects.register_all()
    objects.PciDeviceList.get_by_compute_node = lambda _context, _node: objects.PciDeviceList(objects=[])
    utils.is_physical_function = _is_physical_function
    _configure([json.dumps(spec) for spec in shapes.SPECS])
    measures: dict[str, float] = {}
    for size in SIZES:
        measures |= _matching(size)
        measures |= _syncing(size)
        measures |= _claiming(size)
    print(json.dumps(measures))


def _matching(size: int) -> dict[str, float]:
    devices = _devices(size)
    specs = whitelist.Whitelist(conf.CONF.pci.device_spec)
    assert all(specs.device_assignable(device) for device in devices)
    return {f"match.{size}": seconds_each(lambda: [specs.device_assignable(device) for device in devices], times=5)}


def _syncing(size: int) -> dict[str, float]:
    same, other = json.dumps(_devices(size)), json.dumps(_devices(size, numa_node=1))
    tracker = _tracker(same)
    repeat = 1 if size > 1024 else 3
    return {
        f"first_sync.{size}": seconds(lambda: _tracker(same), repeat=repeat),
        f"resync_same.{size}": seconds(lambda: _sync(tracker, same), repeat=repeat),
        f"resync_one.{size}": seconds(lambda: _sync(tracker, other), repeat=repeat),
    }


def _claiming(size: int) -> dict[str, float]:
    devices = json.dumps(_devices(size))
    tracker = _tracker(devices)
    instance = objects.Instance(uuid=str(uuid.uuid4()))
    a_vf, a_pf = (_requests(instance, spec) for spec in (shapes.A_VF, shapes.A_PF))

    def claim_and_free() -> None:
        tracker.claim_instance(_CONTEXT, a_vf, None)
        tracker.free_instance(_CONTEXT, instance)

    # nova's best case: the VFs of the first PF stand first in its lists. After some use they do
    # not, and it takes up to thirty times as long.
    claimed = tracker.claim_instance(_CONTEXT, a_pf, None)
    assert [len(device.child_devices) for device in claimed] == [shapes.VFS_PER_PF]
    tracker.free_instance(_CONTEXT, instance)
    return {
        f"claim_pf.{size}": seconds_on(
            lambda: _tracker(devices), lambda fresh: fresh.claim_instance(_CONTEXT, a_pf, None), repeat=3
        ),
        f"claim_free.{size}": seconds_each(claim_and_free, times=20, repeat=3),
        f"claim_free_calls.{size}": calls(claim_and_free),
    }


def _requests(instance: Any, spec: shapes.Facts) -> Any:
    request = objects.InstancePCIRequest(count=1, spec=[spec], request_id=str(uuid.uuid4()))
    return objects.InstancePCIRequests(instance_uuid=instance.uuid, requests=[request])


def _tracker(devices: str) -> Any:
    tracker = manager.PciDevTracker(_CONTEXT, objects.ComputeNode(id=1, numa_topology=None))
    _sync(tracker, devices)
    for number, device in enumerate(tracker.pci_devs):
        device.id = number  # as a database gives it; freeing looks at it
    return tracker


def _sync(tracker: Any, devices: str) -> None:
    tracker.update_devices_from_hypervisor_resources(devices)


def _devices(size: int, **changed: Any) -> list[shapes.Facts]:
    """A host as nova's libvirt driver reports it."""
    devices = [_device(facts) for facts in shapes.functions(size)]
    devices[-1] |= changed
    return devices


def _device(facts: shapes.Facts) -> shapes.Facts:
    device = {key: facts[key] for key in ("address", "vendor_id", "product_id", "dev_type", "numa_node")}
    netdev = facts["netdevs"][0]
    bus = int(facts["address"][5:7], 16)
    device["dev_id"] = "pci_" + facts["address"].replace(":", "_").replace(".", "_")
    device["label"] = f"label_{facts['vendor_id']}_{facts['product_id']}"
    device["capabilities"] = {
        "vpd": {"card_serial_number": facts["vpd"]["card_serial_number"]},
        "network": netdev["features"],
    }
    if facts["dev_type"] == "type-PF":
        return device | {"mac_address": netdev["mac"]}
    device["capabilities"]["sriov"] = {"pf_mac_address": f"3c:fd:fe:00:{bus:02x}:00", "vf_num": facts["vf_index"]}
    return device | {"parent_addr": facts["parent_addr"], "parent_ifname": f"ens{bus}"}


def _is_physical_function(_domain: str, _bus: str, slot: str, function: str) -> bool:
    return (slot, function) == ("00", "0")


def _configure(specs: list[str]) -> None:
    conf.CONF([], project="nova", default_config_files=[], default_config_dirs=[])
    conf.CONF.set_override("device_spec", specs, group="pci")


_CONTEXT = context.RequestContext(is_admin=True)

if __name__ == "__main__":
    main()
