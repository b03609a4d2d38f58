"""What is recorded of a port's binding: before it is tried, when it stands, when it failed."""

from dataclasses import replace
from datetime import datetime

from laneway.domain.errors import LanewayError
from laneway.interfaces.network import BindingRecord
from laneway.network.wished_bindings import WishedBinding


def begun(wish: WishedBinding, before: BindingRecord | None, now: datetime) -> BindingRecord | None:
    """What is recorded before a port is bound: as it was, where it is to be bound as before. None without a profile."""
    if wish.profile is None:
        return before
    made = BindingRecord(
        port=wish.port, consumer=wish.consumer, address=wish.device.address, profile=wish.profile, since=now
    )
    if before is None:
        return made
    if _content(before) == _content(made):
        return before
    return replace(made, since=now if before.is_bound else before.since, attempts=before.attempts)


def confirmed(record: BindingRecord, before: BindingRecord | None, *, is_bound: bool, now: datetime) -> BindingRecord:
    """What is recorded of a port that stands as it should, since then."""
    stood = before is not None and _content(before) == _content(record) and before.is_bound == is_bound
    since = before.since if before is not None and stood and before.error is None else now
    return replace(record, is_bound=is_bound, since=since, attempts=0, error_code=None, error=None)


def failed(record: BindingRecord, error: LanewayError, now: datetime) -> BindingRecord:
    """What is recorded of one that does not, with the number of tries."""
    since = now if record.is_bound and record.error is None else record.since
    return replace(record, since=since, attempts=record.attempts + 1, error_code=str(error.code), error=error.message)


def _content(record: BindingRecord) -> tuple[object, ...]:
    return record.consumer, record.address, record.profile
