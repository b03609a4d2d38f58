"""PCI functions with their facts, put together from node devices. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from laneway.domain.address import PciAddress
from laneway.domain.inventory import NetDevice, PciFunction, Problem, Sriov, Vdpa
from laneway.hosts.libvirt.node_device import NodeDevice, NodeFunction, NodeInterface, NodeVdpa
from laneway.hosts.lineage import Lineage
from laneway.hosts.topology import Place, Topology

_REPRESENTOR = re.compile(r"(c\d+)?pf\d+(vf|sf)\d+$")
"""How the name of an interface that stands for a VF ends: systemd and libvirt tell ``phys_port_name`` by it only."""


def build_functions(devices: Iterable[NodeDevice], problems: list[Problem]) -> tuple[PciFunction, ...]:
    """The functions by address; PFs are built before their VFs, which take some of theirs.

    Of two node devices with one address the first by name counts; the other is noted.
    """
    return _Builder(_sorted_out(devices, problems), problems).build()


@dataclass(slots=True)
class _Host:
    """The node devices by the functions that they are, or are on."""

    functions: dict[PciAddress, NodeFunction] = field(default_factory=dict)
    netdevs: dict[PciAddress, list[NetDevice]] = field(default_factory=dict)
    vdpa: dict[PciAddress, Vdpa] = field(default_factory=dict)


def _sorted_out(devices: Iterable[NodeDevice], problems: list[Problem]) -> _Host:
    host, by_name = _Host(), dict[str, PciAddress]()
    ordered = sorted(devices, key=lambda device: device.name)
    for device in ordered:
        if isinstance(device, NodeFunction):
            by_name[device.name] = device.address
            known = host.functions.setdefault(device.address, device)
            if known is not device:
                message = f"{device.name} and {known.name} both have this address; {known.name} counts"
                problems.append(Problem(address=str(device.address), attribute="address", message=message))
    for device in ordered:
        # By the parent, never by the name: it holds the MAC that the interface had when libvirt first saw it.
        on = by_name.get(device.parent or "")
        if on is None or device.is_on_subfunction:
            continue
        if isinstance(device, NodeInterface):
            host.netdevs.setdefault(on, []).append(device.netdev)
        elif isinstance(device, NodeVdpa):
            host.vdpa.setdefault(on, device.vdpa)
    return host


class _Builder:
    def __init__(self, host: _Host, problems: list[Problem]) -> None:
        self._host = host
        self._problems = problems
        self._topology = Topology()
        self._parents = _parents(host.functions)
        self._found: dict[PciAddress, PciFunction] = {}

    def build(self) -> tuple[PciFunction, ...]:
        ordered = sorted(self._host.functions.values(), key=lambda one: (one.address in self._parents, one.address))
        for one in ordered:
            self._found[one.address] = self._function(one)
        return tuple(self._found[address] for address in sorted(self._found))

    def _lineage(self, address: PciAddress) -> Lineage:
        parent, index = self._parents.get(address, (None, None))
        return Lineage(parent, index, None if parent is None else self._found.get(parent))

    def _function(self, one: NodeFunction) -> PciFunction:
        lineage = self._lineage(one.address)
        sriov = self._sriov(one)
        vdpa = self._host.vdpa.get(one.address)
        place = self._place(one)
        netdevs = self._host.netdevs.get(one.address, [])
        return PciFunction(
            address=one.address,
            vendor_id=one.vendor_id,
            product_id=one.product_id,
            class_code=one.class_code,
            dev_type=lineage.dev_type(vdpa, sriov),
            parent_addr=lineage.parent_addr,
            vf_index=lineage.vf_index,
            numa_node=one.numa_node,
            iommu_group=one.iommu_group,
            driver=one.driver,
            pcie_roots=place.pcie_roots,
            bridges=place.bridges,
            path=lineage.path(place.path_of(str(one.address))),
            netdevs=tuple(sorted(netdevs, key=lambda netdev: (_is_representor(netdev), netdev.name))),
            sriov=sriov,
            vpd=lineage.vpd(one.vpd),
            vdpa=vdpa,
            # A VF is on its PF's link: its own registers read as zero (PCI Express Base Specification 9.3.5).
            link=one.link if lineage.pf is None else lineage.pf.link,
        )

    def _sriov(self, one: NodeFunction) -> Sriov | None:
        """Old libvirts write ``virt_functions`` without a maximum, and then for functions without SR-IOV, too."""
        if one.vfs is None or (not one.vfs and one.total_vfs is None):
            return None
        known = (vf for address in one.vfs if (vf := self._host.functions.get(address)))
        first = next(known, None)
        return Sriov(
            total_vfs=one.total_vfs,
            num_vfs=len(one.vfs),
            vf_product_id=None if first is None else first.product_id,
        )

    def _place(self, one: NodeFunction) -> Place:
        if one.path is None:
            return Place()
        parent, _, name = one.path.rpartition("/")
        if name != str(one.address):
            message = f"the device tree has {name} where this function should stand"
            self._problems.append(Problem(address=str(one.address), attribute="path", message=message))
            return Place()
        return self._topology.place(parent)


def _parents(functions: Mapping[PciAddress, NodeFunction]) -> dict[PciAddress, tuple[PciAddress, int | None]]:
    """The PF of each VF, and its index: the place in its PF's list, which libvirt makes by virtfn0, virtfn1, ..."""
    listed: dict[PciAddress, tuple[PciAddress, int]] = {}
    for pf in functions.values():
        for index, vf in enumerate(pf.vfs or ()):
            if vf != pf.address:
                listed.setdefault(vf, (pf.address, index))
    found: dict[PciAddress, tuple[PciAddress, int | None]] = {}
    for address, function in functions.items():
        told = listed.get(address)
        if function.pf not in (None, address):
            found[address] = told if told is not None and told[0] == function.pf else (function.pf, None)
        elif told is not None:
            found[address] = told
    return found


def _is_representor(netdev: NetDevice) -> bool:
    return _REPRESENTOR.search(netdev.name) is not None
