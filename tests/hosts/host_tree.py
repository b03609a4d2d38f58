"""Builds the files of a Linux host below a directory: what sysfs and /proc show of disks, interfaces and processes."""

from collections.abc import Iterable
from pathlib import Path

from laneway.domain.address import PciAddress

ROUTE_HEADER = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
SWAPS_HEADER = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"


class HostTreeBuilder:
    """A host that uses none of its functions, until a method adds something."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.functions: dict[PciAddress, str] = {}
        self._numbers = 0
        self._trie: list[str] = []
        for directory in ("sys/class/block", "sys/class/net", "proc/1/fd"):
            (root / directory).mkdir(parents=True)
        self.write("proc/self/mountinfo", "")
        self.write("proc/swaps", SWAPS_HEADER)
        self.write("proc/net/route", ROUTE_HEADER)
        for table in ("fib_trie", "if_inet6", "ipv6_route"):
            self.write(f"proc/net/{table}", "")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def append(self, path: str, text: str) -> None:
        self.write(path, (self.root / path).read_text() + text)

    def link(self, path: str, target: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    # PCI

    def function(self, address: str, *, below: str = "pci0000:00", driver: str | None = None) -> str:
        """A PCI function; the answer is its place in the device tree, as ``below`` of the next one wants it."""
        place = f"{below}/{address}"
        (self.root / "sys/devices" / place).mkdir(parents=True)
        self.link(f"sys/bus/pci/devices/{address}", f"../../../devices/{place}")
        if driver is not None:
            self.link(f"sys/devices/{place}/driver", f"../../../bus/pci/drivers/{driver}")
        self.functions[PciAddress.parse(address)] = str(self.root / "sys/devices" / place)
        return place

    # disks

    def disk(self, name: str, place: str, parts: Iterable[str] = ()) -> None:
        """A disk at ``place`` in the device tree, without ``block/<name>``, with partitions."""
        folder = place if place.startswith("virtual/") or "nvme" in name else f"{place}/block"
        self._block(name, f"{folder}/{name}")
        for part in parts:
            self._block(part, f"{folder}/{name}/{part}")

    def mapped(self, name: str, label: str, identity: str, over: Iterable[str]) -> None:
        """A device mapper device, such as ``dm-0``."""
        place = f"virtual/block/{name}"
        self._block(name, place)
        self.write(f"sys/devices/{place}/dm/name", f"{label}\n")
        self.write(f"sys/devices/{place}/dm/uuid", f"{identity}\n")
        self._stack(name, over)

    def array(self, name: str, over: Iterable[str]) -> None:
        self._block(name, f"virtual/block/{name}")
        self._stack(name, over)

    def _block(self, name: str, place: str) -> None:
        self._numbers += 1
        self.write(f"sys/devices/{place}/dev", f"8:{self._numbers}\n")
        for directory in ("holders", "slaves"):
            (self.root / "sys/devices" / place / directory).mkdir()
        self.link(f"sys/class/block/{name}", f"../../devices/{place}")
        self.link(f"sys/dev/block/8:{self._numbers}", f"../../devices/{place}")

    def _stack(self, name: str, over: Iterable[str]) -> None:
        for lower in over:
            self.link(f"sys/class/block/{name}/slaves/{lower}", f"../../{lower}")
            self.link(f"sys/class/block/{lower}/holders/{name}", f"../../{name}")

    def number(self, name: str) -> str:
        return (self.root / f"sys/class/block/{name}/dev").read_text().strip()

    def mount(
        self,
        point: str,
        *,
        device: str | None = None,
        source: str = "none",
        kind: str = "ext4",
        table: str = "proc/self/mountinfo",
    ) -> None:
        number = "0:40" if device is None else self.number(device)
        self.append(table, f"36 1 {number} / {point} rw,relatime shared:1 - {kind} {source} rw\n")

    def swap(self, node: str) -> None:
        self.append("proc/swaps", f"{node} partition\t8388604\t0\t-2\n")

    # interfaces

    def interface(self, name: str, place: str) -> None:
        """An interface on the device at ``place``; ``virtual`` for one without hardware."""
        (self.root / f"sys/devices/{place}/net/{name}").mkdir(parents=True)
        self.link(f"sys/class/net/{name}", f"../../devices/{place}/net/{name}")

    def upper(self, upper: str, lower: str, *, master: bool = False) -> None:
        if not (self.root / f"sys/class/net/{upper}").exists():
            self.interface(upper, "virtual")
        self.link(f"sys/class/net/{lower}/upper_{upper}", f"../{upper}")
        if master:
            self.link(f"sys/class/net/{lower}/master", f"../{upper}")

    def default_route(self, name: str) -> None:
        self.append("proc/net/route", f"{name}\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")

    def default_route6(self, name: str, flags: str = "00000003") -> None:
        zeros = "0" * 32
        row = f"{zeros} 00 {zeros} 00 fe80000000000000000000000000000a 00000400 00000002 00000000 {flags} {name:>8}\n"
        self.append("proc/net/ipv6_route", row)

    def address(self, name: str, address: str) -> None:
        """An IPv4 address in a connected /24."""
        octets = [int(part) for part in address.split(".")]
        network = bytes([0, octets[2], octets[1], octets[0]]).hex().upper()
        self.append("proc/net/route", f"{name}\t{network}\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n")
        self.append("proc/net/fib_trie", f"           |-- {address}\n              /32 host LOCAL\n")

    def address6(self, name: str, *, scope: str = "00") -> None:
        self.append("proc/net/if_inet6", f"fd000000000000000000000000000002 04 40 {scope} 80 {name:>8}\n")

    # processes

    def process(self, pid: int, name: str, *nodes: str, parent: int = 1) -> None:
        """A process that holds these paths open."""
        self.write(f"proc/{pid}/comm", f"{name}\n")
        self.write(f"proc/{pid}/stat", f"{pid} ({name}) S {parent} {pid} {pid} 0 -1 4194560 1612\n")
        (self.root / f"proc/{pid}/fd").mkdir()
        for number, node in enumerate(nodes):
            self.link(f"proc/{pid}/fd/{number}", node)

    def node_class(self, kind: str, name: str, place: str) -> None:
        """A character device such as ``nvme0`` of the class ``nvme`` at ``place``."""
        (self.root / f"sys/devices/{place}/{kind}/{name}").mkdir(parents=True)
        self.link(f"sys/class/{kind}/{name}", f"../../devices/{place}/{kind}/{name}")
