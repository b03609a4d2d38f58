"""libvirt's driver on the libvirtd of this host, held against the Linux driver, which reads the same kernel."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.inventory import Inventory, NetDevice, PciFunction
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.hosts.linux import LinuxHostDriver
from vm.commands import Laneway
from vm.devices import DEVICES, NIC_ON_SWITCH, NIC_PORT_0, NIC_VFS, NVME, SLOT_0, driver_of, settle
from vm.host_use import functions_now
from vm.hot_plug import wait_for
from vm.links import connected
from vm.monitor import Monitor, address_in
from vm.nested_vm import managed_hostdevs, running_domain

REQUIRED = {"address", "vendor_id", "product_id", "dev_type"}
TOLD = REQUIRED | LibvirtHostDriver().describe().facts


@pytest.fixture(scope="module")
def told(libvirtd: Any) -> Inventory:
    """What it tells when it has heard of all that came and went in the tests before: it learns that from udev."""
    settle()
    there = {(path.name, frozenset(net.name for net in path.glob("net/*"))) for path in DEVICES.iterdir()}
    for _ in range(100):
        inventory = LibvirtHostDriver().discover()
        if there == {
            (str(one.address), frozenset(netdev.name for netdev in one.netdevs or ())) for one in inventory.functions
        }:
            return inventory
    raise AssertionError(f"libvirt does not tell of the devices that there are: {there}")


def as_libvirt_can_tell(function: PciFunction) -> PciFunction:
    """The table in docs/drivers.md: facts that it does not tell, and that interfaces are up where they have a link."""
    silent: dict[str, Any] = {field.name: None for field in fields(function) if field.name not in TOLD}
    return replace(function, **silent, netdevs=tuple(map(_interface, function.netdevs or ())))


def _interface(netdev: NetDevice) -> NetDevice:
    return replace(netdev, permanent_mac=None, up=netdev.up or None)


def test_it_tells_the_functions_of_the_linux_driver_fact_by_fact(told: Inventory) -> None:
    expected = [as_libvirt_can_tell(function) for function in LinuxHostDriver().discover().functions]
    assert [function.address for function in told.functions] == [function.address for function in expected]
    assert list(told.functions) == expected


@pytest.mark.parametrize("fact", ["host", "numa_nodes"])
def test_it_tells_the_host_as_the_linux_driver_does(fact: str, told: Inventory, inventory: Inventory) -> None:
    assert getattr(told, fact) == getattr(inventory, fact)


def test_it_understands_all_that_libvirt_tells(told: Inventory) -> None:
    assert told.problems == ()
    assert told.platform is not None
    assert told.platform.iommu == "other"


def test_an_interface_with_a_link_is_up(libvirtd: Any) -> None:
    with connected(NIC_ON_SWITCH):
        expected = as_libvirt_can_tell(functions_now()[NIC_ON_SWITCH]).netdevs
        assert interfaces_of(NIC_ON_SWITCH) == expected
    assert [(netdev.up, netdev.speed_mbps) for netdev in expected or ()] == [(True, 1000)]
    assert [(netdev.up, netdev.speed_mbps) for netdev in interfaces_of(NIC_ON_SWITCH)] == [(None, None)]


def interfaces_of(address: str) -> tuple[NetDevice, ...]:
    functions = {str(one.address): one for one in LibvirtHostDriver().discover().functions}
    return functions[address].netdevs or ()


def test_hot_plug_is_an_event_that_names_the_function(libvirtd: Any, monitor: Monitor) -> None:
    address = address_in(SLOT_0)
    events = LibvirtHostDriver().watch()
    try:
        monitor.plug(SLOT_0, "e1000e", "hot4")
        wait_for(events, address)
        monitor.unplug("hot4")
        wait_for(events, address)
    finally:
        events.close()


@pytest.mark.parametrize("driver", ["linux", "libvirt"])
def test_domains_with_host_devices_are_adopted(driver: str, libvirtd: Any, laneway: Laneway, tmp_path: Path) -> None:
    config = tmp_path / "laneway.toml"
    config.write_text(f'[host]\ndriver = "{driver}"\n\n{laneway.config.read_text()}')
    laneway = replace(laneway, config=config)
    before = [driver_of(address) for address in (NIC_VFS[0], NVME)]
    with running_domain(libvirtd, "guest-1", managed_hostdevs(NIC_VFS[0], NVME)):
        assert [driver_of(address) for address in (NIC_VFS[0], NVME)] == ["vfio-pci", "vfio-pci"]
        assert laneway("adopt", "--yes").status == 0
        devices = {one["address"]: one["device"] for one in laneway("devices").document["functions"]}
        assert {
            address: (device["status"], device["consumer"])
            for address, device in devices.items()
            if device and device.get("consumer")
        } == dict.fromkeys((NIC_VFS[0], NVME), ("allocated", "guest-1"))
        assert devices[NIC_PORT_0]["status"] == "available"
    assert [driver_of(address) for address in (NIC_VFS[0], NVME)] == before
