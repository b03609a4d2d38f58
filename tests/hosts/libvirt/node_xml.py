"""Makes the XML of libvirt's node devices, domains and capabilities, and a libvirt that has them.

card = function("0000:81:00.0", "<numa node='1'/>", virt_functions(["0000:81:00.2"], most=8))
FakeHost(card, interface("ens1", on="0000:81:00.0"))
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from laneway.domain.address import PciAddress
from laneway.hosts.libvirt.connection import Described

NUMA_OF_TWO_SOCKETS = """<capabilities><host><cpu><arch>x86_64</arch></cpu><iommu support='yes'/>
<topology><cells num='2'>
<cell id='0'><memory unit='KiB'>1</memory>
<distances><sibling id='0' value='10'/><sibling id='1' value='21'/></distances>
<cpus num='2'><cpu id='0' socket_id='0' core_id='0' siblings='0'/><cpu id='2' socket_id='0' core_id='1' siblings='2'/>
</cpus></cell>
<cell id='1'><distances><sibling id='0' value='21'/><sibling id='1' value='10'/></distances>
<cpus num='2'><cpu id='3' socket_id='1' core_id='1' siblings='3'/><cpu id='1' socket_id='1' core_id='0' siblings='1'/>
</cpus></cell></cells></topology></host></capabilities>"""


def node_name(address: str) -> str:
    return "pci_" + address.replace(":", "_").replace(".", "_")


def function(
    address: str,
    *facts: str,
    ids: str = "<product id='0x101d'>ConnectX-6 Dx</product><vendor id='0x15b3'>Mellanox</vendor>",
    klass: str | None = "0x020000",
    driver: str | None = None,
    place: str | None = "pci0000:80/0000:80:01.0",
    name: str | None = None,
) -> Described:
    """A PCI function; ``place`` is the directory that it stands in, None for a libvirt that does not tell."""
    at = PciAddress.parse(address)
    parts = "".join(
        f"<{part}>{value}</{part}>"
        for part, value in (("domain", at.domain), ("bus", at.bus), ("slot", at.slot), ("function", at.function))
    )
    path = "" if place is None else f"<path>/sys/devices/{place}/{address}</path>"
    bound = "" if driver is None else f"<driver><name>{driver}</name></driver>"
    kind = "" if klass is None else f"<class>{klass}</class>"
    called = name or node_name(address)
    return Described(
        called,
        f"<device><name>{called}</name>{path}<parent>computer</parent>{bound}"
        f"<capability type='pci'>{kind}{parts}{ids}{''.join(facts)}</capability></device>",
    )


def phys_function(address: str) -> str:
    return f"<capability type='phys_function'>{address_element(address)}</capability>"


def virt_functions(addresses: Iterable[str], *, most: int | None = None) -> str:
    count = "" if most is None else f" maxCount='{most}'"
    return f"<capability type='virt_functions'{count}>{''.join(map(address_element, addresses))}</capability>"


def address_element(address: str) -> str:
    at = PciAddress.parse(address)
    return (
        f"<address domain='0x{at.domain:04x}' bus='0x{at.bus:02x}' slot='0x{at.slot:02x}' function='0x{at.function}'/>"
    )


def interface(
    ifname: str,
    *facts: str,
    on: str,
    mac: str = "02:00:00:00:00:01",
    mac_in_name: str | None = None,
    path: str | None = None,
) -> Described:
    """A network interface; ``mac_in_name`` is what it had when libvirt first saw it."""
    name = f"net_{ifname}_{(mac_in_name or mac).replace(':', '_')}"
    place = "" if path is None else f"<path>/sys/devices/{path}</path>"
    return Described(
        name,
        f"<device><name>{name}</name>{place}<parent>{node_name(on)}</parent><capability type='net'>"
        f"<interface>{ifname}</interface><address>{mac}</address>{''.join(facts)}"
        "<capability type='80203'/></capability></device>",
    )


def vdpa(name: str, *, on: str, driver: str = "vhost_vdpa", chardev: str | None = None, path: str = "") -> Described:
    node = "" if chardev is None else f"<chardev>{chardev}</chardev>"
    place = path and f"<path>/sys/devices/{path}</path>"
    return Described(
        f"vdpa_{name}",
        f"<device><name>vdpa_{name}</name>{place}<parent>{node_name(on)}</parent><driver><name>{driver}</name></driver>"
        f"<capability type='vdpa'>{node}</capability></device>",
    )


def domain(name: str, *addresses: str) -> Described:
    devices = "".join(
        f"<hostdev mode='subsystem' type='pci'><source>{address_element(address)}</source></hostdev>"
        for address in addresses
    )
    return Described(name, f"<domain type='kvm' id='1'><name>{name}</name><devices>{devices}</devices></domain>")


CAPABILITIES = Described("capabilities", NUMA_OF_TWO_SOCKETS)


class FakeHost:
    """A libvirt that has these node devices. Connecting to it is ``connect``, whatever the URI."""

    def __init__(
        self,
        *devices: Described,
        capabilities: Described = CAPABILITIES,
        domains: Sequence[Described] = (),
    ) -> None:
        self.devices: Sequence[Described] = devices
        self.told = capabilities
        self.domains = domains
        self.open = 0

    @contextmanager
    def connect(self, uri: str) -> Iterator["FakeHost"]:
        self.uri = uri
        self.open += 1
        try:
            yield self
        finally:
            self.open -= 1

    def host_name(self) -> str | None:
        return "node-1"

    def capabilities(self) -> Described:
        return self.told

    def node_devices(self) -> Sequence[Described]:
        return self.devices

    def running_domains(self) -> Sequence[Described]:
        return self.domains

    def version(self) -> int:
        return 9_000_000
