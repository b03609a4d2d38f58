"""Which request each device of an instance serves, as nova's records have it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.requests.matching import ONLY_IF_ASKED
from laneway.domain.requests.request import Alternative, DeviceRequest
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.nova_records import NovaPciDevice


@dataclass(frozen=True, slots=True)
class Served:
    """The request of each device that has one, and what does not fit together."""

    requests: Mapping[PciAddress, DeviceRequest]
    findings: tuple[Finding, ...]


def serve(consumer: str, requests: Sequence[DeviceRequest], devices: Sequence[NovaPciDevice]) -> Served:
    """A device serves the request that its record names. A request that comes twice is for twice as many devices.

    Before 2023.1 (Antelope) records of a flavor's devices named none: such a device serves the
    first request that it fits and that lacks one.
    """
    by_id = {request.name: request for request in requests}
    asked = Counter[str]()
    for request in requests:
        asked[request.name] += request.count
    lacking = Counter(asked)
    found: dict[PciAddress, DeviceRequest] = {}
    for device in devices:
        named = by_id.get(device.request_id) if device.request_id is not None else None
        if named is not None:
            found[device.address] = named
            lacking[named.name] -= 1
    for device in devices:
        if device.request_id is None:
            fitting = next((one for one in requests if lacking[one.name] > 0 and _fits(device, one)), None)
            if fitting is not None:
                found[device.address] = fitting
                lacking[fitting.name] -= 1
    findings = (*_devices_without_request(consumer, devices, found), *_wrong_counts(consumer, by_id, asked, lacking))
    return Served(found, findings)


def _fits(device: NovaPciDevice, request: DeviceRequest) -> bool:
    """As far as a record can tell, which has no tags. The device of a port always names its request."""
    return request.requester is None and any(_is_one(device, way) for way in request.alternatives)


def _is_one(device: NovaPciDevice, way: Alternative) -> bool:
    return (
        way.vendor_id in (None, device.vendor_id)
        and way.product_id in (None, device.product_id)
        and (way.dev_type == device.dev_type or (way.dev_type is None and device.dev_type not in ONLY_IF_ASKED))
    )


def _devices_without_request(
    consumer: str, devices: Sequence[NovaPciDevice], found: Mapping[PciAddress, DeviceRequest]
) -> Iterator[Finding]:
    for device in devices:
        if device.address not in found:
            named = f"its request {device.request_id}" if device.request_id is not None else "a request for it"
            yield Finding(
                code="device_without_request",
                severity=Severity.WARNING,
                message=f"{device.address} is with {consumer}, which has no {named.removeprefix('its ')}"
                " in instance_extra.pci_requests; so it is in no claim",
                address=device.address,
                consumer=consumer,
            )


def _wrong_counts(
    consumer: str, requests: Mapping[str, DeviceRequest], asked: Mapping[str, int], lacking: Mapping[str, int]
) -> Iterator[Finding]:
    for name, missing in lacking.items():
        request = requests[name]
        if missing:
            code = "request_without_device" if missing > 0 else "too_many_devices"
            yield Finding(
                code=code,
                severity=Severity.WARNING,
                message=f"request {name} ({_origin(request)}) of {consumer} is for {asked[name]}"
                f" and has {asked[name] - missing} here; a move that is under way may be why",
                consumer=consumer,
            )


def _origin(request: DeviceRequest) -> str:
    if request.requester is not None:
        return f"port {request.requester}"
    return "no alias" if request.alias is None else f"alias {request.alias}"
