"""The facts of PCI functions."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import HostUse, Link, PciFunction, Vdpa
from laneway.hosts.lineage import Lineage
from laneway.hosts.linux import attributes
from laneway.hosts.linux.device_directory import DeviceDirectory
from laneway.hosts.linux.identity import Identity, read_identity
from laneway.hosts.linux.iommu_groups import ReservedMemory
from laneway.hosts.linux.listing import PF_LINK, ListedFunction
from laneway.hosts.linux.netdevs import NetdevReader
from laneway.hosts.linux.openers import Openers
from laneway.hosts.linux.printable import printable_openers, printable_uses
from laneway.hosts.topology import Topology

_VIRTIO_VENDOR = "1af4"
_VF_LINK = "virtfn"
_MOMENT_SECONDS = 0.02
_MOST_MOMENTS = 5


class Surroundings(NamedTuple):
    """What is known of functions from elsewhere than their own directories."""

    netdevs: NetdevReader
    reserved_memory: ReservedMemory
    vdpa: Mapping[str, Vdpa]
    in_use_by: Mapping[PciAddress, tuple[HostUse, ...] | None]
    openers: Openers


def read_functions(
    listed: Iterable[ListedFunction], surroundings: Surroundings, pause: Callable[[float], None] | None = None
) -> tuple[PciFunction, ...]:
    """The facts of the functions, by address; PFs are read before their VFs, which take some of theirs.

    On a running system one that comes or goes while it is read is read again after a moment; ``pause`` waits for the
    seconds that it is given. A captured tree, which stays as it is, has none.
    """
    return _FunctionReader(tuple(listed), surroundings, pause).read()


class _FunctionReader:
    def __init__(
        self,
        listed: tuple[ListedFunction, ...],
        surroundings: Surroundings,
        pause: Callable[[float], None] | None,
    ) -> None:
        self._listed = listed
        self._around = surroundings
        self._pause = pause
        self._topology = Topology()
        self._kernel_tells_resets = any("reset_method" in function.directory.names for function in listed)
        self._vfs: dict[PciAddress, tuple[PciAddress, int]] = {}
        self._found: dict[PciAddress, PciFunction] = {}

    def read(self) -> tuple[PciFunction, ...]:
        for function in self._listed:
            if not function.is_vf:
                self._read(function, Lineage())
        for function in self._listed:
            if function.is_vf:
                self._read(function, self._lineage(function))
        return tuple(self._found[address] for address in sorted(self._found))

    def _lineage(self, vf: ListedFunction) -> Lineage:
        parent, index = self._vfs.get(vf.address) or (_address(vf.directory.link(PF_LINK)), None)
        return Lineage(parent, index, None if parent is None else self._found.get(parent))

    def _read(self, listed: ListedFunction, lineage: Lineage, moments: int = _MOST_MOMENTS) -> None:
        """Reads one function, and as long as it comes or goes once more after each of so many moments."""
        problems = listed.directory.problems
        noted = len(problems)
        vfs = self._link_vfs(listed)
        identity = read_identity(listed.directory)
        function = None if identity is None else self._function(listed, identity, lineage, vfs)
        if function is not None and not listed.directory.gone:
            self._found[listed.address] = function
        elif not listed.is_there:
            del problems[noted:]  # it vanished while it was read: what was read of it is not all there was
        elif moments > 0 and self._pause is not None:
            self._pause(_MOMENT_SECONDS)
            del problems[noted:]
            again = listed.listed_again()
            if again is not None:
                self._read(again, lineage, moments - 1)
        elif function is not None:
            self._found[listed.address] = function

    def _function(self, listed: ListedFunction, identity: Identity, lineage: Lineage, vfs: int) -> PciFunction:
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
            dev_type=lineage.dev_type(vdpa, sriov),
            parent_addr=lineage.parent_addr,
            vf_index=lineage.vf_index,
            numa_node=directory.number("numa_node"),
            iommu_group=group,
            driver=identity.driver,
            driver_override=attributes.read_driver_override(directory),
            pcie_roots=place.pcie_roots,
            bridges=place.bridges,
            path=lineage.path(place.path_of(directory.subject)),
            netdevs=around.netdevs.read(
                directory,
                virtio=identity.vendor_id == _VIRTIO_VENDOR,
                below_switchdev=lineage.is_below_switchdev,
            ),
            sriov=sriov,
            vpd=lineage.vpd(attributes.read_vpd(directory)),
            device_serial_number=_serial(directory, lineage),
            vdpa=vdpa,
            bars=attributes.read_bars(directory),
            link=_link(directory, lineage),
            reset_methods=attributes.read_reset_methods(directory, kernel_tells=self._kernel_tells_resets),
            in_use_by=printable_uses(around.in_use_by.get(listed.address)),
            opened_by=printable_openers(
                around.openers.of(
                    listed.address,
                    iommu_group=group,
                    driver=identity.driver,
                    vdpa=vdpa,
                    is_bridge=identity.is_bridge,
                )
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


def _link(directory: DeviceDirectory, lineage: Lineage) -> Link | None:
    """A VF is on its PF's link: its own link registers read as zero (PCI Express Base Specification 9.3.5)."""
    return lineage.pf.link if lineage.pf else attributes.read_link(directory)


def _serial(directory: DeviceDirectory, lineage: Lineage) -> str | None:
    """A VF that has a number has its PF's (PCI Express Base Specification 9.3.7), so it is not read again."""
    return lineage.pf.device_serial_number if lineage.pf else attributes.read_device_serial_number(directory)
