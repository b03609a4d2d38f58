"""What a change of a host is decided on, by libvirt's means, read at one moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction, Problem
from laneway.hosts.domain_xml import parse_domain
from laneway.hosts.libvirt.capabilities import parse_capabilities
from laneway.hosts.libvirt.connection import Described, LibvirtHost
from laneway.hosts.libvirt.functions import build_functions
from laneway.hosts.libvirt.node_device import NodeDevice, NodeFunction, NodeInterface, NodeVdpa, parse_node_device
from laneway.hosts.observed_vm import ObservedVm


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """``names`` are those of the node devices; ``holders`` the running domains that have a function, by their names.

    ``version`` is libvirt's (see ``LibvirtHost``), ``iommu`` as in ``Platform``.
    """

    functions: Mapping[PciAddress, PciFunction]
    names: Mapping[PciAddress, str]
    holders: Mapping[PciAddress, str] = field(default_factory=dict)
    version: int = 0
    iommu: str | None = None

    def function(self, address: PciAddress) -> PciFunction:
        """The function there. Raises LanewayError(unknown_device)."""
        found = self.functions.get(address)
        if found is None:
            raise LanewayError(
                ErrorCode.UNKNOWN_DEVICE,
                f"libvirt lists no PCI function {address}; see: virsh nodedev-list --cap pci",
                {"address": str(address)},
            )
        return found


def read_facts(host: LibvirtHost) -> Facts:
    """Reads them. What libvirt cannot tell of one device or domain, it refuses to change, too."""
    problems: list[Problem] = []
    devices = [
        device
        for one in host.node_devices()
        if one.xml is not None and (device := parse_node_device(one.name, one.xml, problems)) is not None
    ]
    functions = {function.address: function for function in build_functions(devices, problems)}
    names: dict[PciAddress, str] = {}
    for device in sorted(devices, key=lambda device: device.name):
        if isinstance(device, NodeFunction):
            names.setdefault(device.address, device.name)
    domains = [vm for one in host.running_domains() if (vm := _domain(one)) is not None]
    return Facts(
        functions=functions,
        names=names,
        holders=_holders(domains, devices, names),
        version=host.version(),
        iommu=_iommu(host),
    )


def _iommu(host: LibvirtHost) -> str | None:
    told = host.capabilities().xml
    platform = None if told is None else parse_capabilities(told, []).platform
    return None if platform is None else platform.iommu


def _domain(one: Described) -> ObservedVm | None:
    try:
        return None if one.xml is None else parse_domain(one.xml)
    except ValueError:
        return None


def _holders(
    domains: Iterable[ObservedVm], devices: Iterable[NodeDevice], names: Mapping[PciAddress, str]
) -> dict[PciAddress, str]:
    """Also of a function whose interface or vDPA device a domain has."""
    by_name = {name: address for address, name in names.items()}
    on_function: dict[str, PciAddress] = {}
    for device in devices:
        address = by_name.get(device.parent or "")
        if address is not None and isinstance(device, NodeInterface):
            on_function[device.netdev.name] = address
        elif address is not None and isinstance(device, NodeVdpa) and device.vdpa.vhost_node is not None:
            on_function[device.vdpa.vhost_node] = address
    found: dict[PciAddress, str] = {}
    for domain in domains:
        name = domain.name or domain.uuid or "without a name"
        for address in domain.addresses:
            found.setdefault(address, name)
        for part in (*domain.macvtap_parents, *domain.vhost_nodes):
            if part in on_function:
                found.setdefault(on_function[part], name)
    return found
