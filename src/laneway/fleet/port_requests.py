"""From ports of Neutron to what their devices have to be (rules C60, C69, C70)."""

from collections.abc import Sequence

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import DeviceRequest, NumaPolicy
from laneway.domain.requests.request_shape import member_of
from laneway.interfaces.network import NetworkPort, NetworkService
from laneway.network.ports import NEED_DEVICES, Port, VnicType, request_of


def port_requests(
    service: NetworkService, ids: Sequence[str], consumer: str, *, guest_policy: NumaPolicy | None = None
) -> tuple[DeviceRequest, ...]:
    """The request for the device of each port, named as the port.

    ``guest_policy`` is that of the guest's flavor or image, which a port's own beats.
    Raises LanewayError: unknown_port; port_in_use where it is a port of another VM; invalid_request where it needs
    no PCI device, not_supported where Cyborg chooses it; and as the service does.
    """
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        message = f"port {twice} is named twice; it gets one device, so name it once"
        raise LanewayError(ErrorCode.PORT_IN_USE, message, {"port": twice})
    found = {port.id: port for port in service.ports(ids)}
    networks: dict[str, str | None] = {}
    requests = []
    for one in ids:
        port = found.get(one)
        if port is None:
            message = f"Neutron has no port {one}; see openstack port list, or whether the user may see it"
            raise LanewayError(ErrorCode.UNKNOWN_PORT, message, {"port": one})
        if port.device_id not in (None, consumer):
            message = f"port {one} is a port of {port.device_id} already; take it from that first, or name another port"
            raise LanewayError(ErrorCode.PORT_IN_USE, message, {"port": one, "device_id": port.device_id})
        if port.network not in networks:
            networks[port.network] = service.physical_network(port.network)
        requests.append(_request(port, networks[port.network], guest_policy))
    return tuple(requests)


def _request(port: NetworkPort, physical_network: str | None, guest_policy: NumaPolicy | None) -> DeviceRequest:
    policy = port.numa_policy
    wanted = Port(
        vnic_type=member_of(VnicType, port.vnic_type, f"port {port.id}: vnic_type"),
        physical_network=physical_network,
        numa_policy=None if policy is None else member_of(NumaPolicy, policy, f"port {port.id}: numa_affinity_policy"),
        trusted=port.trusted,
        id=port.id,
    )
    request = request_of(wanted, port.id, guest_policy=guest_policy)
    if request is None:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"port {port.id} is of vnic_type {port.vnic_type} and needs no PCI device;"
            f" make it one of {', '.join(NEED_DEVICES)}, or leave it out",
            {"port": port.id, "vnic_type": port.vnic_type},
        )
    return request
