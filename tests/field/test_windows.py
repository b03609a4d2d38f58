"""Windows hosts from the field, in a folder given by ``--field-data``.

``cases`` are small, each with the right outcome; ``hosts/windows`` has recordings, and strings and numbers
that others saw, each with what it means.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from laneway.contracts.inventory import decode_inventory, encode_inventory, inventory_to_plain
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, Inventory
from laneway.fleet.simulation import simulate
from laneway.hosts.hyperv.assignability import not_assignable
from laneway.hosts.hyperv.driver import inventory_of
from laneway.hosts.hyperv.location import address_from_numbers, address_from_text, parse_location_path
from laneway.hosts.hyperv.property_bag import PropertyBag
from laneway.hosts.hyperv.recording import decode_recording
from laneway.hosts.registry import open_driver

Case = dict[str, Any]
PLACES = {
    "location_info": "location_info",
    "device_address": "device_address",
    "location_path": "location_paths",
    "dismounted": "get_vmhostassignabledevice",
}
REASONS = {
    "reserved memory": "reserved_memory",
    "ACS": "no_acs",
    "bridge": "bridge",
    "not PCI Express": "not_pci_express",
    "line interrupts": "line_interrupts",
    "legacy endpoint": "legacy_endpoint",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder: Path = metafunc.config.getoption("field_data")
    if "case" in metafunc.fixturenames:
        found = [json.loads(path.read_text("utf-8")) for path in sorted((folder / "cases").glob("windows-*.json"))]
        assert found, f"{folder} holds no windows cases"
        metafunc.parametrize("case", [pytest.param(case, id=case["id"]) for case in found])
    if "recorded" in metafunc.fixturenames:
        files = sorted((folder / "hosts/windows").glob("winlspci-*.json"))
        assert files, f"{folder} holds no recordings"
        metafunc.parametrize("recorded", files, ids=[file.stem for file in files])
    for fixture, place in PLACES.items():
        if fixture in metafunc.fixturenames:
            values = json.loads((folder / "hosts/windows/public-values.json").read_text("utf-8"))[place]
            metafunc.parametrize(fixture, values, ids=str)


def test_a_case(case: Case) -> None:
    inventory = inventory_of(decode_recording(json.dumps(case["windows_devices"])))
    flat = {device["DEVPKEY_Device_InstanceId"]: device for device in flattened(case)}
    for key, value in case["expect"].items():
        match key:
            case "addresses":
                assert [str(function.address) for function in inventory.functions] == sorted(value.values())
            case "assignable":
                assert admitted(inventory, case["device_spec"]) == value
            case "vendor_id" | "product_id":
                assert {getattr(function, key) for function in inventory.functions} == {value}
            case "eligible":
                assert [not_assignable(PropertyBag(flat[name], [])) for name in value] == [()] * len(value)
            case "not_eligible":
                for name, why in value.items():
                    found = not_assignable(PropertyBag(flat[name], [])) or ()
                    assert REASONS[why] in [reason.code for reason in found], name
            case _:
                raise AssertionError(f"the case expects {key}, which this script does not know")


def flattened(case: Case) -> list[dict[str, Any]]:
    return [dict(device) for device in decode_recording(json.dumps(case["windows_devices"])).devices]


def admitted(inventory: Inventory, device_spec: list[Case]) -> list[str]:
    scenario = {
        "schema": "laneway.scenario/1",
        "device_spec": device_spec,
        "inventory": json.loads(encode_inventory(inventory)),
        "steps": [{"op": "cleanup", "keep": []}],
    }
    answer: Any = simulate(scenario, "")
    assert answer["ok"], answer
    return list(answer["steps"][0]["statuses"])


def test_a_recording_is_read_without_a_problem(recorded: Path) -> None:
    inventory = open_driver(root=recorded).discover()
    assert inventory.driver == "hyperv"
    assert inventory.problems == ()
    assert decode_inventory(encode_inventory(inventory)) == inventory
    there = [device for device in json.loads(recorded.read_text("utf-8")) if device["ConfigManagerErrorCode"] != 45]
    assert len(inventory.functions) == len(there)


def test_the_functions_of_a_recording_are_where_its_texts_say(recorded: Path) -> None:
    found = open_driver(root=recorded).discover().by_address
    for device in json.loads(recorded.read_text("utf-8")):
        if device["ConfigManagerErrorCode"] == 45:
            continue
        numbers = [int(number) for number in re.findall(r"\d+", device["Bag"]["DEVPKEY_Device_LocationInfo"])]
        function = found[PciAddress.of(0, *numbers)]
        ids = re.match(r"PCI\\VEN_(....)&DEV_(....)", device["PNPDeviceID"])
        assert ids is not None
        assert (function.vendor_id, function.product_id) == (ids[1].lower(), ids[2].lower())
        assert function.driver == device["Service"]
        assert (function.dev_type is DevType.PF) == ("DEVPKEY_PciDevice_SriovSupport" in device["Bag"])


def test_bridges_of_a_recording_are_the_parents_that_it_names(recorded: Path) -> None:
    inventory = open_driver(root=recorded).discover()
    devices = {device["PNPDeviceID"]: device for device in json.loads(recorded.read_text("utf-8"))}
    for function in inventory.functions:
        assert function.path is not None
        assert len(function.bridges or ()) == function.path.count("/") - 1
    depth = {"ACPI": 0}
    for name in devices:
        chain, at = 0, devices[name]["Bag"]["DEVPKEY_Device_Parent"]
        while at in devices:
            chain, at = chain + 1, devices[at]["Bag"]["DEVPKEY_Device_Parent"]
        depth[name] = chain
    expected = sorted(depth[name] for name, device in devices.items() if device["ConfigManagerErrorCode"] != 45)
    assert sorted(len(function.bridges or ()) for function in inventory.functions) == expected


def test_a_location_text(location_info: Case) -> None:
    parts = [location_info[part] for part in ("segment", "bus", "device", "function")]
    expected = None if None in parts else PciAddress.of(*parts)
    assert address_from_text(location_info["text"]) == expected


def test_a_packed_address(device_address: Case) -> None:
    expected = PciAddress.of(0, 0, device_address["device"], device_address["function"])
    assert address_from_numbers(0, device_address["value"]) == expected


def test_a_location_path(location_path: Case) -> None:
    for path in location_path["LocationPaths"]:
        parsed = parse_location_path(path)
        assert (parsed is not None) == (path.startswith("PCIROOT") and "USB" not in path)
        if parsed is not None and "bdf" in location_path:
            address = PciAddress.parse(location_path["bdf"])
            assert parsed.hops[-1] == (address.slot, address.function)


def test_a_dismounted_device_is_a_function_that_can_be_given_away(dismounted: Case) -> None:
    device = {
        "PNPDeviceID": dismounted["InstanceID"],
        "Bag": {
            "DEVPKEY_Device_LocationPaths": [dismounted["LocationPath"]],
            "DEVPKEY_Device_LocationInfo": "PCI bus 66, device 0, function 0",
        },
    }
    (function,) = inventory_of(decode_recording(json.dumps([device]))).functions
    assert (function.vendor_id, function.product_id) == ("144d", "a820")
    assert function.not_assignable == ()
    assert function.location_path == dismounted["LocationPath"]
    assert inventory_to_plain(inventory_of(decode_recording(json.dumps([device]))))["functions"]
