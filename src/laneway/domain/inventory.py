"""The facts of one host, as a host driver reports them: contract ``laneway.inventory/1``.

The fields are those of the JSON contract, by the same names. None means "not known", never
another value; an empty tuple means "known to be none".
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError

INVENTORY_SCHEMA = "laneway.inventory/1"


class DevType(StrEnum):
    """What kind of function it is, in nova's words (rule C25)."""

    PCI = "type-PCI"
    PF = "type-PF"
    VF = "type-VF"
    VDPA = "vdpa"

    @property
    def is_virtual(self) -> bool:
        """Whether it is a part of another function, its PF."""
        return self in (DevType.VF, DevType.VDPA)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetDevice:
    """A network interface of the host on a function. ``speed_mbps`` is the link's, in Mbit/s."""

    name: str
    mac: str | None = None
    permanent_mac: str | None = None
    features: tuple[str, ...] | None = None
    speed_mbps: int | None = None
    up: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sriov:
    """SR-IOV facts of a physical function."""

    total_vfs: int | None = None
    num_vfs: int | None = None
    vf_product_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vpd:
    """Vital product data (PCI Local Bus 2.2, appendix I)."""

    card_serial_number: str | None = None
    part_number: str | None = None
    product_name: str | None = None
    fields: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vdpa:
    """The vDPA device on a function, with the node that a guest's QEMU opens."""

    name: str | None = None
    driver: str | None = None
    vhost_node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A base address register: ``size`` in bytes. Windows does not tell its ``index``."""

    index: int | None = None
    size: int | None = None
    bits: int | None = None
    prefetchable: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The PCIe link, now and at most; speeds in GT/s, widths in lanes."""

    speed_gts: float | None = None
    width: int | None = None
    max_speed_gts: float | None = None
    max_width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUse:
    """Why the host itself needs a function, such as ``default_route`` with the interface."""

    code: str
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """A process that holds the function's vfio or vhost-vdpa node open.

    On Hyper-V it is the VM that has the function, by its name; no process need run for that.
    """

    pid: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAssignable:
    """Why the platform cannot give the function to any guest."""

    code: str
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PciFunction:
    """One PCI function with its facts."""

    address: PciAddress
    vendor_id: str
    product_id: str
    dev_type: DevType
    subsystem_vendor_id: str | None = None
    subsystem_id: str | None = None
    class_code: str | None = None
    revision: str | None = None
    parent_addr: PciAddress | None = None
    vf_index: int | None = None
    numa_node: int | None = None
    iommu_group: int | None = None
    driver: str | None = None
    driver_override: str | None = None
    pcie_roots: tuple[str, ...] | None = None
    bridges: tuple[PciAddress, ...] | None = None
    path: str | None = None
    netdevs: tuple[NetDevice, ...] | None = None
    sriov: Sriov | None = None
    vpd: Vpd | None = None
    device_serial_number: str | None = None
    vdpa: Vdpa | None = None
    bars: tuple[Bar, ...] | None = None
    link: Link | None = None
    reset_methods: tuple[str, ...] | None = None
    in_use_by: tuple[HostUse, ...] | None = None
    opened_by: tuple[Opener, ...] | None = None
    not_assignable: tuple[NotAssignable, ...] | None = None
    location_path: str | None = None

    @property
    def is_bridge(self) -> bool:
        """Class 06: bridges are never handed out and do not count in an IOMMU group."""
        return self.class_code is not None and self.class_code.startswith("06")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumaNode:
    """A NUMA node of the host; ``distances`` to the nodes, as ACPI SLIT gives them (local is 10)."""

    id: int
    socket: int | None = None
    cpus: tuple[int, ...] | None = None
    distances: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingSystem:
    family: str | None = None
    release: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What the host can do for passthrough. ``iommu`` is its kind (intel, amd, ...) or "off"."""

    iommu: str | None = None
    interrupt_remapping: bool | None = None
    vfio_pci: bool | None = None
    dda: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessNote:
    """Something about the host that stands in the way of passthrough, and what to do about it."""

    code: str
    severity: str
    message: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A fact that could not be read, or made no sense."""

    address: str | None = None
    attribute: str | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """All functions and NUMA nodes of one host at one moment."""

    functions: tuple[PciFunction, ...]
    schema: str = INVENTORY_SCHEMA
    host: str | None = None
    driver: str | None = None
    os: OperatingSystem | None = None
    boot_id: str | None = None
    captured_at: str | None = None
    platform: Platform | None = None
    numa_nodes: tuple[NumaNode, ...] = field(default=())
    readiness: tuple[ReadinessNote, ...] = field(default=())
    problems: tuple[Problem, ...] = field(default=())

    @cached_property
    def by_address(self) -> Mapping[PciAddress, PciFunction]:
        """The functions by address.

        Raises LanewayError(invalid_inventory) where two functions have one address.
        """
        found = {function.address: function for function in self.functions}
        if len(found) != len(self.functions):
            counts = Counter(function.address for function in self.functions)
            twice = sorted(address for address, count in counts.items() if count > 1)
            raise LanewayError(
                ErrorCode.INVALID_INVENTORY,
                f"the inventory lists {', '.join(map(str, twice))} more than once; an address stands for one function",
                {"addresses": [str(address) for address in twice]},
            )
        return found

    def vfs_of(self, pf: PciAddress) -> tuple[PciFunction, ...]:
        """The functions that this one is the parent of, in order of the inventory."""
        return tuple(function for function in self.functions if function.parent_addr == pf)
