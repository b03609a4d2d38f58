"""The JSON contract ``laneway.claims/1``: what is held on a host."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from laneway.contracts.answer import Json, devices_json
from laneway.contracts.codec import to_plain
from laneway.domain.device import PciDevice
from laneway.domain.tracking.claim import ClaimRecord

CLAIMS_SCHEMA = "laneway.claims/1"


def claims_document(host: str, held: Iterable[PciDevice], claims: Mapping[str, ClaimRecord], now: datetime) -> Json:
    """The held devices by address, and the claims that hold them, by consumer and id."""
    devices = sorted(held, key=lambda device: device.address)
    ids = {device.claim for device in devices if device.claim is not None}
    records = [claims[claim] for claim in ids if claim in claims]
    return {
        "schema": CLAIMS_SCHEMA,
        "host": host,
        "claims": [_claim_json(record, now) for record in sorted(records, key=_by_consumer)],
        "devices": [_device_json(device) for device in devices],
    }


def _by_consumer(record: ClaimRecord) -> tuple[str, str]:
    return record.request.consumer, record.request.claim


def _claim_json(record: ClaimRecord, now: datetime) -> Json:
    return {
        "claim": record.request.claim,
        "consumer": record.request.consumer,
        "devices": devices_json(record.devices),
        "proven_best": record.proven_best,
        "guest_numa_nodes": sorted(record.request.guest_numa_nodes),
        "expires_at": to_plain(record.expires_at),
        "overdue": record.is_overdue(now),
    }


def _device_json(device: PciDevice) -> Json:
    return {
        "address": str(device.address),
        "status": str(device.status),
        "consumer": device.consumer,
        "claim": device.claim,
        "request": device.request,
        "attach": str(device.attach),
    }
