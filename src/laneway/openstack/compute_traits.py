"""Traits of a compute host's own provider that say what of PCI it can do, and who needs them."""

from collections.abc import Iterable

from laneway.domain.requests.request import DeviceRequest, NumaPolicy
from laneway.domain.tracking.host_view import HostView

REMOTE_MANAGED_PORTS = "COMPUTE_REMOTE_MANAGED_PORTS"
SOCKET_AFFINITY = "COMPUTE_SOCKET_PCI_NUMA_AFFINITY"


def offered_traits(host: HostView) -> frozenset[str]:
    """What the host can do: every one knows the policy ``socket``, and one with remote-managed devices has such ports.

    They count whatever their status (rule C56): what a host is does not depend on what is free.
    """
    tracked = (*host.admitted.values(), *host.held.values())
    has_remote_managed = any(device.tags.get("remote_managed") is True for device in tracked)
    return frozenset({SOCKET_AFFINITY, REMOTE_MANAGED_PORTS} if has_remote_managed else {SOCKET_AFFINITY})


def required_traits(requests: Iterable[DeviceRequest], *, guest_policy: NumaPolicy | None = None) -> frozenset[str]:
    """What the host of a guest has to offer. ``guest_policy`` is that of flavor or image (rule C61)."""
    required = {SOCKET_AFFINITY} if guest_policy is NumaPolicy.SOCKET else set()
    if any(way.tags.get("remote_managed") is True for request in requests for way in request.alternatives):
        required.add(REMOTE_MANAGED_PORTS)
    return frozenset(required)
