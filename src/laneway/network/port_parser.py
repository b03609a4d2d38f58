"""Ports as they are written in JSON: the ``ports`` of a scenario's step."""

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import DeviceRequest, NumaPolicy
from laneway.domain.requests.request_shape import PORT_KEYS, choice_at, list_of, object_of, refused, text_at
from laneway.network.ports import Port, VnicType, request_of


def parse_ports(value: object, *, guest_policy: NumaPolicy | None = None) -> tuple[DeviceRequest, ...]:
    """The requests of a list of ports, named ``port-0``, ``port-1``, ... by their place in it.

    ``guest_policy`` is that of flavor or image (rule C60).
    Raises MalformedRequestError for a wrong shape, LanewayError(invalid_request), and
    LanewayError(not_supported) for a port that is Cyborg's.
    """
    ports = [_port(item, f"ports[{number}]") for number, item in enumerate(list_of(value, "ports", "a list of ports"))]
    requests = [request_of(port, f"port-{number}", guest_policy=guest_policy) for number, port in enumerate(ports)]
    found = tuple(request for request in requests if request is not None)
    if not found:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST, f"no port of {len(ports)} needs a PCI device, so there is nothing to claim"
        )
    return found


def _port(value: object, place: str) -> Port:
    content = object_of(value, place, PORT_KEYS)
    vnic_type = choice_at(content, "vnic_type", place, VnicType)
    if vnic_type is None:
        raise refused(f"{place}.vnic_type", None, f"is missing; it is one of {', '.join(VnicType)}")
    trusted = content.get("trusted")
    if trusted is not None and not isinstance(trusted, bool):
        raise refused(f"{place}.trusted", trusted, "is neither true nor false")
    return Port(
        vnic_type=vnic_type,
        physical_network=text_at(content, "physical_network", place),
        numa_policy=choice_at(content, "numa_policy", place, NumaPolicy),
        trusted=trusted,
        id=text_at(content, "id", place),
    )
