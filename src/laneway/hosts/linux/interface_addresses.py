"""Which network interfaces carry an IP address that is more than link-local."""

import struct
from collections.abc import Iterator

from laneway.hosts.linux import netlink
from laneway.hosts.linux.tree import HostTree

_LINK_LOCAL_SCOPE = 0x20
_HOST_SCOPE = 0x10

# linux/rtnetlink.h, linux/if_addr.h
_NETLINK_ROUTE = 0
_RTM_NEWADDR, _RTM_GETADDR = 20, 22
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_ADDRESS = struct.Struct("=BBBBI")


def interfaces_with_ipv6(tree: HostTree, *, live: bool) -> set[str] | None:
    """From /proc/net/if_inet6; a running kernel without that file has no IPv6."""
    text = net_table(tree, "if_inet6")
    if text is None:
        return set() if live else None
    return parse_if_inet6(text)


def parse_if_inet6(text: str) -> set[str]:
    """Interfaces with an address whose scope is neither link nor host."""
    rows = (line.split() for line in text.splitlines())
    return {row[5] for row in rows if len(row) == 6 and int(row[3], 16) not in (_LINK_LOCAL_SCOPE, _HOST_SCOPE)}


def interfaces_with_ipv4(tree: HostTree, *, live: bool) -> set[str] | None:
    """Asked by netlink of a running kernel; of a captured tree worked out from two tables of /proc/net."""
    if live:
        asked = _ask_kernel()
        if asked is not None:
            return asked
    trie, routes = net_table(tree, "fib_trie"), net_table(tree, "route")
    return None if trie is None or routes is None else interfaces_of_local_addresses(trie, routes)


def net_table(tree: HostTree, name: str) -> str | None:
    """A table of /proc/net, which is a link to a process's own."""
    for directory in ("proc/net", "proc/self/net", "proc/1/net"):
        text = tree.text(f"{directory}/{name}")
        if text is not None:
            return text
    return None


def interfaces_of_local_addresses(trie: str, routes: str) -> set[str] | None:
    """The interfaces that carry the local addresses of /proc/net/fib_trie.

    The trie names no interface; the longest connected route of /proc/net/route that covers the
    address does. None where an address is covered by no route: it may be on any interface.
    """
    connected = sorted(_connected_routes(routes), key=lambda route: -route[1])
    found = set()
    for address in _local_addresses(trie):
        if address >> 24 == 127 or address >> 16 == 0xA9FE:
            continue
        name = next((name for network, mask, name in connected if address & mask == network), None)
        if name is None:
            return None
        found.add(name)
    return found


def _connected_routes(text: str) -> Iterator[tuple[int, int, str]]:
    """Network, mask and interface of the routes without a gateway (host byte order, as x86 and arm64 print it)."""
    for line in text.splitlines()[1:]:
        row = line.split()
        if len(row) >= 8 and int(row[2], 16) == 0 and int(row[7], 16) != 0:
            yield _swapped(row[1]), _swapped(row[7]), row[0]


def _swapped(text: str) -> int:
    return int.from_bytes(bytes.fromhex(text), "little")


def _local_addresses(trie: str) -> set[int]:
    found = set()
    leaf = ""
    for line in trie.splitlines():
        words = line.split()
        if words[:1] == ["|--"] and len(words) == 2:
            leaf = words[1]
        elif words == ["/32", "host", "LOCAL"] and leaf:
            found.add(int.from_bytes(bytes(int(part) for part in leaf.split(".")), "big"))
    return found


def _ask_kernel() -> set[str] | None:
    import socket  # noqa: PLC0415 - only a running system needs it, and it takes long to import

    found: set[str] = set()
    family = _ADDRESS.pack(socket.AF_INET, 0, 0, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_ROUTE) as link:
            link.settimeout(2)
            link.send(netlink.request(_RTM_GETADDR, netlink.DUMP, 1, family))
            more = True
            while more:
                indexes, more = parse_address_dump(link.recv(1 << 18))
                found.update(map(socket.if_indextoname, indexes))
    except (OSError, struct.error):
        return None
    return found


def parse_address_dump(data: bytes) -> tuple[set[int], bool]:
    """From one datagram of an RTM_GETADDR dump: the indexes of interfaces with an IPv4 address that is
    not link-local, and whether more datagrams follow. Raises OSError where the kernel refused."""
    found: set[int] = set()
    for message in netlink.messages(data):
        if message.kind == netlink.DONE:
            return found, False
        netlink.raise_refusal(message)
        if message.kind == _RTM_NEWADDR:
            index = _ADDRESS.unpack_from(message.body)[4]
            attributes = dict(netlink.attributes(message.body[_ADDRESS.size :]))
            address = attributes.get(_IFA_LOCAL) or attributes.get(_IFA_ADDRESS) or b""
            if address[:2] != b"\xa9\xfe" and address[:1] != b"\x7f":
                found.add(index)
    return found, True
