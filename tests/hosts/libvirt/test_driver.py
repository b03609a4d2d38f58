"""The libvirt driver over a libvirt that is made up."""

import pytest

from hosts.libvirt.node_xml import FakeHost, domain, function
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.inventory import OperatingSystem, Platform, Problem
from laneway.hosts.libvirt.connection import Described
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.interfaces.host_driver import Ability
from laneway.interfaces.running_vms import RunningVm, RunningVms

GPU = "0000:3b:00.0"
GPU_ADDRESS = PciAddress.parse(GPU)


def test_a_host() -> None:
    host = FakeHost(function(GPU))
    found = LibvirtHostDriver("qemu+ssh://node-1/system", clock=lambda: 0, connect=host.connect).discover()
    assert (host.uri, host.open) == ("qemu+ssh://node-1/system", 0)
    assert (found.host, found.driver, found.os) == ("node-1", "libvirt", OperatingSystem(family="linux"))
    assert found.captured_at == "1970-01-01T00:00:00Z"
    assert found.platform == Platform(iommu="other")
    assert [node.id for node in found.numa_nodes] == [0, 1]
    assert [one.address for one in found.functions] == [GPU_ADDRESS]
    assert found.boot_id is None


def test_it_can_watch_and_change_its_host_but_makes_no_vfs() -> None:
    assert LibvirtHostDriver().describe().abilities == {Ability.WATCH, Ability.PREPARE, Ability.CLEAN}


def test_a_device_that_libvirt_cannot_tell_is_noted_and_hides_no_other() -> None:
    host = FakeHost(Described("pci_0000_81_00_0", fault="internal error"), function(GPU))
    found = LibvirtHostDriver(connect=host.connect).discover()
    assert [one.address for one in found.functions] == [GPU_ADDRESS]
    assert found.problems == (
        Problem(address="pci_0000_81_00_0", message="libvirt does not tell its XML: internal error"),
    )


def test_capabilities_that_libvirt_cannot_tell_are_noted() -> None:
    host = FakeHost(function(GPU), capabilities=Described("capabilities", fault="no memory"))
    found = LibvirtHostDriver(connect=host.connect).discover()
    assert (found.numa_nodes, found.platform) == ((), None)
    assert found.problems == (
        Problem(attribute="numa_nodes", message="libvirt does not tell its capabilities: no memory"),
    )


def test_running_domains_have_what_their_xml_says() -> None:
    driver = LibvirtHostDriver(connect=FakeHost(function(GPU), domains=[domain("db-1", GPU), domain("web")]).connect)
    assert driver.running_vms(driver.discover().functions) == RunningVms(
        vms=(RunningVm(consumer="db-1", uuid=None, pid=None, devices={GPU_ADDRESS: Attach.VFIO}, source="libvirt"),)
    )


@pytest.mark.parametrize(
    ("described", "why"),
    [(Described("db-1", "<network/>"), "it holds no domain"), (Described("db-1", fault="denied"), "denied")],
    ids=["no domain", "a fault"],
)
def test_a_domain_that_cannot_be_understood_is_noted(described: Described, why: str) -> None:
    driver = LibvirtHostDriver(
        connect=FakeHost(
            domains=[
                described,
                domain("web", GPU),
            ]
        ).connect
    )
    found = driver.running_vms(LibvirtHostDriver(connect=FakeHost(function(GPU)).connect).discover().functions)
    assert [vm.consumer for vm in found.vms] == ["web"]
    assert found.problems == (Problem(message=f"the libvirt domain db-1 cannot be understood: {why}"),)
