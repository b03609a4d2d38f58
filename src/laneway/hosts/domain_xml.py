"""Domains of libvirt by their XML: as its API and its hooks give it, or as it keeps it in status files. Pure."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.hosts.observed_vm import ObservedVm
from laneway.hosts.xml_text import parse_xml
from laneway.interfaces.guest_definition import GuestDefinition, WantedDevice

SOURCE = "libvirt"


def parse_domain(text: str) -> ObservedVm:
    """One domain as it is live; in a ``domstatus`` document with the id of the process.

    Counts host devices of type pci, interfaces of type hostdev (also those that a network gave, under
    ``actual``), disks of type nvme, interfaces of type vdpa, and of type direct in mode passthrough.
    Raises ValueError for a text that is no such document, or has an address that is none.
    """
    document = parse_xml(text)
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


def parse_guest(text: str) -> GuestDefinition:
    """What a domain that is to start asks of its host; counts what ``parse_domain`` counts as addresses.

    Raises ValueError for a text that is no such document, or has a host device whose address is none,
    or is missing: then it cannot be told what the domain would get.
    """
    document = parse_xml(text)
    name = document.findtext("name") if document.tag == "domain" else None
    if not name:
        raise ValueError("it holds no domain with a name")
    return GuestDefinition(
        name=name,
        uuid=document.findtext("uuid"),
        devices=tuple(map(_wanted, _host_devices(document))),
    )


def _wanted(device: Element) -> WantedDevice:
    address = device.find("source/address")
    if address is None:
        raise ValueError(f"a device of the host has no address (<{device.tag}>)")
    return WantedDevice(address=_address(address), managed="yes" in _managed(device))


def _managed(device: Element) -> Iterator[str | None]:
    """Disks say it of their source, all others of themselves."""
    yield device.get("managed")
    for source in device.iterfind("source"):
        yield source.get("managed")


def _addresses(domain: Element) -> Iterator[PciAddress]:
    for device in _host_devices(domain):
        address = device.find("source/address")
        if address is not None:
            yield _address(address)


def _host_devices(domain: Element) -> Iterator[Element]:
    """The elements that take a PCI function of the host, through VFIO."""
    yield from domain.iterfind("devices/hostdev[@type='pci']")
    yield from _interfaces(domain, "hostdev")
    yield from domain.iterfind("devices/disk[@type='nvme']")


def _address(element: Element) -> PciAddress:
    parts = [int(element.get(name, "0"), 0) for name in ("domain", "bus", "slot", "function")]
    try:
        return PciAddress.of(*parts)
    except LanewayError as failure:
        raise ValueError(failure.message) from failure


def _interfaces(domain: Element, kind: str) -> Iterator[Element]:
    """Interfaces of a type, by what they were given where a network decides (``actual``)."""
    for interface in domain.iterfind("devices/interface"):
        actual = interface.find("actual")
        given = interface if actual is None else actual
        if given.get("type") == kind:
            yield given


def _attributes(domain: Element, kind: str, name: str, **wanted: str) -> Iterator[str]:
    """An attribute of the sources of interfaces of a type."""
    for interface in _interfaces(domain, kind):
        source = interface.find("source")
        value = None if source is None else source.get(name)
        if source is not None and value and all(source.get(key) == other for key, other in wanted.items()):
            yield value
