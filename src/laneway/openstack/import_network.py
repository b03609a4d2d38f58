"""The physical network of a device that is taken over, which nova's record of it lacks.

Who knows it: the binding profile of its port, the config that admits it, and the request of the
port. Where none of them does it stays unknown, and its port gets no profile rather than a wrong one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from laneway.domain.device import ExtraInfo, TagValue
from laneway.domain.requests.request import DeviceRequest
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.nova_records import NovaPciDevice
from laneway.openstack.port_records import PortRecord

NETWORK = "physical_network"


@dataclass(frozen=True, slots=True)
class Network:
    """What the device has to say of its network, and what was found on the way."""

    extra_info: ExtraInfo
    findings: tuple[Finding, ...] = ()


def network_of(
    record: NovaPciDevice,
    request: DeviceRequest | None,
    extra: ExtraInfo,
    ports: Mapping[str, PortRecord],
    host: str | None,
    *,
    admitted: bool,
) -> Network:
    """What is known of the network, and where those who know disagree. The profile of the port counts most."""
    port_id = None if request is None else request.requester
    if port_id is None:
        return Network(extra if admitted else replace(extra, network_known=False))
    port = ports.get(port_id)
    findings = tuple(_other_place(record, port, host)) if port is not None else ()
    if port is not None and not findings and port.knows_network:
        return _by_profile(record, port, extra, admitted=admitted)
    if admitted:
        return Network(extra, findings)
    asked = _asked(request)
    if asked is not None:
        return Network(_with(extra, asked[0]), findings)
    message = (
        f"nobody knows the physical network of {record.address}, the device of port {port_id}: no device spec admits"
        " it, and its binding profile is not given; it gets no profile"
    )
    unknown = _warning("network_unknown", record, message)
    return Network(replace(extra, network_known=False), (*findings, unknown))


def _by_profile(record: NovaPciDevice, port: PortRecord, extra: ExtraInfo, *, admitted: bool) -> Network:
    configured = extra.tags.get(NETWORK)
    if not admitted:
        return Network(_with(extra, port.physical_network))
    if _same(port.physical_network, configured):
        return Network(extra)
    message = (
        f"the profile of port {port.id} has the physical network {port.physical_network} for {record.address},"
        f" and the config {configured}; the profile counts until the device is freed"
    )
    return Network(_with(extra, port.physical_network), (_warning("network_differs", record, message),))


def _with(extra: ExtraInfo, network: TagValue) -> ExtraInfo:
    return replace(extra, tags={**extra.tags, NETWORK: network})


def _other_place(record: NovaPciDevice, port: PortRecord, host: str | None) -> Iterator[Finding]:
    """Whether the port says that it is bound to something else."""
    if port.address != record.address or (port.host is not None and port.host != host):
        where = "no device" if port.address is None else f"{port.address} on {port.host}"
        message = f"port {port.id} is bound to {where}, and nova has {record.address} on {host} for it"
        yield _warning("port_differs", record, message)
    if port.consumer is not None and port.consumer != record.owner:
        message = f"port {port.id} belongs to {port.consumer}, and its device {record.address} is with {record.owner}"
        yield _warning("port_differs", record, message)


def _asked(request: DeviceRequest | None) -> tuple[TagValue] | None:
    """What the port asked for, which its device had (rule C70)."""
    asked = [way.tags[NETWORK] for way in request.alternatives if NETWORK in way.tags] if request is not None else []
    found = [network for network in asked if network is None or isinstance(network, str)]
    return (found[0],) if len(found) == 1 else None


def _same(network: str | None, configured: TagValue) -> bool:
    """Rule C22."""
    if network is None or not isinstance(configured, str):
        return network is None and configured is None
    return network.casefold() == configured.casefold()


def _warning(code: str, record: NovaPciDevice, message: str) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, message=message, address=record.address, consumer=record.owner)
