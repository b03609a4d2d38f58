"""Ports as Neutron lists them, for what nova's records lack: the physical network of a device."""

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError

MACVTAP = "macvtap"


@dataclass(frozen=True, slots=True, kw_only=True)
class PortRecord:
    """A bound port. ``address`` None: it has no PCI device. ``host`` is where it is bound."""

    id: str
    consumer: str | None
    host: str | None
    vnic_type: str | None
    address: PciAddress | None
    knows_network: bool
    physical_network: str | None


def read_ports(document: object) -> dict[str, PortRecord]:
    """The ports of a list, by id, with the keys of the API or of ``openstack port ... -f json``.

    The answer ``{"ports": [...]}`` of the API will do too. Raises LanewayError(invalid_json).
    """
    ports = document.get("ports") if isinstance(document, dict) else document
    if not isinstance(ports, list):
        raise _invalid("$", 'is no list of ports; write [{"id": ..., "binding:profile": {...}}]')
    read = [_port(port, f"$[{number}]") for number, port in enumerate(ports)]
    return {port.id: port for port in read}


def _port(value: object, place: str) -> PortRecord:
    if not isinstance(value, dict):
        raise _invalid(place, "is no object")
    port_id = _text(value, "id", place)
    if port_id is None:
        raise _invalid(f"{place}.id", "is missing; every port has one")
    profile = _bound(value, "profile")
    if profile is not None and not isinstance(profile, dict):
        raise _invalid(f"{place}.binding:profile", "is no object")
    profile = profile or {}
    slot = _text(profile, "pci_slot", place)
    network = _text(profile, "physical_network", place)
    try:
        address = None if slot is None else PciAddress.parse(slot)
    except LanewayError as error:
        raise _invalid(f"{place}.binding:profile.pci_slot", error.message) from error
    return PortRecord(
        id=port_id,
        consumer=_text(value, "device_id", place) or None,
        host=_as_text(_bound(value, "host_id"), f"{place}.binding:host_id") or None,
        vnic_type=_as_text(_bound(value, "vnic_type"), f"{place}.binding:vnic_type"),
        address=address,
        knows_network="physical_network" in profile,
        physical_network=network,
    )


def _bound(value: Mapping[str, object], name: str) -> object:
    """What stands under ``binding:`` in the API, and under ``binding_`` in the answers of the client."""
    return value.get(f"binding:{name}", value.get(f"binding_{name}"))


def _text(value: Mapping[str, object], key: str, place: str) -> str | None:
    return _as_text(value.get(key), f"{place}.{key}")


def _as_text(value: object, place: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _invalid(place, "is no text")
    return value


def _invalid(place: str, fault: str) -> LanewayError:
    return LanewayError(ErrorCode.INVALID_JSON, f"the ports: {place} {fault}", {"place": place})
