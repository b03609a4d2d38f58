"""Network interfaces that the host needs: they carry its traffic, or something is built on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.hosts.linux.function_paths import FunctionPaths, device_path
from laneway.hosts.linux.interface_addresses import interfaces_with_ipv4, interfaces_with_ipv6, net_table
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.use_findings import UseCode, UseFindings

_RTF_UP, _RTF_REJECT = 0x1, 0x200


@dataclass(frozen=True, slots=True)
class NetworkDevices:
    """The interfaces on PCI functions: ``functions`` of each, and ``uppers``, the interfaces directly
    on top of each interface that can be reached from one of them."""

    functions: Mapping[str, tuple[PciAddress, ...]]
    uppers: Mapping[str, frozenset[str]]

    def stack(self, name: str) -> set[str]:
        """The interface and all above it."""
        seen = {name}
        waiting = [name]
        while waiting:
            new = self.uppers.get(waiting.pop(), frozenset()) - seen
            seen |= new
            waiting.extend(new)
        return seen


def read_network_devices(tree: HostTree, paths: FunctionPaths) -> NetworkDevices | None:
    """The interfaces of the tree that stand on PCI functions, or None where it does not list any interface."""
    names = tree.names("sys/class/net")
    if names is None:
        return None
    functions = {}
    for name in names:
        found = paths.functions_of(device_path(tree.link(f"sys/class/net/{name}") or ""))
        if found:
            functions[name] = found
    uppers: dict[str, frozenset[str]] = {}
    waiting = list(functions)
    while waiting:
        name = waiting.pop()
        if name not in uppers:
            uppers[name] = _uppers(tree, name)
            waiting.extend(uppers[name])
    return NetworkDevices(functions, uppers)


def _uppers(tree: HostTree, name: str) -> frozenset[str]:
    """Bonds, bridges, Open vSwitch (by its ``ovs-system``), VLANs, macvlans: whatever stands on the interface."""
    entries = tree.names(f"sys/class/net/{name}") or ()
    found = {entry.removeprefix("upper_") for entry in entries if entry.startswith("upper_")}
    if "master" in entries:
        found.add((tree.link(f"sys/class/net/{name}/master") or "").rpartition("/")[2])
    return frozenset(found - {""})


def find_network_use(tree: HostTree, devices: NetworkDevices, findings: UseFindings, *, live: bool) -> None:
    """Adds the uses of all interfaces: what an upper one is used for, the functions below it are used for.

    An interface that is up without an address is not in use.
    """
    traffic = _read_traffic(tree, live=live)
    sessions = parse_pppoe_interfaces(net_table(tree, "pppoe") or "")
    for name, functions in devices.functions.items():
        for upper in devices.uppers[name]:
            findings.add(functions, UseCode.UPPER_DEVICE, upper)
        for used in devices.stack(name):
            if used in traffic.routed:
                findings.add(functions, UseCode.DEFAULT_ROUTE, used)
            if used in traffic.addressed:
                findings.add(functions, UseCode.ADDRESS, used)
            if used in sessions:
                findings.add(functions, UseCode.UPPER_DEVICE, f"PPPoE session on {used}")
    if traffic.missing:
        findings.not_known(
            set().union(*devices.functions.values()) - findings.uses.keys(),
            f"/proc/net does not tell {' and '.join(traffic.missing)} of the interfaces",
        )


@dataclass(frozen=True, slots=True)
class _Traffic:
    """The interfaces with a default route, those with an address, and what could not be read."""

    routed: set[str]
    addressed: set[str]
    missing: tuple[str, ...]


def _read_traffic(tree: HostTree, *, live: bool) -> _Traffic:
    facts: dict[str, Callable[[], set[str] | None]] = {
        "the IPv4 default route": lambda: _routed(tree, "route", parse_default_routes, live=live),
        "the IPv6 default route": lambda: _routed(tree, "ipv6_route", parse_default_routes6, live=live),
        "the IPv4 addresses": lambda: interfaces_with_ipv4(tree, live=live),
        "the IPv6 addresses": lambda: interfaces_with_ipv6(tree, live=live),
    }
    found = {fact: _unless_malformed(read) for fact, read in facts.items()}
    route4, route6, address4, address6 = (names or set() for names in found.values())
    missing = tuple(fact for fact, names in found.items() if names is None)
    return _Traffic(routed=route4 | route6, addressed=address4 | address6, missing=missing)


def _routed(tree: HostTree, table: str, parse: Callable[[str], set[str]], *, live: bool) -> set[str] | None:
    """A running kernel without the table does not have the protocol."""
    text = net_table(tree, table)
    if text is None:
        return set() if live else None
    return parse(text)


def _unless_malformed(read: Callable[[], set[str] | None]) -> set[str] | None:
    try:
        return read()
    except ValueError:
        return None


def parse_default_routes(text: str) -> set[str]:
    """Interfaces with a default route in /proc/net/route."""
    rows = (line.split() for line in text.splitlines()[1:])
    return {
        row[0] for row in rows if len(row) >= 8 and int(row[1], 16) == 0 and int(row[7], 16) == 0 and _leads_out(row[3])
    }


def parse_default_routes6(text: str) -> set[str]:
    """Interfaces with a default route in /proc/net/ipv6_route; ``unreachable`` routes on lo are none."""
    rows = (line.split() for line in text.splitlines())
    return {
        row[9] for row in rows if len(row) == 10 and row[0].strip("0") == "" and row[1] == "00" and _leads_out(row[8])
    } - {"lo"}


def parse_pppoe_interfaces(text: str) -> set[str]:
    """Interfaces that carry PPPoE sessions, by /proc/net/pppoe: nothing in sysfs joins them to their ``ppp0``."""
    rows = (line.split() for line in text.splitlines()[1:])
    return {row[2] for row in rows if len(row) == 3}


def _leads_out(flags: str) -> bool:
    return int(flags, 16) & (_RTF_UP | _RTF_REJECT) == _RTF_UP


def find_moved_interfaces(tree: HostTree, paths: FunctionPaths, devices: NetworkDevices, findings: UseFindings) -> None:
    """Notes functions whose interface was moved to another network namespace.

    Their directory has a ``net`` that looks empty from here, so what the interface is used for
    cannot be seen.
    """
    seen: set[PciAddress] = set().union(*devices.functions.values())
    for address, directory in paths.with_entry("net"):
        if address not in seen and tree.names(directory) == []:
            findings.not_known(
                (address,),
                "its network interface is in another network namespace, where its use cannot be seen",
                address=address,
            )
