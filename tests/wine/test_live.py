"""A recording of this Windows, and what is made of it."""

from collections.abc import Mapping
from typing import Any

import pytest

from hosts.windows_builder import GPU, NIC, SYSTEM_DISK, gpu, nic, root_port, system_disk
from laneway.domain.inventory import Inventory, PciFunction
from laneway.hosts.hyperv import HyperVHostDriverFactory
from laneway.hosts.hyperv.adapters import read_adapters
from laneway.hosts.hyperv.driver import HyperVHostDriver
from laneway.hosts.hyperv.live import record
from laneway.hosts.hyperv.machine import read_machine, read_numa_nodes, registry_value
from laneway.hosts.hyperv.recording import Adapter, Recording, decode_recording, encode_recording
from laneway.hosts.hyperv.volumes import read_disks, read_volumes
from wine.pci_bus import NETWORK, PciBus


def recorded() -> Recording:
    """This host; the memory of devices is what Wine has no call for."""
    return record(lambda _instance_id: None)


def discovered() -> Inventory:
    return HyperVHostDriver(recorded).discover()


def function(vendor_id: str) -> PciFunction:
    (found,) = (one for one in discovered().functions if one.vendor_id == vendor_id)
    return found


def uplink() -> Adapter:
    """The adapter of this machine that has an address which is not the machine's own."""
    return next(one for one in read_adapters() if any(not a.startswith(("127.", "::1")) for a in one.addresses))


def test_the_driver_is_there_on_windows() -> None:
    assert HyperVHostDriverFactory().unavailable() is None


def test_the_devices_of_the_registry_are_functions(bus: PciBus) -> None:
    for device in (root_port(), gpu(), nic()):
        bus.plug(device)
    found = {str(one.address): (one.path, one.driver, one.location_path) for one in discovered().functions}
    assert found == {
        "0000:17:00.0": ("0000:17/00.0", "mlx5", "PCIROOT(1)#PCI(0000)"),
        "0000:80:02.0": ("0000:80/02.0", "pci", "PCIROOT(3)#PCI(0200)"),
        "0000:81:00.0": ("0000:80/02.0/00.0", "nvlddmkm", "PCIROOT(3)#PCI(0200)#PCI(0000)"),
    }


def test_a_recording_of_this_host_survives_being_written_and_read(bus: PciBus) -> None:
    bus.plug(gpu())
    whole = recorded()
    assert decode_recording(encode_recording(whole)) == whole


def test_the_host_is_described() -> None:
    found = discovered()
    assert found.host
    assert found.os is not None
    assert found.os.family == "windows"
    assert str(found.os.release).count(".") == 2
    assert found.captured_at is not None


def test_the_adapter_of_a_nic_is_found_by_its_driver_key(bus: PciBus) -> None:
    adapter = uplink()
    bus.plug(nic(Device_Driver=bus.driver_key(7, adapter.guid)), class_guid=NETWORK)
    found = function("15b3")
    assert [netdev.name for netdev in found.netdevs or ()] == [adapter.alias]
    assert ("address", adapter.alias) in {(use.code, use.detail) for use in found.in_use_by or ()}


def test_an_adapter_on_a_device_below_the_card_is_found_too(bus: PciBus) -> None:
    adapter = uplink()
    port: Mapping[str, Any] = {
        "DEVPKEY_Device_InstanceId": r"MLX5\PORT1\5&7",
        "DEVPKEY_Device_Parent": NIC,
        "DEVPKEY_Device_Driver": bus.driver_key(8, adapter.guid),
    }
    bus.plug(nic())
    bus.plug(port, class_guid=NETWORK)
    assert [netdev.name for netdev in function("15b3").netdevs or ()] == [adapter.alias]


def test_what_stands_on_what_is_recorded(bus: PciBus) -> None:
    bus.plug(system_disk(GPU))
    parents = {
        device["DEVPKEY_Device_InstanceId"]: device.get("DEVPKEY_Device_Parent") for device in recorded().devices
    }
    assert {name.upper(): parent for name, parent in parents.items()}[SYSTEM_DISK.upper()] == GPU


def test_the_system_volume_is_mounted() -> None:
    assert "C:\\" in {mount for volume in read_volumes() for mount in volume.mounts}


def test_a_disk_that_does_not_answer_is_left_out() -> None:
    assert read_disks([(r"\\?\no#such#disk", "X")]) == ()


def test_the_processors_of_this_machine_are_in_its_nodes() -> None:
    nodes = read_numa_nodes()
    assert nodes
    assert all(node.cpus for node in nodes)


def test_adapters_have_addresses() -> None:
    assert any("127.0.0.1" in adapter.addresses for adapter in read_adapters())


def test_the_edition_of_windows_is_known_and_hyper_v_is_not_installed() -> None:
    machine = read_machine()
    assert machine.product_type in ("WinNT", "ServerNT", "LanmanNT")
    assert machine.hyperv_role is False


def test_a_value_that_the_registry_does_not_have() -> None:
    assert registry_value(r"SYSTEM\Nothing\Here", "X") is None


def test_a_powershell_that_says_nothing_is_noted(bus: PciBus) -> None:
    bus.plug(nic())
    found = discovered()
    (note,) = (note for note in found.readiness if note.code == "powershell_silent")
    assert "it printed nothing" in str(note.message)
    assert found.platform is not None
    assert found.platform.dda is False


@pytest.mark.parametrize("attribute", ["iommu_group", "vpd", "vdpa", "reset_methods"])
def test_what_windows_cannot_tell_is_null(bus: PciBus, attribute: str) -> None:
    bus.plug(gpu())
    assert getattr(function("10de"), attribute) is None
