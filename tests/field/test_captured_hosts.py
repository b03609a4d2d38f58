"""Captured Linux hosts, in a folder given by ``--field-data``, against what others read of them.

``hosts/linux-sysfs`` has trees (``*.tar.*``), each with a list of its devices beside it (``*.json``);
``testbed/captures`` has captures as JSON, which ``testbed/capture.py`` unpacks, and which themselves
are what to compare with.
"""

import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.hosts.registry import open_driver

Listed = Mapping[str, Any]
VIRTIO = "0x1af4"
_FUNCTION = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder: Path = metafunc.config.getoption("field_data")
    for fixture, pattern in (("tree", "hosts/linux-sysfs/*.tar.*"), ("capture", "testbed/captures/*.json")):
        if fixture in metafunc.fixturenames:
            files = sorted(folder.glob(pattern))
            assert files, f"{folder} holds no {pattern}"
            metafunc.parametrize(fixture, files, ids=[file.name for file in files])


def test_a_captured_tree_agrees_with_the_list_beside_it(tree: Path, tmp_path: Path) -> None:
    with tarfile.open(tree) as archive:
        archive.extractall(tmp_path, filter="tar")
    (root,) = {path.parents[3] for path in tmp_path.glob("**/sys/bus/pci/devices")}
    listed = json.loads(tree.with_name(tree.name.partition(".tar")[0] + ".json").read_text())["devices"]
    compare(discovered(root), {device["address"]: device for device in listed})


def test_a_capture_of_a_host_agrees_with_its_own_text(capture: Path, tmp_path: Path) -> None:
    program = capture.parents[1] / "capture.py"
    subprocess.run([sys.executable, program, "restore", capture, tmp_path], check=True, capture_output=True)
    listed = read_capture(json.loads(capture.read_text()))
    inventory = discovered(tmp_path)
    compare(inventory, listed)
    for function in inventory.functions:
        parent = listed[str(function.address)]["physfn"]
        assert (function.dev_type is DevType.VF) == (parent is not None)
        assert function.parent_addr == (None if parent is None else PciAddress.parse(parent))


def discovered(root: Path) -> Inventory:
    inventory = open_driver("linux", root=root).discover()
    assert decode_inventory(encode_inventory(inventory)) == inventory
    return inventory


def compare(inventory: Inventory, listed: Mapping[str, Listed]) -> None:
    assert [str(function.address) for function in inventory.functions] == in_bus_order(listed)
    for function in inventory.functions:
        expected = listed[str(function.address)]
        for key, told in EXPECTED.items():
            if key == "net" and expected["vendor"] == VIRTIO and key not in expected:
                continue  # the lists do not look behind virtio's own bus
            assert told(function) == expectation(key, expected), (str(function.address), key)
    indices = [(f.parent_addr, f.vf_index) for f in inventory.functions if f.dev_type is DevType.VF]
    assert len(set(indices)) == len(indices)


def in_bus_order(addresses: Iterable[str]) -> list[str]:
    return sorted(addresses, key=lambda address: [int(part, 16) for part in re.split("[:.]", address)])


EXPECTED: Mapping[str, Callable[[PciFunction], object]] = {
    "vendor": lambda function: function.vendor_id,
    "device": lambda function: function.product_id,
    "class": lambda function: function.class_code,
    "subsystem": lambda function: (function.subsystem_vendor_id, function.subsystem_id),
    "numa_node": lambda function: function.numa_node,
    "driver": lambda function: function.driver,
    "iommu_group": lambda function: function.iommu_group,
    "bridges": lambda function: [str(bridge) for bridge in function.bridges or ()],
    "root": lambda function: function.pcie_roots,
    "net": lambda function: sorted(netdev.name for netdev in function.netdevs or ()),
    "total_vfs": lambda function: function.sriov and function.sriov.total_vfs,
}


def expectation(key: str, device: Listed) -> object:
    """What the list says of a fact, in the inventory's form."""
    hops = device["sysfs_path"].split("/")
    match key:
        case "vendor" | "device" | "class":
            return device[key].removeprefix("0x")
        case "subsystem":
            found = re.search(r"sv0000(.{4})sd0000(.{4})", device["modalias"])
            assert found is not None
            return found[1].lower(), found[2].lower()
        case "numa_node":
            return None if int(device[key]) < 0 else int(device[key])
        case "iommu_group" | "total_vfs":
            value = device.get("sriov_totalvfs" if key == "total_vfs" else key)
            return None if value is None else int(value)
        case "bridges":
            return [hop for hop in hops[:-1] if re.fullmatch(_FUNCTION, hop)]
        case "root":
            return (next(hop for hop in hops if hop.startswith("pci")).removeprefix("pci"),)
        case "net":
            return sorted(device.get("net", ()))
        case _:
            return device.get(key)


def read_capture(capture: Mapping[str, Any]) -> dict[str, Listed]:
    """The devices of a capture, from the text of its files and links."""
    files, links = capture["files"], capture["links"]
    listed: dict[str, Listed] = {}
    for entry, target in links.items():
        if not entry.startswith("/sys/bus/pci/devices/"):
            continue
        path = "/sys/devices/" + target.partition("/devices/")[2]
        names = ("vendor", "device", "class", "modalias", "numa_node", "sriov_totalvfs")
        device = {name: files[f"{path}/{name}"].strip() for name in names if f"{path}/{name}" in files}
        for name in ("driver", "iommu_group", "physfn"):
            device[name] = links.get(f"{path}/{name}", "").rpartition("/")[2] or None
        nets = (re.fullmatch(rf"{path}/(?:virtio\d+/)?net/([^/]+)/address", file) for file in files)
        listed[path.rpartition("/")[2]] = device | {"sysfs_path": path, "net": [net[1] for net in nets if net]}
    return listed
