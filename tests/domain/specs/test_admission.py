"""Functions become devices that carry what others need to know (C12 to C14, C27 to C31)."""

import pytest

from domain.hosts import function, inventory, pf, vf
from domain.reading import specs
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import Binding, ExtraInfo, Status
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import DevType, NetDevice, PciFunction, Vpd
from laneway.domain.specs.admission import admit, admit_function
from laneway.domain.specs.device_spec import DeviceSpecs

ALL = specs({"address": "*"})
NIC = pf(
    "0000:81:00.0",
    netdevs=(NetDevice(name="ens1", mac="02:00:00:00:00:01"), NetDevice(name="ens1r0", mac="02:00:00:00:00:02")),
)


def info(of: PciFunction, parent: PciFunction | None = None, admitted_by: DeviceSpecs = ALL) -> ExtraInfo:
    device = admit_function(of, parent, admitted_by)
    assert device is not None
    return device.extra_info


def test_admitted_functions_become_available_devices_with_the_entry_of_their_spec() -> None:
    child, other = vf("0000:81:02.0", "0000:81:00.0"), function("0000:05:00.0", product_id="0a54")
    admission = admit(inventory(NIC, child, other), specs({"product_id": "ffff"}, {"address": "0000:81:00.0"}))
    assert {str(address): device.entry for address, device in admission.devices.items()} == {
        "0000:81:00.0": 1,
        "0000:81:02.0": 1,
    }
    for address, device in admission.devices.items():
        assert (device.address, device.status, device.consumer) == (address, Status.AVAILABLE, None)


def test_no_specs_admit_nothing() -> None:
    assert admit(inventory(NIC), DeviceSpecs(())).devices == {}


def test_two_functions_of_one_address_are_no_inventory() -> None:
    with pytest.raises(LanewayError, match="more than once") as raised:
        admit(inventory(NIC, NIC), ALL)
    assert raised.value.code == "invalid_inventory"


def test_a_device_knows_what_its_spec_says() -> None:
    """Rule C27."""
    said = specs(
        {"address": "*", "physical_network": "p", "binding": "operator", "cleaning": "reset", "allow_in_use": True}
    )
    found = info(NIC, admitted_by=said)
    assert (found.tags, found.binding, found.cleaning, found.allow_in_use) == (
        {"physical_network": "p"},
        Binding.OPERATOR,
        Cleaning(kind=CleaningKind.RESET),
        True,
    )


def test_all_devices_of_one_spec_share_one_mapping_of_tags() -> None:
    devices = admit(inventory(NIC, vf("0000:81:02.0", "0000:81:00.0")), ALL).devices.values()
    assert {id(device.tags) for device in devices} == {id(ALL.specs[0].tags)}


def test_a_network_vf_knows_the_mac_and_name_of_its_pf_and_its_own_number_and_features() -> None:
    """Rules C27 and C29."""
    child = vf(
        "0000:81:02.1",
        "0000:81:00.0",
        vf_index=1,
        netdevs=(
            NetDevice(name="v1", mac="0a:00:00:00:00:01", features=("rx", "switchdev")),
            NetDevice(name="v1b", features=("rx", "tx")),
        ),
    )
    assert info(child, NIC) == ExtraInfo(
        network_capabilities=("rx", "switchdev", "tx"),
        pf_mac_address="02:00:00:00:00:01",
        vf_num=1,
        parent_ifname="ens1",
    )


def test_a_vdpa_device_is_a_network_vf_too() -> None:
    child = function("0000:81:02.0", DevType.VDPA, parent_addr="0000:81:00.0", vf_index=0)
    assert (info(child, NIC).vf_num, info(child, NIC).parent_ifname) == (0, "ens1")


def test_a_pf_knows_its_own_mac_and_no_more() -> None:
    """Rule C27."""
    assert info(NIC) == ExtraInfo(mac_address="02:00:00:00:00:01")


def test_the_permanent_mac_is_preferred_as_a_bond_changes_the_other() -> None:
    bonded = pf(
        "0000:81:00.0", netdevs=(NetDevice(name="ens1", mac="02:00:00:00:00:09", permanent_mac="02:00:00:00:00:01"),)
    )
    assert info(bonded).mac_address == "02:00:00:00:00:01"
    assert info(vf("0000:81:02.0", "0000:81:00.0", vf_index=0), bonded).pf_mac_address == "02:00:00:00:00:01"


@pytest.mark.parametrize(
    ("parent", "vf_index"),
    [
        pytest.param(NIC, None, id="its number is not known"),
        pytest.param(pf("0000:81:00.0", netdevs=()), 0, id="the PF is with a guest"),
        pytest.param(pf("0000:81:00.0", netdevs=(NetDevice(name="ens1"),)), 0, id="the PF's MAC is not known"),
        pytest.param(pf("0000:81:00.0"), 0, id="the PF's interfaces are not known"),
        pytest.param(None, 0, id="the PF is not known"),
    ],
)
def test_mac_of_the_pf_and_number_of_the_vf_come_both_or_neither(
    parent: PciFunction | None, vf_index: int | None
) -> None:
    """Rules C29 and C31."""
    found = info(vf("0000:81:02.0", "0000:81:00.0", vf_index=vf_index), parent)
    assert (found.pf_mac_address, found.vf_num) == (None, None)


def test_a_vf_that_is_no_nic_has_no_network_facts() -> None:
    """Rule C29."""
    qat = pf("0000:3d:00.0", class_code="0b4000")
    child = vf("0000:3d:01.0", "0000:3d:00.0", class_code="0b4000", vf_index=0)
    assert info(child, qat) == ExtraInfo()


@pytest.mark.parametrize(
    ("parent", "network"), [(NIC, True), (pf("0000:81:00.0", netdevs=()), False)], ids=["a NIC's", "unknown"]
)
def test_a_vf_of_unknown_class_is_a_nic_if_it_or_its_pf_has_an_interface(parent: PciFunction, network: bool) -> None:
    child = vf("0000:81:02.0", "0000:81:00.0", class_code=None, vf_index=0)
    assert (info(child, parent).vf_num == 0) is network
    own = vf("0000:81:02.0", "0000:81:00.0", class_code=None, netdevs=(NetDevice(name="v", features=("rx",)),))
    assert info(own, parent).network_capabilities == ("rx",)


@pytest.mark.parametrize(
    ("own", "pfs", "serial"),
    [
        ("A", "B", "A"),
        (None, "B", "B"),
        ("", "B", "B"),
        ("x" * 256, "B", "B"),
        ("x" * 255, None, "x" * 255),
        ("  ", "", None),
    ],
    ids=[
        "its own first",
        "else its PF's",
        "empty is none",
        "too long is none",
        "255 are as many as fit",
        "blank is none",
    ],
)
def test_the_card_serial(own: str | None, pfs: str | None, serial: str | None) -> None:
    """Rule C30."""
    parent = pf("0000:81:00.0", vpd=Vpd(card_serial_number=pfs))
    child = vf("0000:81:02.0", "0000:81:00.0", vpd=Vpd(card_serial_number=own))
    assert info(child, parent).card_serial_number == serial
