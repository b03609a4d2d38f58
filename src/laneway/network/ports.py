"""Ports that need PCI devices, and what they ask for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from laneway.domain.device import Attach
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.request import Alternative, DeviceRequest, NumaPolicy, RequestedValue


class VnicType(StrEnum):
    """Neutron's kinds of ports (rule C69)."""

    NORMAL = "normal"
    DIRECT = "direct"
    MACVTAP = "macvtap"
    DIRECT_PHYSICAL = "direct-physical"
    BAREMETAL = "baremetal"
    VIRTIO_FORWARDER = "virtio-forwarder"
    SMART_NIC = "smart-nic"
    VDPA = "vdpa"
    ACCELERATOR_DIRECT = "accelerator-direct"
    ACCELERATOR_DIRECT_PHYSICAL = "accelerator-direct-physical"
    REMOTE_MANAGED = "remote-managed"


@dataclass(frozen=True, slots=True)
class _Need:
    """What a kind of port needs of a device, besides its network (rule C70)."""

    dev_type: DevType | None = None
    attach: Attach = Attach.VFIO
    remote_managed: bool = False


_NEEDS: Mapping[VnicType, _Need] = {
    VnicType.DIRECT: _Need(),
    VnicType.MACVTAP: _Need(attach=Attach.MACVTAP),
    VnicType.VIRTIO_FORWARDER: _Need(),
    VnicType.DIRECT_PHYSICAL: _Need(dev_type=DevType.PF),
    VnicType.VDPA: _Need(dev_type=DevType.VDPA, attach=Attach.VDPA),
    VnicType.REMOTE_MANAGED: _Need(remote_managed=True),
}
NEED_DEVICES = tuple(_NEEDS)
"""The kinds of ports to which PCI devices are bound (rule C69)."""
_BY_CYBORG = frozenset({VnicType.ACCELERATOR_DIRECT, VnicType.ACCELERATOR_DIRECT_PHYSICAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A port as far as its device goes. ``physical_network`` None is a tunnelled network.

    ``trusted`` None: the port does not say. ``id`` is Neutron's, where there is one.
    """

    vnic_type: VnicType
    physical_network: str | None = None
    numa_policy: NumaPolicy | None = None
    trusted: bool | None = None
    id: str | None = None


def request_of(port: Port, name: str, *, guest_policy: NumaPolicy | None = None) -> DeviceRequest | None:
    """The request for the port's device, or None where it needs no PCI device (rules C69, C70).

    ``guest_policy`` is that of flavor or image, which the port's own beats (rule C60).
    Raises LanewayError(not_supported) for a port whose device Cyborg chooses.
    """
    if port.vnic_type in _BY_CYBORG:
        raise LanewayError(
            ErrorCode.NOT_SUPPORTED,
            f"{name}: the device of a port of vnic_type {port.vnic_type} is chosen by Cyborg; "
            f"Laneway serves {', '.join(_NEEDS)}",
            {"vnic_type": str(port.vnic_type)},
        )
    need = _NEEDS.get(port.vnic_type)
    if need is None:
        return None
    tags: dict[str, RequestedValue] = {
        "physical_network": port.physical_network,
        "remote_managed": need.remote_managed,
    }
    if port.trusted is not None:
        tags["trusted"] = port.trusted
    return DeviceRequest(
        name=name,
        alternatives=(Alternative(dev_type=need.dev_type, tags=tags),),
        numa_policy=port.numa_policy or guest_policy or NumaPolicy.LEGACY,
        attach=need.attach,
        requester=port.id or name,
    )
