"""Running domains of libvirt's QEMU driver, by the status files that it keeps in /run."""

from collections.abc import Iterator
from xml.etree import ElementTree

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.hosts.linux.observed_vm import ObservedVm

SOURCE = "libvirt"
STATUS_DIRECTORY = "run/libvirt/qemu"


def parse_domain_status(text: str) -> ObservedVm:
    """One ``domstatus`` document: libvirt's domain XML as it is live, with the id of the process.

    Counts host devices of type pci, interfaces of type hostdev (also those that a network gave, under
    ``actual``), disks of type nvme, interfaces of type vdpa, and of type direct in mode passthrough.
    Raises ValueError for a text that is no such document, or has an address that is none.
    """
    try:
        document = ElementTree.fromstring(text)  # noqa: S314 - libvirt's own file, in a directory of root's
    except ElementTree.ParseError as failure:
        raise ValueError(f"it is not XML: {failure}") from failure
    domain = document if document.tag == "domain" else document.find("domain")
    if domain is None:
        raise ValueError("it holds no domain")
    pid = document.get("pid")
    return ObservedVm(
        source=SOURCE,
        name=domain.findtext("name"),
        uuid=domain.findtext("uuid"),
        pid=int(pid) if pid is not None else None,
        addresses=tuple(_addresses(domain)),
        vhost_nodes=tuple(_attributes(domain, "vdpa", "dev")),
        macvtap_parents=tuple(_attributes(domain, "direct", "dev", mode="passthrough")),
    )


def _addresses(domain: ElementTree.Element) -> Iterator[PciAddress]:
    hosts = (
        *domain.iterfind("devices/hostdev[@type='pci']"),
        *_interfaces(domain, "hostdev"),
        *domain.iterfind("devices/disk[@type='nvme']"),
    )
    for device in hosts:
        address = device.find("source/address")
        if address is not None:
            yield _address(address)


def _address(element: ElementTree.Element) -> PciAddress:
    parts = [int(element.get(name, "0"), 0) for name in ("domain", "bus", "slot", "function")]
    try:
        return PciAddress.of(*parts)
    except LanewayError as failure:
        raise ValueError(failure.message) from failure


def _interfaces(domain: ElementTree.Element, kind: str) -> Iterator[ElementTree.Element]:
    """Interfaces of a type, by what they were given where a network decides (``actual``)."""
    for interface in domain.iterfind("devices/interface"):
        actual = interface.find("actual")
        given = interface if actual is None else actual
        if given.get("type") == kind:
            yield given


def _attributes(domain: ElementTree.Element, kind: str, name: str, **wanted: str) -> Iterator[str]:
    """An attribute of the sources of interfaces of a type."""
    for interface in _interfaces(domain, kind):
        source = interface.find("source")
        value = None if source is None else source.get(name)
        if source is not None and value and all(source.get(key) == other for key, other in wanted.items()):
            yield value
