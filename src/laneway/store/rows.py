"""Between the values of the domain and the rows of the tables."""

from typing import Any

from sqlalchemy import Row

from laneway.domain.device import Attach, BlockReason, PciDevice, Status
from laneway.domain.tracking.claim import ClaimRecord
from laneway.interfaces.network import BindingRecord

Values = dict[str, Any]


def device_values(device: PciDevice) -> Values:
    return {
        "status": device.status.value,
        "consumer": device.consumer,
        "claim": device.claim,
        "request": device.request,
        "attach": device.attach.value,
        "prepared": device.prepared,
        "placeholders": device.placeholders,
        "displaced": device.displaced,
        "entry": device.entry,
        "function": device.function,
        "extra_info": device.extra_info,
    }


def device_of(row: Row[Any]) -> PciDevice:
    return PciDevice(
        function=row.function,
        extra_info=row.extra_info,
        entry=row.entry,
        status=Status(row.status),
        consumer=row.consumer,
        claim=row.claim,
        request=row.request,
        attach=Attach(row.attach),
        prepared=row.prepared,
        placeholders=row.placeholders,
        displaced=row.displaced,
    )


def claim_values(record: ClaimRecord) -> Values:
    return {
        "consumer": record.request.consumer,
        "request": record.request,
        "devices": record.devices,
        "proven_best": record.proven_best,
        "expires_at": record.expires_at,
        "move": record.move,
    }


def claim_of(row: Row[Any]) -> ClaimRecord:
    return ClaimRecord(
        request=row.request,
        devices=row.devices,
        proven_best=row.proven_best,
        expires_at=row.expires_at,
        move=row.move,
    )


def block_values(reasons: tuple[BlockReason, ...]) -> Values:
    return {"reasons": reasons}


def binding_record_values(record: BindingRecord) -> Values:
    return {
        "consumer": record.consumer,
        "address": record.address,
        "profile": record.profile,
        "since": record.since,
        "is_bound": record.is_bound,
        "attempts": record.attempts,
        "error_code": record.error_code,
        "error": record.error,
    }


def binding_record_of(row: Row[Any]) -> BindingRecord:
    return BindingRecord(
        port=row.port,
        consumer=row.consumer,
        address=row.address,
        profile=row.profile,
        since=row.since,
        is_bound=row.is_bound,
        attempts=row.attempts,
        error_code=row.error_code,
        error=row.error,
    )
