"""One node device by its XML."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.libvirt.node_xml import function, interface, phys_function, vdpa, virt_functions
from laneway.domain.address import PciAddress
from laneway.domain.inventory import Link, NetDevice, Problem, Vdpa, Vpd
from laneway.hosts.libvirt.connection import Described
from laneway.hosts.libvirt.node_device import (
    NodeDevice,
    NodeFunction,
    NodeInterface,
    NodeVdpa,
    parse_node_device,
)

CARD = "0000:81:00.0"
BARE = NodeFunction(
    name="pci_0000_81_00_0",
    parent="computer",
    path="pci0000:80/0000:80:01.0/0000:81:00.0",
    address=PciAddress.parse(CARD),
    vendor_id="15b3",
    product_id="101d",
    class_code="020000",
)


def read(described: Described) -> tuple[NodeDevice | None, list[Problem]]:
    problems: list[Problem] = []
    assert described.xml is not None
    return parse_node_device(described.name, described.xml, problems), problems


def ids(vendor: str, product: str) -> str:
    return f"<product {product}/><vendor {vendor}/>"


def vpd(*fields: str, name: str = "") -> str:
    return f"<capability type='vpd'>{name}<fields access='readonly'>{''.join(fields)}</fields></capability>"


def links(*elements: str) -> str:
    return f"<pci-express>{''.join(elements)}</pci-express>"


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        pytest.param(function(CARD), BARE, id="a function"),
        pytest.param(function(CARD, driver="vfio-pci"), replace(BARE, driver="vfio-pci"), id="on a driver"),
        pytest.param(function(CARD, klass=None), replace(BARE, class_code=None), id="of a libvirt without classes"),
        pytest.param(function(CARD, place=None), replace(BARE, path=None), id="of a libvirt without paths"),
        pytest.param(
            function(CARD, ids=ids("id='0x10DE'", "id='0x0FFE'")),
            replace(BARE, vendor_id="10de", product_id="0ffe"),
            id="ids in upper case, without their names",
        ),
        pytest.param(
            function(CARD, ids=ids("id='0xe'", "id='0x1'")),
            replace(BARE, vendor_id="000e", product_id="0001"),
            id="short ids",
        ),
        pytest.param(
            function(CARD, phys_function("0000:81:00.1")),
            replace(BARE, pf=PciAddress.parse("0000:81:00.1")),
            id="a VF",
        ),
        pytest.param(
            function(CARD, virt_functions(["0000:81:01.2", "0000:81:00.3"], most=16)),
            replace(BARE, vfs=(PciAddress.parse("0000:81:01.2"), PciAddress.parse("0000:81:00.3")), total_vfs=16),
            id="VFs stay in the order of their indices",
        ),
        pytest.param(
            function(CARD, virt_functions([], most=3)),
            replace(BARE, vfs=(), total_vfs=3),
            id="a PF none of whose VFs is made",
        ),
        pytest.param(function(CARD, virt_functions([])), replace(BARE, vfs=()), id="virt_functions that says nothing"),
        pytest.param(
            function(CARD, "<numa node='1'/><iommuGroup number='31'><address domain='0x0000'/></iommuGroup>"),
            replace(BARE, numa_node=1, iommu_group=31),
            id="node and group",
        ),
        pytest.param(
            function(CARD, "<capability type='mdev_types'><type id='x-1'><name>y</name></type></capability>"),
            BARE,
            id="types of mediated devices do not matter",
        ),
        pytest.param(function(CARD, "<capability type='pci-bridge'/>"), BARE, id="the type of its header neither"),
        pytest.param(
            function(
                CARD, links("<link validity='cap' port='0' speed='16' width='8'/>", "<link validity='sta' width='0'/>")
            ),
            replace(BARE, link=Link(max_speed_gts=16.0, max_width=8)),
            id="a link that is down has no width",
        ),
        pytest.param(
            function(
                CARD,
                links("<link validity='cap' speed='16' width='8'/>", "<link validity='sta' speed='2.5' width='4'/>"),
            ),
            replace(BARE, link=Link(speed_gts=2.5, width=4, max_speed_gts=16.0, max_width=8)),
            id="a link",
        ),
        pytest.param(function(CARD, links()), BARE, id="PCI Express without a link"),
        pytest.param(
            function(
                CARD,
                vpd(
                    "<change_level>B1</change_level><manufacture_id>m</manufacture_id><part_number>P1</part_number>",
                    "<serial_number> S1 </serial_number><vendor_field index='0'>v</vendor_field>",
                    "</fields><fields access='readwrite'><asset_tag>a</asset_tag>",
                    "<vendor_field index='0'>w</vendor_field>",
                    "<system_field index='B'>s</system_field><vendor_field>nameless</vendor_field><other>o</other>",
                    name="<name>A card</name>",
                ),
            ),
            replace(
                BARE,
                vpd=Vpd(
                    card_serial_number="S1",
                    part_number="P1",
                    product_name="A card",
                    fields={"EC": "B1", "MN": "m", "PN": "P1", "SN": "S1", "V0": "v", "YA": "a", "YB": "s"},
                ),
            ),
            id="vital product data under the keywords that the card has",
        ),
        pytest.param(
            function(CARD, vpd("<serial_number> </serial_number>", name="<name>A card</name>")),
            replace(BARE, vpd=Vpd(product_name="A card", fields={})),
            id="a blank serial is none",
        ),
        pytest.param(function(CARD, vpd()), BARE, id="vital product data without any"),
    ],
)
def test_functions(described: Described, expected: NodeDevice) -> None:
    assert read(described) == (expected, [])


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        pytest.param(
            interface("ens1", on=CARD),
            NetDevice(name="ens1", mac="02:00:00:00:00:01"),
            id="with nothing but an address",
        ),
        pytest.param(
            interface("ens1", "<link speed='25000' state='up'/><feature name='rx'/><feature name='rdma'/>", on=CARD),
            NetDevice(name="ens1", mac="02:00:00:00:00:01", features=("rx", "rdma"), speed_mbps=25000, up=True),
            id="with a link and features",
        ),
        pytest.param(
            interface("ens1", "<link state='down'/>", on=CARD),
            NetDevice(name="ens1", mac="02:00:00:00:00:01"),
            id="no carrier does not tell whether it was brought up",
        ),
    ],
)
def test_interfaces(described: Described, expected: NetDevice) -> None:
    wanted = NodeInterface(name=described.name, parent="pci_0000_81_00_0", netdev=expected)
    assert read(described) == (wanted, [])


@pytest.mark.parametrize(
    ("described", "path", "expected"),
    [
        pytest.param(
            vdpa("vdpa0", on=CARD, chardev="/dev/vhost-vdpa-3"),
            None,
            Vdpa(name="vdpa0", driver="vhost_vdpa", vhost_node="/dev/vhost-vdpa-3"),
            id="for guests",
        ),
        pytest.param(
            vdpa("vdpa0", on=CARD, driver="virtio_vdpa", path="pci0000:80/0000:81:00.2/blk7"),
            "pci0000:80/0000:81:00.2/blk7",
            Vdpa(name="blk7", driver="virtio_vdpa"),
            id="for the host, by the name that its directory has",
        ),
    ],
)
def test_vdpa_devices(described: Described, path: str | None, expected: Vdpa) -> None:
    wanted = NodeVdpa(name="vdpa_vdpa0", parent="pci_0000_81_00_0", path=path, vdpa=expected)
    assert read(described) == (wanted, [])


@pytest.mark.parametrize(
    "capability",
    ["", "<capability type='mdev'><type id='x-1'/></capability>", "<capability type='usb_device'/>"],
    ids=["no capability", "a mediated device", "a USB device"],
)
def test_other_kinds_do_not_matter(capability: str) -> None:
    assert read(Described("other", f"<device><name>other</name>{capability}</device>")) == (None, [])


def broken(described: Described, old: str, new: str) -> Described:
    assert described.xml is not None
    assert old in described.xml
    return described._replace(xml=described.xml.replace(old, new))


@pytest.mark.parametrize(
    ("described", "problem"),
    [
        pytest.param(
            broken(function(CARD), "<bus>129<", "<bus>4294967295<"),
            Problem(
                address="pci_0000_81_00_0", attribute="address", message="PCI bus ffffffff is not between 0 and ff"
            ),
            id="a bus that there cannot be",
        ),
        pytest.param(
            broken(function(CARD), "<slot>0</slot>", ""),
            Problem(
                address="pci_0000_81_00_0",
                attribute="address",
                message="an address without domain, bus, slot or function is none",
            ),
            id="no slot",
        ),
        pytest.param(
            function(CARD, ids="<vendor id='0x15b3'/>"),
            Problem(address=CARD, attribute="product_id", message="it is not known, so this is no function"),
            id="no product",
        ),
        pytest.param(
            function(CARD, ids="<product id='0x1'/><vendor>Mellanox</vendor>"),
            Problem(address=CARD, attribute="vendor_id", message="it is not known, so this is no function"),
            id="a vendor without an id",
        ),
        pytest.param(
            broken(interface("ens1", on=CARD), "<interface>ens1</interface>", "<interface> </interface>"),
            Problem(address="net_ens1_02_00_00_00_00_01", attribute="netdevs", message="it has no name"),
            id="an interface without a name",
        ),
        pytest.param(
            Described("pci_0000_81_00_0", "<!DOCTYPE x [<!ENTITY a 'b'>]><device>&a;</device>"),
            Problem(
                address="pci_0000_81_00_0",
                message="its XML cannot be read: it declares the document type 'x', which libvirt never does",
            ),
            id="a document type",
        ),
    ],
)
def test_what_is_no_device_is_noted(described: Described, problem: Problem) -> None:
    assert read(described) == (None, [problem])


@pytest.mark.parametrize(
    ("described", "attribute", "said"),
    [
        pytest.param(function(CARD, klass="network"), "class_code", "'network' is not 0x", id="class"),
        pytest.param(function(CARD, klass="0x12345678"), "class_code", "up to 6 hexadecimal digits", id="a long class"),
        pytest.param(function(CARD, "<numa node='-1'/>"), "numa_node", "'-1' is not a number", id="node"),
        pytest.param(function(CARD, "<iommuGroup number='٣'/>"), "iommu_group", "not a number", id="group"),
        pytest.param(
            function(CARD, links("<link validity='cap' speed='fast'/>")), "link", "'fast' is not a speed", id="speed"
        ),
        pytest.param(
            function(CARD, "<capability type='virt_functions'><address bus='0x81'/></capability>"),
            "sriov",
            "an address without",
            id="the address of a VF",
        ),
        pytest.param(
            function(CARD, "<capability type='phys_function'><address bus='0x81'/></capability>"),
            "parent_addr",
            "an address without",
            id="the address of a PF",
        ),
    ],
)
def test_a_fact_that_makes_no_sense_is_noted_and_not_known(described: Described, attribute: str, said: str) -> None:
    found, problems = read(described)
    assert isinstance(found, NodeFunction)
    assert found == replace(BARE, class_code=found.class_code, vfs=found.vfs)
    assert [(problem.address, problem.attribute) for problem in problems] == [(CARD, attribute)]
    assert said in (problems[0].message or "")


PIECES = st.sampled_from(
    [
        *("<device>", "</device>", "<capability type='pci'>", "</capability>", "<bus>", "</bus>", "<address", "/>"),
        *("<vendor id='0x8086'/>", "<product id='0x1'/>", "<domain>0</domain>", "<slot>1</slot>", "0x", "'", "-1", "&"),
        *("<capability type='vpd'>", "<fields>", "<iommuGroup number='", "<link speed='", "\ufffe", "9" * 30),
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40))
def test_no_text_whatever_raises(text: str) -> None:
    found = parse_node_device("x", text, [])
    assert found is None or isinstance(found, NodeDevice)
