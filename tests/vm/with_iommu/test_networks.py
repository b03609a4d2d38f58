"""Interfaces that the host needs, by addresses and routes that the kernel really has."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from vm.commands import output_of
from vm.devices import NIC_ON_SWITCH, NIC_PF, NIC_PORT_0, NIC_PORT_1, NIC_VFS, interface_of
from vm.host_use import functions_now, look, uses, uses_of
from vm.links import connected, up

PORTS = (NIC_PORT_0, NIC_PORT_1)


def ip(*arguments: str) -> None:
    output_of("ip", *arguments)


@contextmanager
def made(name: str, *kind: str) -> Iterator[None]:
    """An interface that stands on others."""
    ip("link", "add", "name", name, *kind)
    try:
        yield
    finally:
        ip("link", "del", name)


def test_up_without_an_address_is_no_use() -> None:
    with connected(NIC_ON_SWITCH) as name:
        function = functions_now()[NIC_ON_SWITCH]
        assert uses_of(function) == set()
        assert [(one.name, one.up, one.speed_mbps) for one in function.netdevs or ()] == [(name, True, 1000)]


@pytest.mark.parametrize(("address", "family"), [("169.254.7.1/16", "-4"), ("fe80::1/64", "-6")])
def test_a_link_local_address_is_no_use(address: str, family: str) -> None:
    with up(NIC_ON_SWITCH) as name:
        ip(family, "addr", "add", address, "dev", name)
        assert uses(NIC_ON_SWITCH) == set()


@pytest.mark.parametrize(
    "address",
    ["10.9.0.1/24", "10.9.0.2/32", "2001:db8::1/64", "fd00::1/128"],
    ids=["IPv4", "IPv4 alone", "IPv6", "ULA"],
)
def test_an_address(address: str) -> None:
    with up(NIC_ON_SWITCH) as name:
        ip("addr", "add", address, "dev", name)
        assert uses(NIC_ON_SWITCH) == {("address", name)}
    assert uses(NIC_ON_SWITCH) == set()


@pytest.mark.parametrize("family", ["-4", "-6"])
def test_a_default_route_without_an_address(family: str) -> None:
    with up(NIC_ON_SWITCH) as name:
        ip(family, "route", "add", "default", "dev", name)
        assert uses(NIC_ON_SWITCH) == {("default_route", name)}


def test_a_bond_over_both_ports_with_the_uplink_in_a_vlan_on_it() -> None:
    names = [interface_of(address) for address in PORTS]
    with up(*PORTS), made("bond9", "type", "bond", "mode", "active-backup"):
        for name in names:
            ip("link", "set", name, "down")
            ip("link", "set", name, "master", "bond9")
        with made("bond9.7", "link", "bond9", "type", "vlan", "id", "7"):
            ip("link", "set", "bond9", "up")
            ip("link", "set", "bond9.7", "up")
            ip("addr", "add", "10.9.7.1/24", "dev", "bond9.7")
            ip("route", "add", "default", "via", "10.9.7.254")
            now = functions_now()
            expected = {("default_route", "bond9.7"), ("address", "bond9.7"), ("upper_device", "bond9")}
            assert [uses_of(now[address]) for address in PORTS] == [expected, expected]
            assert uses_of(now[NIC_ON_SWITCH]) == set()
    now = functions_now()
    assert [uses_of(now[address]) for address in PORTS] == [set(), set()]


@pytest.mark.parametrize("kind", [("macvlan",), ("macvtap",), ("ipvlan",), ("vlan", "id", "9")], ids=" ".join)
def test_something_that_stands_on_an_interface(kind: tuple[str, ...]) -> None:
    with up(NIC_ON_SWITCH) as name, made("upper9", "link", name, "type", *kind):
        assert uses(NIC_ON_SWITCH) == {("upper_device", "upper9")}


def test_a_port_of_a_bridge() -> None:
    with made("bridge9", "type", "bridge"), up(NIC_ON_SWITCH) as name:
        ip("link", "set", name, "master", "bridge9")
        assert uses(NIC_ON_SWITCH) == {("upper_device", "bridge9")}


def test_the_uplink_on_a_physical_function_leaves_its_virtual_functions_free() -> None:
    with up(NIC_PF) as name:
        ip("addr", "add", "10.9.0.1/24", "dev", name)
        now = functions_now()
        assert uses_of(now[NIC_PF]) == {("address", name)}
        assert [uses_of(now[vf]) for vf in NIC_VFS] == [set()] * 3


def test_an_interface_in_another_network_namespace_cannot_be_looked_at() -> None:
    name = interface_of(NIC_ON_SWITCH)
    ip("netns", "add", "elsewhere")
    try:
        ip("link", "set", name, "netns", "elsewhere")
        inventory = look()
        (function,) = (one for one in inventory.functions if str(one.address) == NIC_ON_SWITCH)
        assert uses_of(function) is None
        assert [problem.address for problem in inventory.problems] == [NIC_ON_SWITCH]
        ip("-n", "elsewhere", "link", "set", name, "netns", "1")
    finally:
        ip("netns", "del", "elsewhere")
    assert uses(NIC_ON_SWITCH) == set()
