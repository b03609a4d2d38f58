"""PCI functions, put together from node devices."""

from typing import Any

import pytest

from hosts.libvirt.node_xml import FakeHost, function, interface, phys_function, vdpa, virt_functions
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, Inventory, Link, NetDevice, PciFunction, Problem, Sriov, Vdpa
from laneway.hosts.libvirt.connection import Described
from laneway.hosts.libvirt.driver import LibvirtHostDriver

PF, VF0, VF1 = "0000:81:00.0", "0000:81:00.2", "0000:81:01.3"
CARD = function(PF, virt_functions([VF0, VF1], most=8), driver="mlx5_core")
VF_IDS = "<product id='0x101e'/><vendor id='0x15b3'/>"


def vf(address: str, *facts: str, pf: str = PF, **more: Any) -> Described:
    return function(address, phys_function(pf), *facts, ids=VF_IDS, **more)


def discover(*devices: Described) -> Inventory:
    return LibvirtHostDriver(connect=FakeHost(*devices).connect).discover()


def functions(*devices: Described) -> dict[str, PciFunction]:
    found = discover(*devices)
    assert found.problems == ()
    return {str(one.address): one for one in found.functions}


def test_functions_stand_in_the_order_of_the_bus() -> None:
    assert list(functions(vf(VF1), CARD, function("0000:00:1f.0"), vf(VF0))) == ["0000:00:1f.0", PF, VF0, VF1]


def test_a_pf_and_its_vfs() -> None:
    found = functions(CARD, vf(VF0), vf(VF1))
    assert found[PF].dev_type is DevType.PF
    assert found[PF].sriov == Sriov(total_vfs=8, num_vfs=2, vf_product_id="101e")
    for index, address in enumerate((VF0, VF1)):
        one = found[address]
        assert (one.dev_type, one.parent_addr, one.vf_index) == (DevType.VF, PciAddress.parse(PF), index)
        assert one.path == f"0000:80/01.0/00.0+vf{index}"


@pytest.mark.parametrize(
    ("described", "dev_type", "sriov"),
    [
        pytest.param(function(PF), DevType.PCI, None, id="no SR-IOV"),
        pytest.param(
            function(PF, virt_functions([], most=7)), DevType.PF, Sriov(total_vfs=7, num_vfs=0), id="no VF is made"
        ),
        pytest.param(
            function(PF, virt_functions([VF0])), DevType.PF, Sriov(num_vfs=1), id="a libvirt that tells no maximum"
        ),
        pytest.param(function(PF, virt_functions([])), DevType.PCI, None, id="virt_functions of an old libvirt"),
        pytest.param(
            function(PF, virt_functions([], most=0)), DevType.PCI, Sriov(total_vfs=0, num_vfs=0), id="a maximum of none"
        ),
        pytest.param(
            function(VF0, phys_function(PF), virt_functions(["0000:82:00.0"], most=4)),
            DevType.VF,
            Sriov(total_vfs=4, num_vfs=1),
            id="a VF that is a PF too is a VF",
        ),
    ],
)
def test_dev_type_and_sriov(described: Described, dev_type: DevType, sriov: Sriov | None) -> None:
    (found,) = functions(described).values()
    assert (found.dev_type, found.sriov) == (dev_type, sriov)


def test_a_vf_whose_pf_is_not_listed_has_no_index_and_no_path() -> None:
    one = functions(vf(VF0))[VF0]
    assert (one.dev_type, one.parent_addr, one.vf_index, one.path) == (DevType.VF, PciAddress.parse(PF), None, None)
    assert one.bridges == (PciAddress.parse("0000:80:01.0"),)


def test_a_vf_that_another_pf_lists_keeps_its_own_pf() -> None:
    other = function("0000:81:00.1", virt_functions([VF0], most=8))
    one = functions(other, vf(VF0, pf=PF), function(PF))[VF0]
    assert (one.parent_addr, one.vf_index) == (PciAddress.parse(PF), None)


def test_a_function_that_a_pf_lists_is_its_vf_though_it_does_not_say_so() -> None:
    one = functions(CARD, function(VF1))[VF1]
    assert (one.dev_type, one.parent_addr, one.vf_index) == (DevType.VF, PciAddress.parse(PF), 1)


def test_no_function_is_a_vf_of_its_own() -> None:
    described = function(PF, phys_function(PF), virt_functions([PF], most=1))
    assert functions(described)[PF].parent_addr is None


def test_a_vf_takes_serial_and_link_of_its_pf() -> None:
    serial = "<capability type='vpd'><fields access='readonly'><serial_number>S1</serial_number></fields></capability>"
    link = "<pci-express><link validity='sta' speed='16' width='8'/></pci-express>"
    dead = "<pci-express><link validity='cap' speed='2.5' width='4'/><link validity='sta' width='0'/></pci-express>"
    found = functions(function(PF, virt_functions([VF0]), serial, link), vf(VF0, dead))
    assert (found[VF0].vpd or pytest.fail("no data")).card_serial_number == "S1"
    assert found[VF0].link == found[PF].link == Link(speed_gts=16.0, width=8)


# where it stands


@pytest.mark.parametrize(
    ("place", "roots", "bridges", "path"),
    [
        pytest.param("pci0000:00", ("0000:00",), [], "0000:00/00.0", id="on a root bus"),
        pytest.param(
            "pci0000:80/0000:80:01.0/0000:82:00.0",
            ("0000:80",),
            ["0000:80:01.0", "0000:82:00.0"],
            "0000:80/01.0/00.0/00.0",
            id="below a switch",
        ),
    ],
)
def test_place(place: str, roots: tuple[str, ...], bridges: list[str], path: str) -> None:
    one = functions(function(PF, place=place))[PF]
    assert (one.pcie_roots, one.path) == (roots, path)
    assert [str(bridge) for bridge in one.bridges or ()] == bridges


def test_without_a_path_the_place_is_not_known() -> None:
    one = functions(function(PF, place=None))[PF]
    assert (one.pcie_roots, one.bridges, one.path) == (None, None, None)


def test_a_path_to_another_function_gives_no_place_and_is_noted() -> None:
    described = function(PF)
    assert described.xml is not None
    found = discover(described._replace(xml=described.xml.replace(f"{PF}</path>", "0000:81:00.7</path>")))
    assert found.functions[0].pcie_roots is None
    assert found.problems == (
        Problem(
            address=PF, attribute="path", message="the device tree has 0000:81:00.7 where this function should stand"
        ),
    )


# what is on it


def test_an_interface_is_found_by_its_parent_and_not_by_a_name_with_an_old_mac() -> None:
    found = functions(
        CARD, vf(VF0), interface("ens1v0", on=VF0, mac="02:00:00:00:00:50", mac_in_name="ea:60:77:1f:21:50")
    )
    assert found[VF0].netdevs == (NetDevice(name="ens1v0", mac="02:00:00:00:00:50"),)
    assert found[PF].netdevs == ()


def test_interfaces_stand_by_name_and_those_that_stand_for_vfs_last() -> None:
    names = ["ens1f0npf0vf1", "ens1f0np0", "ens1f0npf0vf0", "eth9", "ens1f0nc1pf0sf2"]
    found = functions(CARD, *(interface(name, on=PF) for name in names))
    assert [netdev.name for netdev in found[PF].netdevs or ()] == [
        *("ens1f0np0", "eth9", "ens1f0nc1pf0sf2", "ens1f0npf0vf0", "ens1f0npf0vf1"),
    ]


def test_what_stands_on_a_subfunction_is_none_of_the_functions_own() -> None:
    on = f"pci0000:80/0000:80:01.0/{PF}/mlx5_core.sf.4"
    found = functions(
        CARD, interface("enp3s0", on=PF, path=f"{on}/net/enp3s0"), vdpa("vdpa0", on=PF, path=f"{on}/vdpa0")
    )
    assert (found[PF].netdevs, found[PF].vdpa, found[PF].dev_type) == ((), None, DevType.PF)


def test_what_stands_on_no_function_is_left_out() -> None:
    assert functions(interface("usb0", on="0000:99:00.0"), vdpa("vdpa0", on="0000:99:00.0")) == {}


def test_a_vdpa_device_makes_its_function_one() -> None:
    found = functions(CARD, vf(VF0), vdpa("vdpa1", on=VF0), vdpa("vdpa0", on=VF0, chardev="/dev/vhost-vdpa-0"))
    assert found[VF0].dev_type is DevType.VDPA
    assert found[VF0].parent_addr == PciAddress.parse(PF)
    assert found[VF0].vdpa == Vdpa(name="vdpa0", driver="vhost_vdpa", vhost_node="/dev/vhost-vdpa-0")


def test_of_two_node_devices_with_one_address_the_first_by_name_counts() -> None:
    found = discover(function(PF, name="pci_b", driver="b"), function(PF, name="pci_a", driver="a"))
    assert [one.driver for one in found.functions] == ["a"]
    message = "pci_b and pci_a both have this address; pci_a counts"
    assert found.problems == (Problem(address=PF, attribute="address", message=message),)


def test_a_domain_of_32_bits() -> None:
    (found,) = functions(function("10000:01:00.0", place="pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0")).values()
    assert (str(found.address), found.pcie_roots, found.path) == (
        "10000:01:00.0",
        ("0000:64",),
        "0000:64/00.5/02.0/00.0",
    )
