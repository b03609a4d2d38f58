"""Builds the facts of a host: places on the bus, and functions at them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from laneway.domain.address import PciAddress
from laneway.domain.inventory import (
    DevType,
    Inventory,
    Link,
    NetDevice,
    NumaNode,
    OperatingSystem,
    PciFunction,
    Platform,
    ReadinessNote,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where on the bus a function hangs: the root, and the bridges above it."""

    root: str
    node: int | None
    bridges: tuple[PciAddress, ...] = ()

    def path_of(self, address: PciAddress) -> str:
        """The path of the inventory contract: the root, then device.function of each hop."""
        hops = [f"{hop.slot:02x}.{hop.function}" for hop in (*self.bridges, address)]
        return "/".join((self.root, *hops))


@dataclass(frozen=True, slots=True)
class Model:
    """What all functions of one kind have in common: ids, class, link, ways of resetting."""

    ids: str
    class_code: str
    subsystem: str | None = None
    revision: str = "00"
    link: Link | None = None
    reset_methods: tuple[str, ...] = ("flr", "bus")

    def facts(self) -> dict[str, Any]:
        vendor_id, product_id = self.ids.split(":")
        subsystem = (self.subsystem or f"{vendor_id}:0000").split(":")
        return {
            "vendor_id": vendor_id,
            "product_id": product_id,
            "subsystem_vendor_id": subsystem[0],
            "subsystem_id": subsystem[1],
            "class_code": self.class_code,
            "revision": self.revision,
            "link": self.link,
            "reset_methods": self.reset_methods,
        }


def pcie(speed_gts: float, width: int) -> Link:
    """A link that runs at its best."""
    return Link(speed_gts=speed_gts, width=width, max_speed_gts=speed_gts, max_width=width)


@dataclass(slots=True)
class HostBuilder:
    """Collects functions. A function gets an IOMMU group of its own unless one is given."""

    functions: list[PciFunction] = field(default_factory=list)
    next_group: int = 0

    def group(self) -> int:
        self.next_group += 1
        return self.next_group - 1

    def add(self, place: Place, address: str, model: Model, **facts: Any) -> PciFunction:
        """A function at a place. What is given overrides what the model and the builder say."""
        where = PciAddress.parse(address)
        known: dict[str, Any] = {
            "dev_type": DevType.PCI,
            "numa_node": place.node,
            "pcie_roots": (place.root,),
            "bridges": place.bridges,
            "path": place.path_of(where),
            "in_use_by": (),
            "opened_by": (),
            "not_assignable": (),
        }
        group = {} if "iommu_group" in facts else {"iommu_group": self.group()}
        function = PciFunction(address=where, **{**known, **model.facts(), **group, **facts})
        self.functions.append(function)
        return function

    def bridge(self, place: Place, address: str, model: Model, **facts: Any) -> Place:
        """A bridge at a place; returns the place below it."""
        function = self.add(place, address, model, **{"driver": "pcieport", "reset_methods": (), **facts})
        return replace(place, bridges=(*place.bridges, function.address))

    def virtual_functions(
        self,
        place: Place,
        parent: PciFunction,
        addresses: Sequence[str],
        model: Model,
        facts_of: Callable[[int], Mapping[str, Any]],
    ) -> None:
        """The VFs of a PF; ``facts_of`` gives what is known of the one with this index, from 0."""
        for index, address in enumerate(addresses):
            known = {
                "dev_type": DevType.VF,
                "parent_addr": parent.address,
                "vf_index": index,
                "path": f"{parent.path}+vf{index}",
            }
            self.add(place, address, model, **{**known, **facts_of(index)})

    def inventory(
        self, host: str, iommu: str, nodes: Sequence[NumaNode], readiness: Sequence[ReadinessNote] = ()
    ) -> Inventory:
        return Inventory(
            functions=tuple(sorted(self.functions, key=lambda function: function.address)),
            host=host,
            driver="snapshot",
            os=OperatingSystem(family="linux", release="6.12.48"),
            boot_id="7d1f1d6e-0b6a-4b65-9d3e-6a2c5f0a9b10",
            captured_at="2026-12-01T09:00:00Z",
            platform=Platform(iommu=iommu, interrupt_remapping=True, vfio_pci=True),
            numa_nodes=tuple(nodes),
            readiness=tuple(readiness),
        )


def addresses_from(first: str, count: int) -> list[str]:
    """So many addresses in a row, as SR-IOV lays out VFs with a stride of 1."""
    start = PciAddress.parse(first)
    return [str(PciAddress(start + offset)) for offset in range(count)]


def interface(name: str, number: int, *, speed_mbps: int = 25000, up: bool = False, features: str = "") -> NetDevice:
    """A network interface; its MAC is locally administered, so it is no one's."""
    mac = f"02:00:00:{number >> 16 & 0xFF:02x}:{number >> 8 & 0xFF:02x}:{number & 0xFF:02x}"
    return NetDevice(
        name=name,
        mac=mac,
        permanent_mac=mac,
        features=tuple(features.split()) if features else ("rx", "tx", "sg", "tso", "gso", "gro"),
        speed_mbps=speed_mbps,
        up=up,
    )


def two_sockets(cpus_each: int) -> tuple[NumaNode, NumaNode]:
    """Two NUMA nodes, one in each socket."""
    return (
        NumaNode(id=0, socket=0, cpus=tuple(range(cpus_each)), distances={0: 10, 1: 21}),
        NumaNode(id=1, socket=1, cpus=tuple(range(cpus_each, 2 * cpus_each)), distances={0: 21, 1: 10}),
    )
