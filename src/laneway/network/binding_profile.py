"""What Neutron is told of a device: a port's ``binding:profile``, made from the tracked device alone.

No config and no host is needed, so this runs in an API process on another machine.
"""

from collections.abc import Mapping

from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType

BOUND_KEYS = frozenset(
    {
        "pci_vendor_info",
        "pci_slot",
        "allocation",
        "arq_uuid",
        "physical_network",
        "card_serial_number",
        "vf_num",
        "pf_mac_address",
        "device_mac_address",
        "capabilities",
    }
)
"""The keys that a binding puts into a profile; all others are somebody else's (rules C77 and D9)."""


def binding_profile(device: PciDevice) -> dict[str, object]:
    """The keys for the port that gets the device (rules C71 to C74).

    Of a VF the serial of the card, the MAC of the PF with the VF's number, and the capabilities,
    each only if known; of a PF its own MAC, if known. Raises LanewayError(unknown_device) where the
    network of the device is not known: a port is better off without a profile than with a wrong one.
    """
    if not device.extra_info.network_known:
        raise network_unknown(device)
    extra = device.extra_info
    profile: dict[str, object] = {
        "pci_vendor_info": f"{device.vendor_id}:{device.product_id}",
        "pci_slot": str(device.address),
        "physical_network": device.tags.get("physical_network"),
    }
    if device.dev_type is DevType.VF:
        known: dict[str, object | None] = {
            "card_serial_number": extra.card_serial_number,
            "pf_mac_address": extra.pf_mac_address,
            "vf_num": extra.vf_num,
            "capabilities": list(extra.network_capabilities) or None,
        }
        profile |= {key: value for key, value in known.items() if value is not None}
    elif device.dev_type is DevType.PF and extra.mac_address is not None:
        profile["device_mac_address"] = extra.mac_address
    return profile


def network_unknown(device: PciDevice) -> LanewayError:
    """Why a device has no profile (rule C79)."""
    return LanewayError(
        ErrorCode.UNKNOWN_DEVICE,
        f"the physical network of {device.address} is not known: it was taken over from nova's records, which lack it,"
        " while no device spec admitted it; add an entry for it, then free and claim it again",
        {"address": str(device.address)},
    )


def without_binding(profile: Mapping[str, object]) -> dict[str, object]:
    """The profile of a port once it is unbound: keys of others stay (rules C77 and D9)."""
    return {key: value for key, value in profile.items() if key not in BOUND_KEYS}
