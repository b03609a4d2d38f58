"""The use case ``binding-profile``: what Neutron is told, from the store alone.

No config and no host driver is asked, so it runs in an API process on any machine that reaches
the store.
"""

from collections.abc import Iterable, Mapping

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.store import Store
from laneway.network.binding_profile import binding_profile

Profiles = Mapping[PciAddress, Mapping[str, object]]


def profiles_of(devices: Iterable[PciDevice]) -> Profiles:
    """The profile of each device, by address."""
    return {device.address: binding_profile(device) for device in sorted(devices, key=lambda device: device.address)}


def binding_profiles(store: Store, consumer: str) -> Mapping[str, Profiles]:
    """The profile of each device that the consumer holds, by host and address.

    Raises LanewayError(no_claim) where it holds none.
    """
    found: dict[str, Profiles] = {}
    for host in store.hosts():
        held = store.read(host).held.values()
        profiles = profiles_of(device for device in held if device.consumer == consumer)
        if profiles:
            found[host] = profiles
    if not found:
        raise LanewayError(
            ErrorCode.NO_CLAIM,
            f"{consumer} holds no device on any host of this database; claim some first",
            {"consumer": consumer},
        )
    return found
