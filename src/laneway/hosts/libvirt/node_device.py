"""One node device of libvirt, by its XML (https://libvirt.org/formatnode.html). Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import Link, NetDevice, Problem, Vdpa, Vpd
from laneway.hosts.xml_text import parse_xml

_NUMBER = re.compile(r"0x[0-9a-fA-F]{1,8}|[0-9]{1,10}")
_HEX = re.compile(r"0x([0-9a-fA-F]+)")
_SPEED = re.compile(r"[0-9]{1,3}(\.[0-9])?")
_SUBFUNCTION = re.compile(r"\.sf\.\d+(/|$)")
_DEVICES = "/sys/devices/"

_VPD_KEYWORDS = {
    "change_level": "EC",
    "manufacture_id": "MN",
    "part_number": "PN",
    "serial_number": "SN",
    "asset_tag": "YA",
}
"""libvirt's words for the keywords of PCI Local Bus 3.0, appendix I."""

_VPD_NUMBERED = {"vendor_field": "V", "system_field": "Y"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDevice:
    """What all kinds have: ``path`` is below /sys/devices, ``parent`` the name of another node device."""

    name: str
    parent: str | None = None
    path: str | None = None

    @property
    def is_on_subfunction(self) -> bool:
        """libvirt names the PCI function as the parent of what stands on its subfunctions (auxiliary devices)."""
        return self.path is not None and _SUBFUNCTION.search(self.path) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFunction(NodeDevice):
    """A PCI function. ``vfs`` are in the order of their indices; None where it is not said to have any."""

    address: PciAddress
    vendor_id: str
    product_id: str
    class_code: str | None = None
    driver: str | None = None
    pf: PciAddress | None = None
    vfs: tuple[PciAddress, ...] | None = None
    total_vfs: int | None = None
    numa_node: int | None = None
    iommu_group: int | None = None
    vpd: Vpd | None = None
    link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInterface(NodeDevice):
    netdev: NetDevice


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeVdpa(NodeDevice):
    vdpa: Vdpa


def parse_node_device(name: str, text: str, problems: list[Problem]) -> NodeDevice | None:
    """The device that libvirt calls ``name``; None for a kind that does not matter here.

    A fact that makes no sense is None, and a device without an address or ids is None as a whole;
    both are noted. Raises nothing.
    """
    try:
        device = parse_xml(text)
    except ValueError as error:
        problems.append(Problem(address=name, message=f"its XML cannot be read: {error}"))
        return None
    return _Reader(name, device, problems).read()


class _Reader:
    def __init__(self, name: str, device: Element, problems: list[Problem]) -> None:
        self._name = name
        self._device = device
        self._problems = problems
        self._subject = name

    def read(self) -> NodeDevice | None:
        for capability in self._device.iterfind("capability"):
            match capability.get("type"):
                case "pci":
                    return self._function(capability)
                case "net":
                    return self._interface(capability)
                case "vdpa":
                    return self._vdpa(capability)
        return None

    def _function(self, pci: Element) -> NodeFunction | None:
        address = self._address({part: pci.findtext(part) for part in ("domain", "bus", "slot", "function")})
        if address is None:
            return None
        self._subject = str(address)
        vendor_id, product_id = self._id(pci, "vendor"), self._id(pci, "product")
        if vendor_id is None or product_id is None:
            self._note("vendor_id" if vendor_id is None else "product_id", "it is not known, so this is no function")
            return None
        physical = pci.find("capability[@type='phys_function']/address")
        virtual = pci.find("capability[@type='virt_functions']")
        return NodeFunction(
            name=self._name,
            parent=_text(self._device, "parent"),
            path=self._path(),
            address=address,
            vendor_id=vendor_id,
            product_id=product_id,
            class_code=self._hex(_text(pci, "class"), 6, "class_code"),
            driver=_text(self._device, "driver/name"),
            pf=None if physical is None else self._address(physical.attrib, "parent_addr"),
            vfs=None if virtual is None else tuple(self._addresses(virtual)),
            total_vfs=None if virtual is None else self._number(virtual.get("maxCount"), "sriov"),
            numa_node=self._attribute(pci, "numa", "node", "numa_node"),
            iommu_group=self._attribute(pci, "iommuGroup", "number", "iommu_group"),
            vpd=_vpd(pci),
            link=self._link(pci),
        )

    def _interface(self, net: Element) -> NodeInterface | None:
        name = _text(net, "interface")
        if name is None:
            self._note("netdevs", "it has no name")
            return None
        link = net.find("link")
        features = tuple(feature for element in net.iterfind("feature") if (feature := element.get("name")))
        return NodeInterface(
            name=self._name,
            parent=_text(self._device, "parent"),
            path=self._path(),
            netdev=NetDevice(
                name=name,
                mac=_text(net, "address"),
                features=features or None,
                speed_mbps=None if link is None else self._number(link.get("speed"), "netdevs"),
                # An interface without a link is "down" too, whether or not its owner brought it up.
                up=True if link is not None and link.get("state") == "up" else None,
            ),
        )

    def _vdpa(self, vdpa: Element) -> NodeVdpa:
        path = self._path()
        return NodeVdpa(
            name=self._name,
            parent=_text(self._device, "parent"),
            path=path,
            vdpa=Vdpa(
                name=path.rpartition("/")[2] if path else self._name.removeprefix("vdpa_") or None,
                driver=_text(self._device, "driver/name"),
                vhost_node=_text(vdpa, "chardev"),
            ),
        )

    def _path(self) -> str | None:
        path = _text(self._device, "path")
        return path.removeprefix(_DEVICES) if path is not None and path.startswith(_DEVICES) else None

    def _link(self, pci: Element) -> Link | None:
        links = {element.get("validity"): element.attrib for element in pci.iterfind("pci-express/link")}
        now, most = links.get("sta", {}), links.get("cap", {})
        link = Link(
            speed_gts=self._speed(now.get("speed")),
            width=self._number(now.get("width"), "link") or None,
            max_speed_gts=self._speed(most.get("speed")),
            max_width=self._number(most.get("width"), "link") or None,
        )
        return None if link == Link() else link

    def _speed(self, text: str | None) -> float | None:
        if text is not None and not _SPEED.fullmatch(text):
            self._note("link", f"{text!r} is not a speed")
            return None
        return None if text is None else float(text)

    def _addresses(self, element: Element) -> Iterator[PciAddress]:
        for one in element.iterfind("address"):
            address = self._address(one.attrib, "sriov")
            if address is not None:
                yield address

    def _address(self, parts: dict[str, str | None] | dict[str, str], fact: str = "address") -> PciAddress | None:
        numbers = [self._number(parts.get(part), fact) for part in ("domain", "bus", "slot", "function")]
        domain, bus, slot, function = numbers
        if domain is None or bus is None or slot is None or function is None:
            self._note(fact, "an address without domain, bus, slot or function is none")
            return None
        try:
            return PciAddress.of(domain, bus, slot, function)
        except LanewayError as error:
            self._note(fact, error.message)
            return None

    def _id(self, pci: Element, name: str) -> str | None:
        element = pci.find(name)
        return None if element is None else self._hex(element.get("id"), 4, f"{name}_id")

    def _hex(self, text: str | None, width: int, fact: str) -> str | None:
        """Lower-case hex of ``width`` digits; libvirt writes ids in either case."""
        if text is None:
            return None
        found = _HEX.fullmatch(text)
        if found is None or len(found[1]) > width:
            self._note(fact, f"{text!r} is not 0x and up to {width} hexadecimal digits")
            return None
        return found[1].lower().zfill(width)

    def _attribute(self, parent: Element, name: str, attribute: str, fact: str) -> int | None:
        element = parent.find(name)
        return None if element is None else self._number(element.get(attribute), fact)

    def _number(self, text: str | None, fact: str) -> int | None:
        """Decimal, or hexadecimal with 0x in front, as libvirt writes both; never below 0."""
        if text is None:
            return None
        if not _NUMBER.fullmatch(text.strip()):
            self._note(fact, f"{text!r} is not a number")
            return None
        return int(text, 0) if "x" in text else int(text)

    def _note(self, fact: str, message: str) -> None:
        self._problems.append(Problem(address=self._subject, attribute=fact, message=message))


def _vpd(pci: Element) -> Vpd | None:
    """Keywords as the card has them; of one that stands twice the first counts."""
    data = pci.find("capability[@type='vpd']")
    if data is None:
        return None
    fields: dict[str, str] = {}
    for element in data.iterfind("fields/*"):
        value = (element.text or "").strip()
        keyword = _VPD_KEYWORDS.get(element.tag)
        if element.tag in _VPD_NUMBERED and (index := element.get("index")):
            keyword = _VPD_NUMBERED[element.tag] + index
        if keyword is not None and value:
            fields.setdefault(keyword, value)
    name = _text(data, "name")
    if name is None and not fields:
        return None
    return Vpd(
        card_serial_number=fields.get("SN"),
        part_number=fields.get("PN"),
        product_name=name,
        fields=fields,
    )


def _text(element: Element, path: str) -> str | None:
    """The text without the blanks around it. Empty says nothing, hence None."""
    return (element.findtext(path) or "").strip() or None
