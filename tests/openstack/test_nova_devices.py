"""What nova's tracker would be told of a host (rules C24 to C32)."""

from typing import Any

import pytest

from domain.hosts import function, inventory, pf, vf
from laneway.domain.inventory import DevType, NetDevice, PciFunction, Vpd
from laneway.openstack.nova_devices import nova_devices

NIC = "0000:31:00.0"
PF_MAC, VF_MAC = "3c:fd:fe:00:31:00", "02:00:00:00:31:01"
NETDEV = NetDevice(name="ens5", permanent_mac=PF_MAC)
VF_NETDEV = NetDevice(name="ens5v1", mac=VF_MAC, features=("rx", "tx"))
SERIAL = Vpd(card_serial_number="MT2113X00000")


def told(*functions: PciFunction) -> list[dict[str, Any]]:
    return nova_devices(inventory(*functions))


def test_a_plain_function_has_what_nova_needs_of_every_device() -> None:
    assert told(function("0000:3b:00.0", vendor_id="10de", product_id="20b0")) == [
        {
            "address": "0000:3b:00.0",
            "vendor_id": "10de",
            "product_id": "20b0",
            "dev_type": "type-PCI",
            "dev_id": "pci_0000_3b_00_0",
            "label": "label_10de_20b0",
            "numa_node": None,
        }
    ]


def test_a_vf_has_its_pf_and_what_its_port_needs() -> None:
    nic = pf(NIC, netdevs=(NETDEV,), vpd=SERIAL, numa_node=1)
    _, device = told(nic, vf("0000:31:01.1", NIC, vf_index=1, netdevs=(VF_NETDEV,), numa_node=1))
    assert device["dev_type"] == "type-VF"
    assert (device["parent_addr"], device["parent_ifname"], device["numa_node"]) == (NIC, "ens5", 1)
    assert device["capabilities"] == {
        "network": ["rx", "tx"],
        "sriov": {"pf_mac_address": PF_MAC, "vf_num": 1},
        "vpd": {"card_serial_number": "MT2113X00000"},
    }
    assert "mac_address" not in device


def test_a_pf_has_its_own_mac() -> None:
    (device,) = told(pf(NIC, netdevs=(NETDEV,), vpd=SERIAL))
    assert device["mac_address"] == PF_MAC
    assert device["capabilities"] == {"vpd": {"card_serial_number": "MT2113X00000"}}
    assert "parent_addr" not in device


@pytest.mark.parametrize(
    "functions",
    [
        pytest.param([pf(NIC)], id="a PF that a guest has shows no interface"),
        pytest.param([vf("0000:31:01.1", NIC, vf_index=1)], id="a VF whose PF is not there"),
    ],
)
def test_what_is_not_known_is_left_out(functions: list[PciFunction]) -> None:
    """Rules C29 and C31: never half of it, never an empty value."""
    (device,) = told(*functions)
    assert {"mac_address", "capabilities", "parent_ifname"}.isdisjoint(device)


def test_a_vdpa_device_has_its_pf_and_no_capabilities() -> None:
    """Rule C74: its port is told the common keys only."""
    nic = pf(NIC, netdevs=(NETDEV,), vpd=SERIAL)
    vdpa = function("0000:31:01.1", DevType.VDPA, parent_addr=NIC, vf_index=1, netdevs=(VF_NETDEV,))
    _, device = told(nic, vdpa)
    assert (device["dev_type"], device["parent_addr"]) == ("vdpa", NIC)
    assert "capabilities" not in device


def test_on_windows_a_device_is_known_by_its_location_path() -> None:
    """Rule D13."""
    path = "PCIROOT(0)#PCI(0100)#PCI(0000)"
    assert told(function("0000:01:00.0", location_path=path))[0]["dev_id"] == path


def test_bridges_and_what_no_guest_can_have_are_left_out() -> None:
    """Rule C14."""
    assert told(function("0000:00:1c.0", class_code="060400"), function("10000:01:00.0")) == []


def test_they_stand_in_order_of_address() -> None:
    """A VF comes behind its PF, as nova builds its tree."""
    assert [device["address"] for device in told(vf("0000:31:01.0", NIC), pf(NIC))] == [NIC, "0000:31:01.0"]
