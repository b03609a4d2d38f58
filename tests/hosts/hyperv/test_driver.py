"""The driver and its factory, and the suite for authors of drivers."""

import importlib
import sys
from pathlib import Path

import pytest

from hosts.windows_builder import bag, gpu, nic, recording, root_port
from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import OperatingSystem
from laneway.hosts.conformance import BrokenDeviceConformance, HostDriverConformance
from laneway.hosts.hyperv import HyperVHostDriverFactory
from laneway.hosts.hyperv.device_property_keys import LEGACY, PCI_KEYS
from laneway.hosts.hyperv.driver import HyperVHostDriver
from laneway.hosts.hyperv.property_bag import Key
from laneway.hosts.hyperv.recording import encode_recording
from laneway.hosts.registry import open_driver
from laneway.interfaces.host_driver import HostDriver

WINDOWS = sys.platform == "win32"
THIN = ("adapters", "cfgmgr32", "live", "machine", "powershell", "setupapi", "volumes", "windows_library")


class TestHyperV(HostDriverConformance):
    @pytest.fixture
    def driver(self) -> HostDriver:
        return HyperVHostDriver(recording)


class TestHyperVWithABrokenDevice(BrokenDeviceConformance):
    @pytest.fixture
    def driver_with_broken_device(self) -> HostDriver:
        return HyperVHostDriver(lambda: recording(nic(), bag(r"PCI\VEN_8086&DEV_1533\lost")))


def test_what_is_known_of_the_host() -> None:
    found = HyperVHostDriver(recording).discover()
    assert (found.host, found.driver, found.captured_at) == ("hv-1", "hyperv", "2026-12-01T09:00:00Z")
    assert found.os == OperatingSystem(family="windows", release="10.0.20348")
    assert found.boot_id is None


def test_a_recording_is_found_by_what_it_looks_like(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    file.write_bytes(encode_recording(recording(root_port(), gpu())))
    driver = open_driver(root=file)
    assert driver.describe().name == "hyperv"
    assert [str(function.address) for function in driver.discover().functions] == ["0000:80:02.0", "0000:81:00.0"]


def test_an_inventory_made_on_windows_is_the_same_elsewhere() -> None:
    inventory = HyperVHostDriver(recording).discover()
    assert decode_inventory(encode_inventory(inventory)) == inventory


def test_it_works_on_windows_only() -> None:
    assert (HyperVHostDriverFactory().unavailable() is None) == WINDOWS


@pytest.mark.parametrize("name", THIN)
def test_the_thin_modules_can_be_imported_anywhere(name: str) -> None:
    importlib.import_module(f"laneway.hosts.hyperv.{name}")


def test_every_key_of_windows_is_read() -> None:
    ours = {Key.NETWORK_GUID, Key.MEMORY}
    assert set(PCI_KEYS) == set(Key) - ours
    assert set(LEGACY) <= set(PCI_KEYS)
    assert len(set(PCI_KEYS.values())) == len(PCI_KEYS)


@pytest.mark.parametrize("name", ["setupapi.read_devices", "adapters.read_adapters", "volumes.read_volumes"])
def test_elsewhere_a_thin_module_says_what_it_lacks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "haiku")
    module, _, function = name.partition(".")
    read = getattr(importlib.import_module(f"laneway.hosts.hyperv.{module}"), function)
    with pytest.raises(LanewayError, match="library of Windows; this machine runs haiku") as refused:
        read()
    assert refused.value.code is ErrorCode.HOST_UNREACHABLE
