"""Hosts as udev knows them, in a folder given by ``--field-data``: through device specs and ``laneway devices``.

``hosts/linux-udev`` lists the PCI functions of each with their ids, class, driver and interfaces.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.documents import validated
from laneway import cli

MAX_DOMAIN = 0xFFFF
_FUNCTION = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"

Listed = Mapping[str, Any]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder: Path = metafunc.config.getoption("field_data")
    files = sorted(folder.glob("hosts/linux-udev/*.json"))
    assert files, f"{folder} holds no hosts/linux-udev/*.json"
    metafunc.parametrize("listed", [pytest.param(file, id=file.stem) for file in files], indirect=True)


@pytest.fixture
def listed(request: pytest.FixtureRequest) -> list[Listed]:
    devices: list[Listed] = json.loads(request.param.read_text())["devices"]
    return devices


class Host:
    """A list as an inventory in a file, and ``laneway devices`` on it."""

    def __init__(self, listed: list[Listed], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys
        inventory = {"schema": "laneway.inventory/1", "functions": [function(device) for device in listed]}
        (folder / "host.json").write_text(json.dumps(inventory))

    def devices(self, spec: Mapping[str, str], *words: str) -> str:
        entry = "\n".join(f"{key} = {json.dumps(value)}" for key, value in spec.items())
        (self._folder / "laneway.toml").write_text(f"[[device_spec]]\n{entry}\n")
        files = {"--snapshot": "host.json", "--config": "laneway.toml", "--state": "state.db"}
        options = [word for option, file in files.items() for word in (option, str(self._folder / file))]
        assert cli.main(["devices", *words, *options]) == 0
        return self._capsys.readouterr().out

    def functions(self, spec: Mapping[str, str]) -> list[Listed]:
        found: list[Listed] = validated("devices", self.devices(spec, "--json"))["functions"]
        return found

    def admitted(self, spec: Mapping[str, str]) -> set[str]:
        return {function["address"] for function in self.functions(spec) if function["device"]}


@pytest.fixture
def host(listed: list[Listed], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Host:
    return Host(listed, tmp_path, capsys)


def function(device: Listed) -> dict[str, Any]:
    hops = [hop for hop in device["sysfs_path"].split("/")[:-1] if re.fullmatch(_FUNCTION, hop)]
    return {
        "address": device["address"],
        "vendor_id": device["vendor"].removeprefix("0x"),
        "product_id": device["device"].removeprefix("0x"),
        "subsystem_vendor_id": device["subsystem_vendor"].removeprefix("0x"),
        "subsystem_id": device["subsystem_device"].removeprefix("0x"),
        "class_code": device["class"].removeprefix("0x"),
        "dev_type": "type-PCI",
        "driver": device.get("driver"),
        "bridges": hops,
        "netdevs": [{"name": net["interface"]} for net in device.get("net", ())],
    }


def domain(device: Listed) -> int:
    return int(device["address"].partition(":")[0], 16)


def may_be_given_away(device: Listed) -> bool:
    return not device["class"].startswith("0x06") and domain(device) <= MAX_DOMAIN


def test_every_function_is_listed_and_all_that_may_be_are_devices(listed: list[Listed], host: Host) -> None:
    functions = host.functions({"address": "*"})
    assert {one["address"] for one in functions} == {device["address"] for device in listed}
    assert {one["address"] for one in functions if one["device"]} == {
        device["address"] for device in listed if may_be_given_away(device)
    }
    told = {one["address"]: [reason["code"] for reason in one["not_admitted"]] for one in functions}
    for device in listed:
        is_bridge = device["class"].startswith("0x06")
        assert ("bridge" in told[device["address"]]) is is_bridge
        assert ("domain_too_large" in told[device["address"]]) is (domain(device) > MAX_DOMAIN)


def test_each_kind_of_device_is_admitted_by_its_ids(listed: list[Listed], host: Host) -> None:
    kinds = {(device["vendor"], device["device"]) for device in listed if may_be_given_away(device)}
    for vendor, product in sorted(kinds)[:12]:
        assert host.admitted({"vendor_id": vendor, "product_id": product}) == {
            device["address"]
            for device in listed
            if may_be_given_away(device) and (device["vendor"], device["device"]) == (vendor, product)
        }


def test_each_interface_names_its_function(listed: list[Listed], host: Host) -> None:
    for device in listed:
        for net in device.get("net", ()):
            assert host.admitted({"devname": net["interface"]}) == {device["address"]}


@pytest.mark.parametrize("words", [(), ("--tree",), ("--all",), ("--tree", "--all")], ids=" ".join)
def test_people_see_every_device(listed: list[Listed], host: Host, words: tuple[str, ...]) -> None:
    page = host.devices({"address": "*"}, *words)
    shown = [device for device in listed if may_be_given_away(device) or "--all" in words]
    assert [device["address"] for device in shown if device["address"] not in page] == []
