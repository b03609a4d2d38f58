"""The driver on hosts that libvirt itself makes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hosts.libvirt.node_xml import FakeHost
from laneway.cli import main
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Link, NetDevice
from laneway.hosts.conformance import HostDriverConformance
from laneway.hosts.libvirt import LibvirtHostDriverFactory
from laneway.hosts.libvirt.changes.facts import read_facts
from laneway.hosts.libvirt.connection import ChangingLibvirtHost, connected, connected_to_change
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.interfaces.host_changes import Prepare
from laneway.interfaces.host_driver import HostDriver
from with_libvirt.node_file import DEVICES, GPU, PF, VF, write_node_file

NAME = "pci_0000_81_00_3"


@pytest.fixture
def driver(tmp_path: Path) -> LibvirtHostDriver:
    return LibvirtHostDriver(write_node_file(tmp_path / "node.xml"))


class TestConformance(HostDriverConformance):
    @pytest.fixture
    def driver(self, tmp_path: Path) -> HostDriver:
        return LibvirtHostDriver(write_node_file(tmp_path / "node.xml"))


def test_libvirt_tells_what_it_was_given(driver: LibvirtHostDriver) -> None:
    told = driver.discover()
    given = LibvirtHostDriver(connect=FakeHost(*DEVICES).connect).discover()
    assert told.functions == given.functions
    assert told.problems == ()


def test_functions_with_their_facts(driver: LibvirtHostDriver) -> None:
    found = {str(function.address): function for function in driver.discover().functions}
    assert list(found) == [GPU, PF, VF]
    assert (found[VF].parent_addr, found[VF].vf_index) == (PciAddress.parse(PF), 0)
    assert found[VF].netdevs == (NetDevice(name="ens1f0v0", mac="02:00:00:00:00:50"),)
    assert found[PF].netdevs == (
        NetDevice(name="ens1f0np0", mac="02:00:00:00:00:01", features=("rx", "switchdev"), speed_mbps=25000, up=True),
    )
    assert found[PF].link == Link(speed_gts=8.0, width=8, max_speed_gts=16.0, max_width=8)
    assert (found[GPU].vendor_id, found[GPU].product_id, found[GPU].path) == ("10de", "20b0", "0000:3a/00.0/00.0")


def test_numa_nodes_of_the_default_host() -> None:
    nodes = LibvirtHostDriver("test:///default").discover().numa_nodes
    assert [(node.id, node.socket, len(node.cpus or ())) for node in nodes] == [(0, 0, 8), (1, 1, 8)]


def test_a_running_domain_owns_its_host_device(driver: LibvirtHostDriver) -> None:
    (vm,) = driver.running_vms(driver.discover().functions).vms
    assert (vm.consumer, vm.uuid) == ("db-1", "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60")
    assert vm.devices == {PciAddress.parse(GPU): Attach.VFIO}


def test_the_facts_that_a_change_is_decided_on(driver: LibvirtHostDriver, tmp_path: Path) -> None:
    with connected(write_node_file(tmp_path / "node.xml")) as host:
        facts = read_facts(host)
    assert facts.functions == driver.discover().by_address
    assert facts.names[PciAddress.parse(VF)] == "pci_0000_81_00_3"
    assert facts.holders == {PciAddress.parse(GPU): "db-1"}
    assert facts.version >= 6_009_000


def test_a_host_without_an_iommu_gives_nothing_away(driver: LibvirtHostDriver) -> None:
    """The hosts that libvirt's test driver makes have none."""
    with pytest.raises(LanewayError, match="the host uses no IOMMU") as caught:
        driver.plan(Prepare(recorded=driver.discover().by_address[PciAddress.parse(VF)]))
    assert caught.value.code is ErrorCode.NOT_ASSIGNABLE


@pytest.mark.parametrize(
    "change",
    [lambda host: host.detach(NAME, "vfio"), lambda host: host.reset(NAME), lambda host: host.reattach(NAME)],
    ids=["detach", "reset", "reattach"],
)
def test_a_kind_of_libvirt_that_takes_no_devices_says_so(
    tmp_path: Path, change: Callable[[ChangingLibvirtHost], None]
) -> None:
    """The test driver has none of these calls; what they do on qemu:///system is tried in a VM."""
    with (
        connected_to_change(write_node_file(tmp_path / "node.xml")) as host,
        pytest.raises(LanewayError, match="not supported by the connection driver: virNodeDevice") as caught,
    ):
        change(host)
    assert caught.value.code is ErrorCode.NOT_SUPPORTED


def test_a_device_that_is_not_there_cannot_be_changed(tmp_path: Path) -> None:
    with (
        connected_to_change(write_node_file(tmp_path / "node.xml")) as host,
        pytest.raises(LanewayError) as caught,
    ):
        host.detach("pci_0000_ff_00_0", "vfio")
    assert caught.value.code is ErrorCode.UNKNOWN_DEVICE


@pytest.mark.parametrize("uri", ["qemu+unix:///system?socket=/nowhere", "test:///nowhere.xml", "nothing:///"])
def test_a_libvirt_that_cannot_be_reached(uri: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LanewayError, match="does not answer") as caught:
        LibvirtHostDriver(uri).discover()
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE
    assert "error :" not in capfd.readouterr().err


def test_the_factory_makes_it() -> None:
    assert LibvirtHostDriverFactory().unavailable() is None


def test_the_config_names_the_host_by_its_uri(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uri, config = write_node_file(tmp_path / "node.xml"), tmp_path / "laneway.toml"
    config.write_text(f'[host]\nuri = "{uri}"\n[[device_spec]]\nvendor_id = "10de"\n')
    assert main(["devices", "--json", "--config", str(config), "--state", str(tmp_path / "state.db")]) == 0
    functions = json.loads(capsys.readouterr().out)["functions"]
    assert [one["address"] for one in functions if one["device"] is not None] == [GPU]
