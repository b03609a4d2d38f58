"""Cases from the field, in a folder given by ``--field-data``, played through ``simulate``.

A case that needs Windows or libvirt is left to the tests of those parts.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from laneway.contracts.inventory import inventory_to_plain
from laneway.fleet.simulation import simulate
from laneway.hosts.registry import open_driver

Case = dict[str, Any]
_ELSEWHERE = ("windows_devices", "libvirt_nodedevs", "hosts")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder: Path | None = metafunc.config.getoption("field_data")
    found = sorted((folder / "cases").glob("*.json")) if folder else []
    cases = [json.loads(path.read_text()) for path in found]
    metafunc.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases if is_ours(case)])


def is_ours(case: Case) -> bool:
    return not any(key in case for key in _ELSEWHERE) and not case["kind"].startswith("windows")


def test_case(case: Case, tmp_path: Path) -> None:
    inventory = discovered(case["sysfs"], tmp_path) if "sysfs" in case else described(case)
    steps, checks = played(case)
    answer = simulate(
        {
            "schema": "laneway.scenario/1",
            "id": case["id"],
            "device_spec": case["device_spec"] or ([{"address": "*"}] if "sysfs" in case else []),
            "alias": case["alias"],
            "inventory": inventory,
            "stored": [stored for device in case["devices"] if (stored := record(device))],
            "steps": steps,
        },
        case["id"],
    )
    expect = case["expect"]
    if expect.get("config_error"):
        assert not answer["ok"], answer
        return
    assert answer["ok"], answer["errors"]
    for number, ok in checks.items():
        assert answer["steps"][number]["ok"] is ok, answer["steps"][number]  # type: ignore[index]
    compare(expect, answer["steps"], inventory, case)  # type: ignore[arg-type]


def described(case: Case) -> Case:
    functions = [function(device) for device in case["devices"]]
    cells = case.get("host_numa", {}).get("cells", ())
    nodes = [{"id": cell["id"], "socket": cell.get("socket")} for cell in cells]
    return {"schema": "laneway.inventory/1", "functions": functions, "numa_nodes": nodes}


def function(device: Case) -> Case:
    names = device.get("netdevs") or ([device["netdev"]] if device.get("netdev") else [])
    nic = bool(names) or "mac" in device
    if nic and not names:
        names = ["eth0"]
    netdevs = [{"name": name, "mac": device.get("mac"), "features": device.get("network_caps")} for name in names]
    serial = device.get("vpd_serial")
    return {
        "address": device["address"],
        "vendor_id": device["vendor_id"],
        "product_id": device["product_id"],
        "dev_type": device["dev_type"],
        "numa_node": device.get("numa_node"),
        "parent_addr": device.get("parent_addr"),
        "vf_index": device.get("vf_num"),
        "iommu_group": device.get("iommu_group"),
        "driver": device.get("driver"),
        "class_code": f"{device['class']}00" if "class" in device else ("020000" if nic else None),
        "netdevs": netdevs,
        "vpd": None if serial is None else {"card_serial_number": serial},
        "in_use_by": [{"code": "default_route", "detail": None}] if device.get("host_uplink") else None,
    }


def record(device: Case) -> Case | None:
    if "status" not in device:
        return None
    return {**function(device), "status": device["status"], "consumer": device.get("consumer")}


def discovered(devices: Iterable[Case], root: Path) -> Any:
    for device in devices:
        folder = root / "sys/devices/pci0000:00" / device["address"]
        folder.mkdir(parents=True)
        for name in ("vendor", "device", "class", "numa_node", "sriov_totalvfs", "sriov_numvfs"):
            if name in device:
                (folder / name).write_text(f"{device[name]}\n")
        if "physfn" in device:
            (folder / "physfn").symlink_to(f"../{device['physfn']}")
            (folder.parent / device["physfn"] / "virtfn0").symlink_to(f"../{device['address']}")
        bus = root / "sys/bus/pci/devices"
        bus.mkdir(parents=True, exist_ok=True)
        (bus / device["address"]).symlink_to(f"../../../devices/pci0000:00/{device['address']}")
    return inventory_to_plain(open_driver("linux", root=root).discover())


def played(case: Case) -> tuple[list[Case], dict[int, bool]]:
    """The steps of the scenario, and for some whether they must work."""
    steps: list[Case] = []
    checks: dict[int, bool] = {}
    config_rules = case["device_spec"]
    for step in case.get("steps", ()):
        op = step["op"]
        if op in ("allocate", "claim"):
            checks[len(steps)] = step["ok"]
            steps.append(claim(step["instance"], step["request"]))
            if op == "allocate" and step["ok"]:
                steps.append({"op": "allocate", "consumer": step["instance"]})
        elif op in ("free", "abort"):
            steps.append({"op": "free", "consumer": step["instance"]})
        elif op == "rescan":
            gone = step.get("vanishes_when_read", ())
            present = [function(device) for device in step["devices"] if device["address"] not in gone]
            steps.append({"op": "sync", "inventory": {"schema": "laneway.inventory/1", "functions": present}})
        elif op == "reload":
            config_rules = step["device_spec"]
            steps.append({"op": "reload", "device_spec": config_rules})
        else:
            raise AssertionError(f"the case has the step {op}, which this script does not know")
    if case.get("request"):
        checks[len(steps)] = "rejected" not in case["expect"]
        steps.append(claim("vm", case["request"]))
    if "ports" in (case.get("request") or {}):
        steps.append({"op": "profile", "consumer": "vm"})
    steps.append({"op": "cleanup", "keep": consumers(steps)})
    return steps, checks


def consumers(steps: Iterable[Case]) -> list[str]:
    return sorted({step["consumer"] for step in steps if "consumer" in step})


def claim(consumer: str, request: Case) -> Case:
    if "ports" in request:
        return {"op": "claim", "consumer": consumer, "ports": request["ports"]}
    requests = []
    for part in request["alias"].split(","):
        alias, _, count = part.rpartition(":")
        wanted: Case = {"name": alias, "alias": alias.strip(), "count": int(count)}
        if "numa_policy" in request:
            wanted["numa_policy"] = request["numa_policy"]
        requests.append(wanted)
    return {
        "op": "claim",
        "consumer": consumer,
        "requests": requests,
        "guest_numa_nodes": request.get("numa_cells"),
    }


def compare(expect: Case, steps: list[Case], inventory: Case, case: Case) -> None:
    statuses: Mapping[str, Case] = steps[-1]["statuses"]
    owned = [address for address, status in statuses.items() if "consumer" in status]
    free = sum(pool["count"] for pool in steps[-1]["pools"])
    functions = {one["address"]: one for one in inventory["functions"]}
    for key, value in expect.items():
        match key:
            case "assignable":
                assert set(value) <= set(statuses)
            case "not_assignable" | "skipped":
                assert not set(value) & set(statuses)
            case "tracked":
                assert set(value) == set(statuses)
            case "allocated_count":
                assert len(owned) == value
            case "allocated_any_of":
                assert set(owned) <= set(value)
            case "rejected":
                assert not owned
            case "final_status":
                assert {address: statuses[address]["status"] for address in value} == value
            case "free_count":
                assert free == value
            case "instance_devices":
                for consumer, addresses in value.items():
                    assert [a for a in owned if statuses[a]["consumer"] == consumer] == addresses
            case "instance_devices_count":
                for consumer, number in value.items():
                    assert sum(statuses[a]["consumer"] == consumer for a in owned) == number
            case "same_iommu_group":
                assert len({functions[address]["iommu_group"] for address in owned}) == 1
            case "iommu_group":
                newest = case["steps"][-1]["devices"][0]
                assert newest["iommu_group"] == value
            case "viable":
                check_viable(value, expect, statuses)
            case "blockers" | "error" | "when" | "config_error":
                pass
            case "dev_type" | "numa_node" | "parent_addr":
                assert {address: functions[address][key] for address in value} == value
            case "no_parent_ifname":
                assert not any(functions[address]["netdevs"] for address in value)
            case "binding_profile":
                (profile,) = steps[-2]["profiles"].values()
                assert value.items() <= profile.items()
            case "binding_profile_keys_present":
                (profile,) = steps[-2]["profiles"].values()
                assert set(value) <= set(profile)
            case "binding_profiles":
                chosen = [addresses[0] for addresses in steps[0]["devices"].values()]
                by_port = {port["id"]: chosen[number] for number, port in enumerate(case["request"]["ports"])}
                assert all(value[port].items() <= steps[-2]["profiles"][by_port[port]].items() for port in value)
            case "tags":
                check_tags(value, steps[-1]["pools"])
            case _:
                raise AssertionError(f"the case expects {key}, which this script does not know")


def check_viable(viable: bool, expect: Case, statuses: Mapping[str, Case]) -> None:
    """A group is viable, or the blockers are named; an admitted blocker is taken along by prepare instead."""
    named = {str(reason["detail"]) for status in statuses.values() for reason in status["blocked_by"]}
    if viable:
        assert not named
        return
    for blocker in expect["blockers"]:
        assert blocker in named or statuses[blocker]["status"] == "unclaimable"


def check_tags(expected: Mapping[str, Case], pools: Iterable[Case]) -> None:
    tags = [pool["tags"] for pool in pools]
    for wanted in expected.values():
        assert any(wanted.items() <= found.items() for found in tags)
