"""Network interfaces of functions."""

import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from hosts.sysfs_builder import FunctionDirectory, SysfsBuilder
from laneway.domain.address import PciAddress
from laneway.domain.inventory import NetDevice, Problem
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.linux.device_directory import DeviceDirectory
from laneway.hosts.linux.netdevs import FEATURES, NetdevReader, interface_query

CARD = "0000:81:00.0"


@pytest.fixture
def card(tmp_path: Path) -> FunctionDirectory:
    return SysfsBuilder(tmp_path).function(CARD, driver="mlx5_core", total_vfs=8)


class Kernel:
    """Answers as the running system does."""

    def __init__(self, features: Mapping[str, frozenset[str]]) -> None:
        self._features = features

    def features(self, interface: str) -> frozenset[str] | None:
        return self._features.get(interface)

    def permanent_mac(self, interface: str) -> str | None:
        return "b8:ce:f6:00:00:01" if interface in self._features else None


def read(card: FunctionDirectory, kernel: Kernel | None = None, **how: bool) -> tuple[NetDevice, ...]:
    problems: list[Problem] = []
    how = {"virtio": False, "below_switchdev": False} | how
    found = NetdevReader(kernel).read(DeviceDirectory(str(card.path), CARD, problems), **how)
    assert problems == []
    return found


def names(card: FunctionDirectory) -> list[str]:
    return [netdev.name for netdev in read(card)]


def test_an_interface_of_a_captured_tree(card: FunctionDirectory) -> None:
    card.netdev("ens1f0np0", mac="b8:ce:f6:00:00:01")
    assert read(card) == (
        NetDevice(
            name="ens1f0np0", mac="b8:ce:f6:00:00:01", permanent_mac="b8:ce:f6:00:00:01", speed_mbps=25000, up=True
        ),
    )


@pytest.mark.parametrize(
    ("attribute", "content", "field", "expected"),
    [
        pytest.param("speed", "-1", "speed_mbps", None, id="the speed of a link that is down"),
        pytest.param("speed", b"", "speed_mbps", None, id="a speed that was not captured"),
        pytest.param("flags", "0x1002", "up", False, id="an interface that nobody brought up"),
        pytest.param("flags", "x", "up", None, id="flags that make no sense"),
        pytest.param("addr_assign_type", "3", "permanent_mac", None, id="an address that someone set"),
        pytest.param("address", b"\n", "mac", None, id="an interface without an address"),
    ],
)
def test_attributes(
    card: FunctionDirectory, attribute: str, content: str | bytes, field: str, expected: object
) -> None:
    card.netdev("ens1f0").attribute(attribute, content)
    assert getattr(read(card)[0], field) == expected


def test_what_a_tree_lacks_is_not_known(card: FunctionDirectory) -> None:
    (card.path / "net/ens1f0").mkdir(parents=True)
    assert read(card) == (NetDevice(name="ens1f0"),)


def test_several_interfaces_stand_by_port_then_name(card: FunctionDirectory) -> None:
    card.netdev("eth9", port=0)
    card.netdev("eth1", port=1)
    card.netdev("eth0", port=1)
    assert names(card) == ["eth9", "eth0", "eth1"]


def test_interfaces_of_virtio_stand_one_level_down(tmp_path: Path) -> None:
    host = SysfsBuilder(tmp_path)
    host.function("0000:00:03.0", "1af4", "1041", driver="virtio-pci").netdev("eth0", bus="virtio2")
    found = LinuxHostDriver(tmp_path).discover().by_address[PciAddress.parse("0000:00:03.0")]
    assert found.netdevs is not None
    assert [netdev.name for netdev in found.netdevs] == ["eth0"]


def test_a_function_without_interfaces_has_none(card: FunctionDirectory) -> None:
    assert read(card) == read(card, virtio=True) == ()


def test_the_running_system_tells_features_and_the_address_of_the_hardware(card: FunctionDirectory) -> None:
    card.netdev("ens1f0", mac="02:00:00:00:00:09")
    card.netdev("ens1f1")
    (card.path / "infiniband").mkdir()
    first, second = read(card, Kernel({"ens1f0": frozenset({"rxhash", "tx", "rx"})}))
    assert (first.features, first.permanent_mac) == (("rx", "tx", "rxhash", "rdma"), "b8:ce:f6:00:00:01")
    assert (second.features, second.permanent_mac) == (("rdma",), None)


def test_ports_that_stand_for_vfs_come_last_and_tell_of_switchdev_mode(card: FunctionDirectory) -> None:
    card.netdev("a_port").attribute("phys_port_name", "pf0vf0")
    card.netdev("b_port").attribute("phys_port_name", "c1pf0sf88")
    card.netdev("ens1f0np0")
    found = read(card)
    assert [netdev.name for netdev in found] == ["ens1f0np0", "a_port", "b_port"]
    assert {netdev.features for netdev in found} == {("switchdev",)}


def test_vfs_of_a_pf_in_switchdev_mode_have_the_feature_too(card: FunctionDirectory) -> None:
    card.netdev("ens1f0np0")
    card.netdev("ens1f0npf0vf0").attribute("phys_port_name", "pf0vf0")
    card.vf("0000:81:00.1", "101e").netdev("ens1f0v0")
    card.host.function("0000:82:00.0", total_vfs=8).vf("0000:82:00.1", "154c").netdev("ens2v0")
    by_address = LinuxHostDriver(card.host.root).discover().by_address
    features = {str(a): [n.features for n in f.netdevs or ()] for a, f in by_address.items()}
    assert features["0000:81:00.1"] == [("switchdev",)]
    assert features["0000:82:00.1"] == [None]


def test_of_a_captured_tree_nobody_is_asked() -> None:
    with interface_query(live=False) as query:
        assert query is None


def test_the_running_system_is_asked_for_its_loopback() -> None:
    with interface_query(live=True) as query:
        assert query is not None
        found = query.features("lo")
        assert found is not None
        assert found <= set(FEATURES)
        assert query.permanent_mac("lo") is None
        assert query.features("no such one") is None


def test_where_sockets_cannot_be_had_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refuse)
    with interface_query(live=True) as query:
        assert query is None
