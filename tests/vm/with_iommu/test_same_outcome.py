"""One scenario on this host, as the Linux driver, libvirt's driver and a capture of it see it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.inventory import Inventory
from laneway.fleet.simulation import simulate
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.snapshot import SnapshotHostDriver
from vm.devices import GPU, NIC_ON_SWITCH, NIC_PF, NIC_PORT_0, NIC_VFS, NVME, NVME_WITHOUT_ACS

SCENARIO = {
    "schema": "laneway.scenario/1",
    "device_spec": [
        {"vendor_id": "8086", "product_id": "10ca", "physical_network": "tenants"},
        {"address": "0000:82:*", "physical_network": "storage"},
        {"address": NIC_ON_SWITCH},
        {"vendor_id": "1b36", "product_id": "0010"},
    ],
    "alias": [
        {"name": "vf", "vendor_id": "8086", "product_id": "10ca", "device_type": "type-VF"},
        {"name": "nic", "vendor_id": "8086", "product_id": "10d3"},
        {"name": "disk", "vendor_id": "1b36", "product_id": "0010", "device_type": "type-PCI"},
    ],
}
STEPS: list[Mapping[str, Any]] = [
    {
        "op": "claim",
        "consumer": "near",
        "guest_numa_nodes": [1],
        "requests": [
            {"name": "v", "alias": "vf", "count": 2},
            {"name": "d", "alias": "disk", "numa_policy": "required"},
        ],
        "constraints": [{"match": "pcie_root", "requests": ["v", "d"]}],
    },
    {"op": "claim", "consumer": "group", "requests": [{"name": "n", "alias": "nic", "count": 2}]},
    {"op": "check", "consumer": "stranger", "requests": [{"name": "n", "alias": "nic", "count": 2}]},
    {"op": "claim", "consumer": "port", "ports": [{"vnic_type": "direct", "physical_network": "tenants"}]},
    {"op": "claim", "consumer": "none", "requests": [{"name": "v", "alias": "vf"}]},
    {"op": "allocate", "consumer": "port"},
    {"op": "profile", "consumer": "port"},
    {"op": "free", "consumer": "near"},
    {"op": "cordon", "address": NVME},
    {"op": "claim", "consumer": "rest", "requests": [{"name": "d", "alias": "disk"}]},
    {"op": "claim", "consumer": "far", "requests": [{"name": "d", "alias": "disk"}], "guest_numa_nodes": [0]},
]


def outcome(inventory: Inventory) -> Mapping[str, Any]:
    document = {**SCENARIO, "steps": STEPS, "inventory": json.loads(encode_inventory(inventory))}
    answer: Mapping[str, Any] = json.loads(json.dumps(simulate(document, "host"), default=str))
    return answer


@pytest.fixture(scope="module")
def of_linux() -> Inventory:
    return LinuxHostDriver().discover()


@pytest.fixture(scope="module")
def expected(of_linux: Inventory) -> Mapping[str, Any]:
    return outcome(of_linux)


def test_what_the_linux_driver_leads_to(expected: Mapping[str, Any]) -> None:
    assert expected["ok"]
    assert [(step["op"], step["ok"]) for step in expected["steps"]] == [
        ("claim", True),
        ("claim", True),
        ("check", False),
        ("claim", True),
        ("claim", False),
        ("allocate", True),
        ("profile", True),
        ("free", True),
        ("cordon", True),
        ("claim", True),
        ("claim", False),
    ]
    assert expected["steps"][0]["devices"] == {"v": list(NIC_VFS[:2]), "d": [NVME_WITHOUT_ACS]}
    assert expected["steps"][1]["devices"] == {"n": [NIC_PORT_0, "0000:82:00.1"]}


def test_libvirts_driver_leads_to_the_same(expected: Mapping[str, Any], libvirtd: Any) -> None:
    assert outcome(LibvirtHostDriver().discover()) == expected


def test_a_capture_leads_to_the_same(expected: Mapping[str, Any], of_linux: Inventory) -> None:
    capture = decode_inventory(encode_inventory(of_linux))
    assert outcome(SnapshotHostDriver(capture).discover()) == expected


def test_what_only_the_linux_driver_knows_makes_the_difference_of_the_table(of_linux: Inventory, libvirtd: Any) -> None:
    """The console's graphics card is blocked where it is known; libvirt does not know it, and guesses nothing."""
    by_inventory = {}
    for name, inventory in (("linux", of_linux), ("libvirt", LibvirtHostDriver().discover())):
        document = {
            "schema": "laneway.scenario/1",
            "device_spec": [{"address": "0000:23:*"}],
            "inventory": json.loads(encode_inventory(inventory)),
            "steps": [{"op": "cordon", "address": NIC_PF}],
        }
        status = json.loads(json.dumps(simulate(document, "host"), default=str))["steps"][0]["statuses"][GPU]
        by_inventory[name] = [block["code"] for block in status["blocked_by"]]
    assert by_inventory == {"linux": ["in_use_by"], "libvirt": []}
