"""How values stand in columns: the same text in every database."""
# ruff: noqa: ARG002 - the signatures are SQLAlchemy's

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

from laneway.contracts.codec import convert, encode, parse_json
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError


class AddressText(TypeDecorator[PciAddress]):
    """A PCI address as its canonical text: a person reads it, and a 32-bit domain fits."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: PciAddress | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> PciAddress | None:
        return None if value is None else PciAddress.parse(value)


class UtcTime(TypeDecorator[datetime]):
    """A moment, in UTC: SQLite knows no time zones. A time without a zone is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=value.tzinfo or UTC)


class JsonText(TypeDecorator[Any]):
    """A value of the domain as the JSON of its contract. ``type_`` is what it is read back as.

    For columns that are never null.
    Reading raises LanewayError(database_unreachable) where the text is not that.
    """

    impl = Text
    cache_ok = True

    def __init__(self, type_: Any) -> None:
        super().__init__()
        self.type_ = type_

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return encode(value).decode()

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        try:
            return convert(parse_json(value), self.type_, ErrorCode.DATABASE_UNREACHABLE)
        except LanewayError as error:
            kind = getattr(self.type_, "__name__", "value")
            raise LanewayError(
                ErrorCode.DATABASE_UNREACHABLE,
                f"the database holds a {kind} that cannot be read ({error.message}); "
                "use the Laneway that wrote it, or put a backup in its place",
                error.detail,
            ) from error
