"""Status files of libvirt's QEMU driver."""

import pytest

from laneway.domain.address import PciAddress
from laneway.hosts.domain_xml import parse_domain
from laneway.hosts.observed_vm import ObservedVm


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
