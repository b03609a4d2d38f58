"""What a VF has of its PF."""

import pytest

from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, NetDevice, PciFunction, Sriov, Vdpa, Vpd
from laneway.hosts.lineage import Lineage

PF = PciFunction(
    address=PciAddress.parse("81:00.0"),
    vendor_id="15b3",
    product_id="101d",
    dev_type=DevType.PF,
    path="0000:80/01.0/00.0",
    vpd=Vpd(card_serial_number="S1", part_number="P1"),
    netdevs=(NetDevice(name="ens1"), NetDevice(name="ens1r0", features=("switchdev",))),
)
NONE = Lineage()
THIRD = Lineage(PF.address, 2, PF)
LOST = Lineage(PF.address, 2, None)
"""Of a PF that could not be read."""


@pytest.mark.parametrize(
    ("lineage", "vdpa", "sriov", "expected"),
    [
        pytest.param(NONE, None, None, DevType.PCI, id="a function of no card with VFs"),
        pytest.param(NONE, None, Sriov(total_vfs=8), DevType.PF, id="VFs are possible, though none is made"),
        pytest.param(NONE, None, Sriov(total_vfs=0, num_vfs=0), DevType.PCI, id="SR-IOV that is turned off"),
        pytest.param(NONE, None, Sriov(num_vfs=2), DevType.PF, id="VFs, of a total that is not told"),
        pytest.param(NONE, None, Sriov(), DevType.PF, id="SR-IOV, without a number of VFs"),
        pytest.param(THIRD, None, None, DevType.VF, id="a VF"),
        pytest.param(THIRD, None, Sriov(total_vfs=8), DevType.VF, id="a VF that could have VFs itself"),
        pytest.param(THIRD, Vdpa(name="vdpa0"), None, DevType.VDPA, id="a VF with a vDPA device"),
        pytest.param(NONE, Vdpa(name="vdpa0"), Sriov(total_vfs=8), DevType.VDPA, id="a PF with a vDPA device"),
    ],
)
def test_dev_type(lineage: Lineage, vdpa: Vdpa | None, sriov: Sriov | None, expected: DevType) -> None:
    """Rule C25."""
    assert lineage.dev_type(vdpa, sriov) is expected


@pytest.mark.parametrize(
    ("lineage", "expected"),
    [
        pytest.param(NONE, "own", id="its own"),
        pytest.param(THIRD, "0000:80/01.0/00.0+vf2", id="its PF's and its index"),
        pytest.param(LOST, None, id="nothing where the PF is not known"),
        pytest.param(THIRD._replace(vf_index=None), None, id="nothing where the index is not known"),
    ],
)
def test_path(lineage: Lineage, expected: str | None) -> None:
    assert lineage.path("own") == expected


@pytest.mark.parametrize(
    ("lineage", "own", "expected"),
    [
        pytest.param(THIRD, None, Vpd(card_serial_number="S1"), id="the serial of its PF's card"),
        pytest.param(
            THIRD,
            Vpd(part_number="P2"),
            Vpd(card_serial_number="S1", part_number="P2"),
            id="the serial alone where it has other data",
        ),
        pytest.param(THIRD, Vpd(card_serial_number="S2"), Vpd(card_serial_number="S2"), id="its own serial"),
        pytest.param(LOST, None, None, id="nothing where the PF is not known"),
        pytest.param(NONE, None, None, id="nothing for a function that is no VF"),
    ],
)
def test_vpd(lineage: Lineage, own: Vpd | None, expected: Vpd | None) -> None:
    assert lineage.vpd(own) == expected


def test_a_vf_is_below_a_switch_if_an_interface_of_its_pf_is_a_port_of_one() -> None:
    assert THIRD.is_below_switchdev
    assert not LOST.is_below_switchdev
