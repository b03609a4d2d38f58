"""Status files of libvirt's QEMU driver."""

import pytest

from laneway.domain.address import PciAddress
from laneway.hosts.domain_xml import parse_domain, parse_guest
from laneway.hosts.observed_vm import ObservedVm
from laneway.interfaces.guest_definition import GuestDefinition, WantedDevice


def status(devices: str, attributes: str = "state='running' reason='booted' pid='4711'") -> str:
    return (
        f"<!-- made by libvirt --><domstatus {attributes}><vcpus/><domain type='kvm' id='3'><name>db-1</name>"
        f"<uuid>6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60</uuid><devices>{devices}</devices></domain></domstatus>"
    )


def pci(domain: str, bus: str, slot: str, function: str) -> str:
    return f"<address type='pci' domain='{domain}' bus='{bus}' slot='{slot}' function='{function}'/>"


GUEST_SIDE = pci("0x0000", "0x09", "0x01", "0x0")
SOURCE = f"<source>{pci('0x0000', '0x3b', '0x02', '0x1')}</source>"
ADDRESS = PciAddress.parse("0000:3b:02.1")

DEVICES = {
    "a host device": f"<hostdev mode='subsystem' type='pci' managed='yes'>{SOURCE}{GUEST_SIDE}</hostdev>",
    "an interface of type hostdev": f"<interface type='hostdev' managed='no'>{SOURCE}{GUEST_SIDE}</interface>",
    "an interface that a network gave": (
        f"<interface type='network'><source network='vfs'/><actual type='hostdev'>{SOURCE}</actual>"
        f"{GUEST_SIDE}</interface>"
    ),
    "an NVMe disk": (
        "<disk type='nvme' device='disk'><source type='pci' managed='yes' namespace='1'>"
        f"{pci('0', '59', '2', '1')}</source>{GUEST_SIDE}</disk>"
    ),
}


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES.keys())
def test_functions_that_go_through_vfio(device: str) -> None:
    assert parse_domain(status(device)) == ObservedVm(
        source="libvirt",
        name="db-1",
        uuid="6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60",
        pid=4711,
        addresses=(ADDRESS,),
    )


def test_vdpa_and_macvtap_interfaces() -> None:
    vm = parse_domain(
        status(
            "<interface type='vdpa'><source dev='/dev/vhost-vdpa-0'/></interface>"
            "<interface type='direct'><source dev='ens5v1' mode='passthrough'/></interface>"
            "<interface type='direct'><source dev='ens5' mode='bridge'/></interface>"
            "<interface type='network'><source network='n'/>"
            "<actual type='direct'><source dev='ens6v2' mode='passthrough'/></actual></interface>"
        )
    )
    assert vm.vhost_nodes == ("/dev/vhost-vdpa-0",)
    assert vm.macvtap_parents == ("ens5v1", "ens6v2")
    assert vm.addresses == ()


@pytest.mark.parametrize(
    "device",
    [
        "<hostdev mode='subsystem' type='mdev' model='vfio-pci'><source><address uuid='c2177883'/></source></hostdev>",
        "<hostdev mode='subsystem' type='usb'><source><address bus='1' device='4'/></source></hostdev>",
        "<hostdev mode='subsystem' type='pci'/>",
        "<interface type='bridge'><source bridge='br0'/></interface>",
        "<interface type='direct'/>",
        "<disk type='file'><source file='/a.img'/></disk>",
    ],
)
def test_devices_that_are_no_functions_of_the_host(device: str) -> None:
    vm = parse_domain(status(device))
    assert (vm.addresses, vm.vhost_nodes, vm.macvtap_parents) == ((), (), ())


def test_a_plain_domain_document_is_read_too() -> None:
    vm = parse_domain("<domain><name>a</name></domain>")
    assert (vm.name, vm.uuid, vm.pid) == ("a", None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is not XML"),
        ("<domstatus pid='1'>", "it is not XML"),
        ("<networkstatus/>", "it holds no domain"),
        (status("", "pid='many'"), "many"),
        (status("<hostdev type='pci'><source><address bus='0x3b' slot='0x20'/></source></hostdev>"), "slot"),
        (status("<hostdev type='pci'><source><address bus='first'/></source></hostdev>"), "first"),
    ],
)
def test_a_document_that_makes_no_sense_is_a_value_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_domain(text)


def guest(devices: str = "", head: str = "<name>db-1</name><uuid>6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60</uuid>") -> str:
    return f"<domain type='kvm'>{head}<devices>{devices}</devices></domain>"


@pytest.mark.parametrize(
    ("device", "managed"),
    list(zip(DEVICES.values(), [True, False, False, True], strict=True)),
    ids=DEVICES.keys(),
)
def test_a_guest_says_of_each_device_whether_libvirt_takes_it(device: str, managed: bool) -> None:
    assert parse_guest(guest(device)) == GuestDefinition(
        name="db-1",
        uuid="6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60",
        devices=(WantedDevice(address=ADDRESS, managed=managed),),
    )


def test_a_network_says_of_the_device_that_it_gave_whether_libvirt_takes_it() -> None:
    given = f"<interface type='network'><actual type='hostdev' managed='yes'>{SOURCE}</actual></interface>"
    assert parse_guest(guest(given)).devices == (WantedDevice(address=ADDRESS, managed=True),)


def test_a_guest_is_known_by_its_name_and_its_uuid() -> None:
    assert parse_guest(guest()).consumers == {"db-1", "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60"}
    assert parse_guest(guest(head="<name>db-1</name>")).consumers == {"db-1"}


def test_other_devices_are_nothing_that_a_guest_asks_of_the_pci_bus() -> None:
    others = (
        "<hostdev mode='subsystem' type='usb'><source><vendor id='0x1'/></source></hostdev>"
        "<hostdev mode='subsystem' type='mdev'><source><address uuid='c2177883-f1bb-47f0-914d-32a22e3a8804'/></source>"
        "</hostdev><interface type='bridge'><source bridge='br0'/></interface><disk type='file'/>"
    )
    assert parse_guest(guest(others)).devices == ()


_BOMB = (
    "<!DOCTYPE domain [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]>"
    "<domain><name>&c;</name></domain>"
)
_FILE = "<!DOCTYPE domain [<!ENTITY f SYSTEM 'file:///etc/hostname'>]><domain><name>&f;</name></domain>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not XML"),
        ("<domain><name>db-1</name>", "not XML"),
        ("<network><name>n</name></network>", "no domain with a name"),
        ("<domain/>", "no domain with a name"),
        ("<domain><name/></domain>", "no domain with a name"),
        (_BOMB, "declares the document type"),
        (_FILE, "declares the document type"),
        ("<domain><name>&undefined;</name></domain>", "not XML"),
        (guest("<hostdev type='pci'><source/></hostdev>"), "a device of the host has no address"),
        (guest("<interface type='hostdev'/>"), "no address .<interface>"),
        (guest(f"<hostdev type='pci'><source>{pci('0', 'x', '0', '0')}</source></hostdev>"), "invalid literal"),
        (guest(f"<hostdev type='pci'><source>{pci('0', '0', '32', '0')}</source></hostdev>"), "slot 20 is not between"),
        (f"<domain><name>{'a' * (4 << 20)}</name></domain>", "at most 4194304"),
    ],
    ids=[
        *("nothing", "half of one", "a network", "nothing in it", "an empty name", "entities that grow"),
        *("a file as an entity", "an entity that nobody defined", "no address", "an interface without one"),
        *("an address that is no number", "an address that is none", "more than libvirt can send"),
    ],
)
def test_what_is_no_guest_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_guest(text)


def test_a_document_that_is_nested_deeply_does_no_harm() -> None:
    depth = 100_000
    assert parse_guest(guest("<a>" * depth + "</a>" * depth)).devices == ()
