"""IP addresses of interfaces: tables of /proc/net, and what the kernel answers to netlink."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.host_tree import ROUTE_HEADER, HostTreeBuilder
from laneway.hosts.linux import interface_addresses
from laneway.hosts.linux.interface_addresses import (
    interfaces_of_local_addresses,
    interfaces_with_ipv4,
    interfaces_with_ipv6,
    parse_address_dump,
    parse_if_inet6,
)
from laneway.hosts.linux.tree import HostTree

ROUTES = ROUTE_HEADER + (
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    "eth1\t000200C0\t00000000\t0001\t0\t0\t0\tC0FFFFFF\t0\t0\t0\n"
)


def trie(*addresses: str) -> str:
    leaves = "".join(f"        |-- {a}\n           /32 host LOCAL\n        |-- 192.0.2.255\n" for a in addresses)
    return f"Local:\n  +-- 0.0.0.0/0 3 0 5\n{leaves}           /32 link BROADCAST\n"


@pytest.mark.parametrize(
    ("addresses", "names"),
    [
        (["192.0.2.100"], {"eth0"}),
        (["192.0.2.7"], {"eth1"}),
        (["192.0.2.100", "192.0.2.7"], {"eth0", "eth1"}),
        (["127.0.0.1", "169.254.1.1"], set()),
        (["198.51.100.1"], None),
        ([], set()),
    ],
    ids=["by its route", "by the longest mask", "both", "loopback and link-local", "no route covers it", "none"],
)
def test_an_address_is_on_the_interface_of_the_route_that_covers_it(
    addresses: list[str], names: set[str] | None
) -> None:
    assert interfaces_of_local_addresses(trie(*addresses), ROUTES) == names


def test_scopes_of_ipv6_addresses() -> None:
    rows = (("00", "eth0"), ("20", "eth1"), ("10", "lo"), ("40", "eth2"))
    text = "".join(f"fd000000000000000000000000000002 04 40 {scope} 80 {name}\n" for scope, name in rows)
    assert parse_if_inet6(text) == {"eth0", "eth2"}


def test_a_running_kernel_without_the_table_has_no_ipv6(host: HostTreeBuilder) -> None:
    host.remove("proc/net/if_inet6")
    tree = HostTree(host.root)
    assert interfaces_with_ipv6(tree, live=True) == set()
    assert interfaces_with_ipv6(tree, live=False) is None


def test_the_table_of_a_process_stands_in_for_the_link(host: HostTreeBuilder) -> None:
    (host.root / "proc/net").rename(host.root / "proc/self/net")
    host.root.joinpath("proc/self/net/if_inet6").write_text("fd00 04 40 00 80 eth0\n")
    assert interfaces_with_ipv6(HostTree(host.root), live=False) == {"eth0"}


def test_where_the_kernel_does_not_answer_the_tables_do(host: HostTreeBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interface_addresses, "_ask_kernel", lambda: None)
    host.address("eth0", "192.0.2.2")
    assert interfaces_with_ipv4(HostTree(host.root), live=True) == {"eth0"}


def test_this_machines_kernel_answers(host: HostTreeBuilder) -> None:
    names = interfaces_with_ipv4(HostTree(host.root), live=True)
    assert names is not None
    assert "lo" not in names


# datagrams of an address dump (rtnetlink(7))


def message(kind: int, body: bytes) -> bytes:
    length = 16 + len(body)
    return struct.pack("=IHHII", length, kind, 2, 1, 0) + body + b"\0" * (-length % 4)


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def address(index: int, *attributes: bytes) -> bytes:
    return message(20, struct.pack("=BBBBI", 2, 24, 0x80, 0, index) + b"".join(attributes))


LABEL = attribute(3, b"eth0\0")
DONE = message(3, b"\0\0\0\0")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (address(2, attribute(1, b"\xc0\0\2\1"), LABEL) + DONE, ({2}, False)),
        (address(2, LABEL, attribute(2, b"\x0a\0\0\1")) + address(3, attribute(1, b"\x0a\0\0\2")), ({2, 3}, True)),
        (address(2, attribute(2, b"\xa9\xfe\1\1")) + address(1, attribute(2, b"\x7f\0\0\1")) + DONE, (set(), False)),
        (address(2, attribute(1, b"\xa9\xfe\1\1"), attribute(2, b"\x0a\0\0\1")) + DONE, ({2}, False)),
        (DONE, (set(), False)),
    ],
    ids=["one address", "more to come", "link-local and loopback", "the local end of a link counts", "none"],
)
def test_datagrams_of_the_kernel(data: bytes, expected: tuple[set[int], bool]) -> None:
    assert parse_address_dump(data) == expected


def test_a_refusal_of_the_kernel_is_an_error() -> None:
    with pytest.raises(OSError, match="Operation not permitted"):
        parse_address_dump(message(2, struct.pack("=i", -1)))


@given(st.binary(max_size=200))
def test_no_datagram_is_read_beyond_its_end(data: bytes) -> None:
    try:
        indexes, _ = parse_address_dump(data)
    except (OSError, struct.error):
        return
    assert len(indexes) <= len(data) // 16
