"""The facts of PCI functions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import DevType, HostUse, PciFunction, Sriov, Vdpa, Vpd
from laneway.hosts.linux import attributes
from laneway.hosts.linux.device_directory import DeviceDirectory
from laneway.hosts.linux.identity import Identity, read_identity
from laneway.hosts.linux.iommu_groups import ReservedMemory
from laneway.hosts.linux.listing import PF_LINK, ListedFunction
from laneway.hosts.linux.netdevs import NetdevReader
from laneway.hosts.linux.openers import Openers
from laneway.hosts.linux.topology import Topology

_VIRTIO_VENDOR = "1af4"
_VF_LINK = "virtfn"


class _Lineage(NamedTuple):
    """What a VF has of its PF; nothing for other functions. ``pf`` is None where the PF could not be read."""

    parent_addr: PciAddress | None = None
    vf_index: int | None = None
    pf: PciFunction | None = None

    @property
    def is_vf(self) -> bool:
        return self.parent_addr is not None

    @property
    def is_below_switchdev(self) -> bool:
        netdevs = (self.pf.netdevs if self.pf else None) or ()
        return any("switchdev" in (netdev.features or ()) for netdev in netdevs)


class Surroundings(NamedTuple):
    """What is known of functions from elsewhere than their own directories."""

    netdevs: NetdevReader
    reserved_memory: ReservedMemory
    vdpa: Mapping[str, Vdpa]
    in_use_by: Mapping[PciAddress, tuple[HostUse, ...] | None]
    openers: Openers


def read_functions(listed: Iterable[ListedFunction], surroundings: Surroundings) -> tuple[PciFunction, ...]:
    """The facts of the functions, by address; PFs are read before their VFs, which take some of theirs."""
    return _FunctionReader(tuple(listed), surroundings).read()


class _FunctionReader:
    def __init__(self, listed: tuple[ListedFunction, ...], surroundings: Surroundings) -> None:
        self._listed = listed
        self._around = surroundings
        self._topology = Topology()
        self._kernel_tells_resets = any("reset_method" in function.directory.names for function in listed)
        self._vfs: dict[PciAddress, tuple[PciAddress, int]] = {}
        self._found: dict[PciAddress, PciFunction] = {}

    def read(self) -> tuple[PciFunction, ...]:
        for function in self._listed:
            if not function.is_vf:
                self._read(function, _Lineage())
        for function in self._listed:
            if function.is_vf:
                self._read(function, self._lineage(function))
        return tuple(self._found[address] for address in sorted(self._found))

    def _lineage(self, vf: ListedFunction) -> _Lineage:
        parent, index = self._vfs.get(vf.address) or (_address(vf.directory.link(PF_LINK)), None)
        return _Lineage(parent, index, None if parent is None else self._found.get(parent))

    def _read(self, listed: ListedFunction, lineage: _Lineage) -> None:
        vfs = self._link_vfs(listed)
        identity = read_identity(listed.directory)
        if identity is not None:
            function = self._function(listed, identity, lineage, vfs)
            if not listed.has_vanished:
                self._found[listed.address] = function

    def _function(self, listed: ListedFunction, identity: Identity, lineage: _Lineage, vfs: int) -> PciFunction:
        directory, around = listed.directory, self._around
        sriov = attributes.read_sriov(directory, vfs)
        vdpa = around.vdpa.get(directory.subject)
        group = attributes.read_iommu_group(directory)
        place = self._topology.place(listed.parent)
        return PciFunction(
            address=listed.address,
            vendor_id=identity.vendor_id,
            product_id=identity.product_id,
            subsystem_vendor_id=identity.subsystem_vendor_id,
            subsystem_id=identity.subsystem_id,
            class_code=identity.class_code,
            revision=attributes.read_revision(directory),
            dev_type=_dev_type(vdpa, lineage, sriov),
            parent_addr=lineage.parent_addr,
            vf_index=lineage.vf_index,
            numa_node=directory.number("numa_node"),
            iommu_group=group,
            driver=identity.driver,
            driver_override=attributes.read_driver_override(directory),
            pcie_roots=place.pcie_roots,
            bridges=place.bridges,
            path=_path(place.path_of(directory.subject), lineage),
            netdevs=around.netdevs.read(
                directory,
                virtio=identity.vendor_id == _VIRTIO_VENDOR,
                below_switchdev=lineage.is_below_switchdev,
            ),
            sriov=sriov,
            vpd=_vpd(attributes.read_vpd(directory), lineage),
            device_serial_number=_serial(directory, lineage),
            vdpa=vdpa,
            bars=attributes.read_bars(directory),
            link=attributes.read_link(directory),
            reset_methods=attributes.read_reset_methods(directory, kernel_tells=self._kernel_tells_resets),
            in_use_by=around.in_use_by.get(listed.address),
            opened_by=around.openers.of(
                listed.address,
                iommu_group=group,
                driver=identity.driver,
                vdpa=vdpa,
                is_bridge=identity.is_bridge,
            ),
            not_assignable=around.reserved_memory.of_group(group),
        )

    def _link_vfs(self, pf: ListedFunction) -> int:
        """Remembers the VFs that a function links to, with their indices, and counts them."""
        names = pf.directory.names
        if f"{_VF_LINK}0" not in names:
            return 0
        found = 0
        for name in names:
            index = name.removeprefix(_VF_LINK)
            if (
                name.startswith(_VF_LINK)
                and index.isdecimal()
                and (vf := _address(pf.directory.link(name))) is not None
            ):
                self._vfs[vf] = (pf.address, int(index))
                found += 1
        return found


def _address(name: str | None) -> PciAddress | None:
    try:
        return None if name is None else PciAddress.parse(name)
    except LanewayError:
        return None


def _dev_type(vdpa: Vdpa | None, lineage: _Lineage, sriov: Sriov | None) -> DevType:
    if vdpa is not None:
        return DevType.VDPA
    if lineage.is_vf:
        return DevType.VF
    # num_vfs counts where the kernel tells no total.
    if sriov is not None and (sriov.total_vfs or (sriov.total_vfs is None and sriov.num_vfs)):
        return DevType.PF
    return DevType.PCI


def _path(own: str | None, lineage: _Lineage) -> str | None:
    if not lineage.is_vf:
        return own
    if lineage.pf is None or lineage.pf.path is None or lineage.vf_index is None:
        return None
    return f"{lineage.pf.path}+vf{lineage.vf_index}"


def _vpd(own: Vpd | None, lineage: _Lineage) -> Vpd | None:
    """A VF without a serial takes its PF's: it is on the same card (rule C30)."""
    if (own and own.card_serial_number) or lineage.pf is None or lineage.pf.vpd is None:
        return own
    serial = lineage.pf.vpd.card_serial_number
    return replace(own or Vpd(), card_serial_number=serial) if serial else own


def _serial(directory: DeviceDirectory, lineage: _Lineage) -> str | None:
    """A VF that has a number has its PF's (PCI Express Base Specification 9.3.7), so it is not read again."""
    return lineage.pf.device_serial_number if lineage.pf else attributes.read_device_serial_number(directory)
