"""The use case ``binding-profile``: what Neutron is told, from the store alone.

No config and no host driver is asked, so it runs in an API process on any machine that reaches
the store.
"""

from collections.abc import Mapping

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.store import Store
from laneway.network.binding_profile import binding_profile

Profiles = Mapping[PciAddress, Mapping[str, object]]


def binding_profiles(store: Store, consumer: str) -> Mapping[str, Profiles]:
    """The profile of each device that the consumer holds, by host and address.

    Raises LanewayError(no_claim) where it holds none.
    """
    found: dict[str, Profiles] = {}
    for host in store.hosts():
        held = store.read(host).held
        profiles = {
            address: binding_profile(device) for address, device in sorted(held.items()) if device.consumer == consumer
        }
        if profiles:
            found[host] = profiles
    if not found:
        raise LanewayError(
            ErrorCode.NO_CLAIM,
            f"{consumer} holds no device on any host of this database; claim some first",
            {"consumer": consumer},
        )
    return found
