"""What Neutron is told of a device (rules C71 to C78, D9)."""

import pytest

from domain.devices import device
from laneway.domain.device import ExtraInfo, PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.network.binding_profile import BOUND_KEYS, binding_profile, without_binding

BASE = {"pci_vendor_info": "15b3:101e", "pci_slot": "0000:82:00.3", "physical_network": "p1"}
FULL = {
    "card_serial_number": "MT2113X00000",
    "pf_mac_address": "08:c0:eb:00:00:10",
    "vf_num": 0,
    "network_capabilities": ("rx", "switchdev"),
}


def nic(dev_type: DevType, **extra: object) -> PciDevice:
    bare = device("0000:82:00.3", dev_type, vendor_id="15b3", product_id="101e")
    info = ExtraInfo(tags={"physical_network": "p1"}, **extra)  # type: ignore[arg-type]
    return PciDevice(function=bare.function, extra_info=info)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            nic(DevType.VF, **FULL),
            {
                **BASE,
                "card_serial_number": "MT2113X00000",
                "pf_mac_address": "08:c0:eb:00:00:10",
                "vf_num": 0,
                "capabilities": ["rx", "switchdev"],
            },
            id="a VF of which all is known, its number being 0",
        ),
        pytest.param(nic(DevType.VF), BASE, id="a VF of which nothing is known"),
        pytest.param(
            nic(DevType.PF, mac_address="3c:fd:fe:00:00:22", card_serial_number="X"),
            {**BASE, "device_mac_address": "3c:fd:fe:00:00:22"},
            id="a PF with its MAC",
        ),
        pytest.param(nic(DevType.PF), BASE, id="a PF whose MAC is not known"),
        pytest.param(nic(DevType.VDPA, **FULL), BASE, id="a vDPA device has the three keys only"),
        pytest.param(nic(DevType.PCI, card_serial_number="X"), BASE, id="a plain device has the three keys only"),
    ],
)
def test_profile(found: PciDevice, expected: dict[str, object]) -> None:
    assert binding_profile(found) == expected


def test_a_device_whose_network_is_not_known_has_no_profile() -> None:
    """Rule C79: one with a wrong network would be bound where it cannot work."""
    with pytest.raises(LanewayError, match=r"the physical network of 0000:82:00\.3 is not known") as refusal:
        binding_profile(nic(DevType.VF, network_known=False))
    assert refusal.value.code is ErrorCode.UNKNOWN_DEVICE


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        pytest.param({}, None, id="no tag"),
        pytest.param({"physical_network": None}, None, id="a tunnelled network"),
        pytest.param({"physical_network": "p1"}, "p1", id="a physical network"),
    ],
)
def test_the_physical_network_is_always_there_and_may_be_null(
    tags: dict[str, str | None], expected: str | None
) -> None:
    profile = binding_profile(device(tags=dict(tags)))
    assert profile["physical_network"] == expected


def test_unbinding_takes_all_that_a_binding_put_there_and_keeps_what_is_others() -> None:
    bound = {**binding_profile(nic(DevType.VF, **FULL)), "allocation": "rp", "trusted": True, "local_gateway": 1}
    assert without_binding(bound) == {"trusted": True, "local_gateway": 1}


@pytest.mark.parametrize("dev_type", DevType)
def test_every_key_that_a_binding_makes_is_taken_at_unbinding(dev_type: DevType) -> None:
    profile = binding_profile(nic(dev_type, mac_address="3c:fd:fe:00:00:22", **FULL))
    assert profile.keys() <= BOUND_KEYS
    assert without_binding(profile) == {}


def test_what_ovn_needs_of_a_remote_managed_device_has_its_types() -> None:
    profile = binding_profile(nic(DevType.VF, **FULL))
    needed = {
        "pci_vendor_info": str,
        "pci_slot": str,
        "physical_network": str,
        "card_serial_number": str,
        "pf_mac_address": str,
        "vf_num": int,
        "capabilities": list,
    }
    assert {key: type(profile[key]) for key in needed} == needed
