"""The JSON contract ``laneway.ports/1``: how the ports of a host stand."""

from laneway.contracts.answer import Json, error_json
from laneway.contracts.codec import to_plain
from laneway.fleet.port_standings import PortStanding, PortStandings
from laneway.interfaces.network import BindingRecord, NetworkPort

PORTS_SCHEMA = "laneway.ports/1"


def ports_document(standings: PortStandings) -> Json:
    """``ok``: all of them stand as they should. ``error``: why Neutron did not tell."""
    return {
        "schema": PORTS_SCHEMA,
        "host": standings.host,
        "ok": standings.all_stand,
        "error": None if standings.error is None else error_json(standings.error),
        "ports": [_port(port) for port in standings.ports],
    }


def _port(port: PortStanding) -> Json:
    wish, record = port.wish, port.record
    address = wish.device.address if wish else record.address if record else None
    return {
        "port": port.port,
        "consumer": port.consumer,
        "address": None if address is None else str(address),
        "wished": port.wished,
        "wished_profile": None if wish is None or wish.profile is None else dict(wish.profile),
        "stands": port.stands,
        "actual": None if port.there is None else _there(port.there),
        "record": None if record is None else _record(record),
        "error": None if port.error is None else error_json(port.error),
    }


def _there(port: NetworkPort) -> Json:
    return {
        "host": port.host,
        "vif_type": port.vif_type,
        "vnic_type": port.vnic_type,
        "device_id": port.device_id,
        "mac_address": port.mac_address,
        "profile": dict(port.profile),
    }


def _record(record: BindingRecord) -> Json:
    return {
        "is_bound": record.is_bound,
        "since": to_plain(record.since),
        "attempts": record.attempts,
        "error_code": record.error_code,
        "error": record.error,
    }
