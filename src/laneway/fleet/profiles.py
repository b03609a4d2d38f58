"""The use case ``binding-profile``: what Neutron is told, from the store alone.

No config and no host driver is asked, so it runs in an API process on any machine that reaches
the store.
"""

from collections.abc import Iterable, Mapping

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.displacement import refuse_displaced
from laneway.interfaces.store import Store
from laneway.network.binding_profile import binding_profile, network_unknown

Profiles = Mapping[PciAddress, Mapping[str, object]]


def profiles_of(devices: Iterable[PciDevice]) -> Profiles:
    """The profile of each device whose network is known, by address.

    Raises LanewayError(wrong_device) where what stands at its address is not the device that was claimed.
    """
    known = [device for device in devices if device.extra_info.network_known]
    refuse_displaced(known)
    return {device.address: binding_profile(device) for device in sorted(known, key=lambda device: device.address)}


def binding_profiles(store: Store, consumer: str) -> Mapping[str, Profiles]:
    """The profile of each device that the consumer holds, by host and address.

    Raises LanewayError(no_claim) where it holds none, LanewayError(unknown_device) where the network
    of none of them is known, and LanewayError(wrong_device) as ``profiles_of``.
    """
    held = {host: [one for one in store.read(host).held.values() if one.consumer == consumer] for host in store.hosts()}
    devices = [device for found in held.values() for device in found]
    if not devices:
        raise LanewayError(
            ErrorCode.NO_CLAIM,
            f"{consumer} holds no device on any host of this database; claim some first",
            {"consumer": consumer},
        )
    found = {host: profiles for host, devices in held.items() if (profiles := profiles_of(devices))}
    if not found:
        raise network_unknown(devices[0])
    return found
