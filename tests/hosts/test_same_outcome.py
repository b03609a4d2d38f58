"""One host, seen by each driver's own means: what all of them report leads to one outcome, down to the last pool.

Where a driver cannot tell a fact (the tables in docs/drivers.md), rules treat it as not known, and that alone is
what makes an outcome differ.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hosts.libvirt.node_xml import FakeHost, function, interface, virt_functions
from hosts.sysfs_builder import SysfsBuilder
from hosts.windows_builder import adapter, bag, recording
from laneway.contracts.codec import encode
from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.inventory import Inventory, NumaNode
from laneway.fleet.simulation import simulate
from laneway.hosts.hyperv.driver import HyperVHostDriver
from laneway.hosts.libvirt.connection import Described
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.snapshot import SnapshotHostDriver

Json = dict[str, Any]

PORT, GPU_0, GPU_1, NIC, SOUND = "0000:80:02.0", "0000:17:00.0", "0000:81:00.0", "0000:17:08.0", "0000:17:08.1"
MAC, INTERFACE = "b8:ce:f6:11:22:33", "ens1f0"
NODES = (
    NumaNode(id=0, socket=0, cpus=(0, 2), distances={0: 10, 1: 21}),
    NumaNode(id=1, socket=1, cpus=(1, 3), distances={0: 21, 1: 10}),
)


def by_linux(folder: Path) -> Inventory:
    """Two GPUs on two nodes, one of them below a root port; a NIC with SR-IOV, with a sound function in its group."""
    host = SysfsBuilder(folder)
    host.numa_node(0, cpus="0,2", distances="10 21", socket=0).numa_node(1, cpus="1,3", distances="21 10", socket=1)
    port = host.function(PORT, "8086", "347a", root="0000:80", class_code="060400", driver="pcieport", numa_node=1)
    gpu: Json = {"class_code": "030200", "driver": "nvlddmkm"}
    host.function(GPU_1, "10de", "20b5", below=port, numa_node=1, iommu_group=11, **gpu)
    host.function(GPU_0, "10de", "20b5", numa_node=0, iommu_group=10, **gpu)
    nic = host.function(NIC, "15b3", "101d", numa_node=0, iommu_group=12, driver="mlx5", total_vfs=8)
    nic.netdev(INTERFACE, mac=MAC)
    host.function(SOUND, "8086", "293e", numa_node=0, iommu_group=12, class_code="040300")
    return LinuxHostDriver(folder).discover()


def by_libvirt(_folder: Path) -> Inventory:
    def one(address: str, ids: str, klass: str, node: int, group: int | None, *facts: str, **place: Any) -> Described:
        vendor, product = ids.split(":")
        told = (f"<numa node='{node}'/>", "" if group is None else f"<iommuGroup number='{group}'/>", *facts)
        given = f"<product id='0x{product}'/><vendor id='0x{vendor}'/>"
        return function(address, *told, ids=given, klass=f"0x{klass}", **({"place": "pci0000:17"} | place))

    host = FakeHost(
        one(PORT, "8086:347a", "060400", 1, None, place="pci0000:80", driver="pcieport"),
        one(GPU_1, "10de:20b5", "030200", 1, 11, place=f"pci0000:80/{PORT}", driver="nvlddmkm"),
        one(GPU_0, "10de:20b5", "030200", 0, 10, driver="nvlddmkm"),
        one(NIC, "15b3:101d", "020000", 0, 12, virt_functions([], most=8), driver="mlx5"),
        one(SOUND, "8086:293e", "040300", 0, 12),
        interface(INTERFACE, on=NIC, mac=MAC),
    )
    return LibvirtHostDriver(connect=host.connect).discover()


def by_hyperv(_folder: Path) -> Inventory:
    port, guid = r"PCI\VEN_8086&DEV_347A\0", "{7C1B0E52-93A4-4B6F-9C0E-2D1A6F4B8E01}"
    gpu: Json = {"class_code": "030200", "service": "nvlddmkm"}
    below_port: Json = {"path": "PCIROOT(3)#PCI(0200)#PCI(0000)", "parent": port}
    devices = (
        bag(
            port,
            bus=0x80,
            slot=2,
            path="PCIROOT(3)#PCI(0200)",
            class_code="060400",
            service="pcieport",
            Device_Numa_Node=1,
        ),
        bag(r"PCI\VEN_10DE&DEV_20B5\1", bus=0x81, Device_Numa_Node=1, **below_port, **gpu),
        bag(r"PCI\VEN_10DE&DEV_20B5\0", bus=0x17, path="PCIROOT(1)#PCI(0000)", Device_Numa_Node=0, **gpu),
        bag(
            r"PCI\VEN_15B3&DEV_101D\0",
            bus=0x17,
            slot=8,
            path="PCIROOT(1)#PCI(0800)",
            service="mlx5",
            Device_Numa_Node=0,
            NetCfgInstanceId=guid,
            PciDevice_SriovSupport=0,
        ),
        bag(
            r"PCI\VEN_8086&DEV_293E\0",
            bus=0x17,
            slot=8,
            function=1,
            path="PCIROOT(1)#PCI(0801)",
            class_code="040300",
            service=None,
            Device_Numa_Node=0,
        ),
    )
    adapters = (adapter(guid=guid, alias=INTERFACE, mac=MAC, up=False),)
    seen = recording(*devices, adapters=adapters, disks=(), volumes=(), numa_nodes=NODES)
    return HyperVHostDriver(lambda: seen).discover()


def by_snapshot(folder: Path) -> Inventory:
    return SnapshotHostDriver(decode_inventory(encode_inventory(by_linux(folder)))).discover()


VIEWS: Mapping[str, Callable[[Path], Inventory]] = {
    "linux": by_linux,
    "libvirt": by_libvirt,
    "hyperv": by_hyperv,
    "snapshot": by_snapshot,
}

ALIASES = [
    {"name": "gpu", "vendor_id": "10de", "product_id": "20b5"},
    {"name": "nic", "vendor_id": "15b3", "product_id": "101d", "device_type": "type-PF"},
    {"name": "sound", "vendor_id": "8086", "product_id": "293e"},
]
GPUS = {"name": "g", "alias": "gpu"}


def claim(consumer: str, *requests: Json, **keys: Any) -> Json:
    return {"op": "claim", "consumer": consumer, "requests": list(requests), **keys}


SCENARIOS: Mapping[str, tuple[list[Json], list[Json], list[bool]]] = {
    "near the guest's node": (
        [{"vendor_id": "10de"}],
        [
            claim("a", GPUS, guest_numa_nodes=[1]),
            claim("b", {**GPUS, "numa_policy": "required"}, guest_numa_nodes=[1]),
            claim("b", {**GPUS, "numa_policy": "socket"}, guest_numa_nodes=[1]),
            claim("b", {**GPUS, "numa_policy": "preferred"}, guest_numa_nodes=[1]),
            {"op": "allocate", "consumer": "a"},
            {"op": "free", "consumer": "a"},
        ],
        [True, False, False, True, True, True],
    ),
    "below one root, and on two nodes": (
        [{"vendor_id": "10de"}, {"product_id": "101d"}],
        [
            claim(
                "a", GPUS, {"name": "n", "alias": "nic"}, constraints=[{"match": "pcie_root", "requests": ["g", "n"]}]
            ),
            {"op": "free", "consumer": "a"},
            claim("b", {**GPUS, "count": 2}, constraints=[{"distinct": "numa_node", "requests": ["g"]}]),
            claim("c", {**GPUS, "count": 2}, constraints=[{"match": "numa_node", "requests": ["g"]}]),
        ],
        [True, True, True, False],
    ),
    "by the name of an interface, with tags": (
        [{"devname": INTERFACE, "physical_network": "storage", "rack": "7"}, {"address": "0000:81:*", "rack": "8"}],
        [
            claim("a", {"name": "n", "any_of": [{"physical_network": "storage", "dev_type": "type-PF"}]}),
            claim("b", {"name": "g", "any_of": [{"rack": "8"}]}),
            {"op": "cordon", "address": GPU_1},
            {"op": "free", "consumer": "b"},
            claim("b", {"name": "g", "any_of": [{"rack": "8"}]}),
        ],
        [True, True, True, True, False],
    ),
    "a config that is wrong": ([{"vendor_id": "10de", "adress": GPU_0}, {"product_id": "zz"}], [], []),
    "hardware that is not there": ([{"address": "0000:99:00.0"}, {"vendor_id": "10de"}], [claim("a", GPUS)], [True]),
}
"""Specs and steps that need only what every driver reports, with whether each step is ok."""


def outcome(inventory: Inventory, device_spec: list[Json], steps: list[Json]) -> Json:
    document = {
        "schema": "laneway.scenario/1",
        "device_spec": device_spec,
        "alias": ALIASES,
        "inventory": json.loads(encode_inventory(inventory)),
        "steps": steps,
    }
    answer: Json = json.loads(encode(simulate(document, "one host")))
    return answer


@pytest.mark.parametrize(("specs", "steps", "answers"), SCENARIOS.values(), ids=SCENARIOS)
@pytest.mark.parametrize("view", VIEWS)
def test_what_all_drivers_report_leads_to_one_outcome(
    view: str, specs: list[Json], steps: list[Json], answers: list[bool], tmp_path: Path
) -> None:
    expected = outcome(by_linux(tmp_path / "expected"), specs, steps)
    assert [step["ok"] for step in expected["steps"]] == answers
    assert outcome(VIEWS[view](tmp_path / "host"), specs, steps) == expected


@pytest.mark.parametrize("view", VIEWS)
def test_the_drivers_do_see_one_host(view: str, tmp_path: Path) -> None:
    reported = {
        str(one.address): (one.vendor_id, one.product_id, one.dev_type, one.class_code, one.numa_node, one.driver)
        for one in VIEWS[view](tmp_path).functions
    }
    assert reported == {
        PORT: ("8086", "347a", "type-PCI", "060400", 1, "pcieport"),
        GPU_0: ("10de", "20b5", "type-PCI", "030200", 0, "nvlddmkm"),
        GPU_1: ("10de", "20b5", "type-PCI", "030200", 1, "nvlddmkm"),
        NIC: ("15b3", "101d", "type-PF", "020000", 0, "mlx5"),
        SOUND: ("8086", "293e", "type-PCI", "040300", 0, None),
    }


@pytest.mark.parametrize("view", VIEWS)
def test_groups_make_the_difference_that_the_table_says(view: str, tmp_path: Path) -> None:
    """Windows tells no IOMMU groups: not known is no conflict, and prepare looks again."""
    steps = [claim("a", {"name": "n", "alias": "nic"}), claim("b", {"name": "s", "alias": "sound"})]
    answer = outcome(VIEWS[view](tmp_path), [{"address": "0000:17:08.*"}], steps)
    second = answer["steps"][1]
    assert second["ok"] == (view == "hyperv")
    assert (second["error"] or {}).get("code") == (None if view == "hyperv" else "does_not_fit")
