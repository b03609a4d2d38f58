"""One row of a table of nova's, as a database or an export gives it.

A number may be a text (CSV has nothing else), and JSON in a column may be a text or JSON.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError

Row = Mapping[str, object]

Value = TypeVar("Value")

NULL_TEXTS = frozenset({"", "NULL", "\\N"})
"""How exports of databases write that there is no value."""


@dataclass(frozen=True, slots=True)
class RowReader:
    """One row. Every method but ``readable`` raises ValueError that names the column.

    ``unreadable`` is what was wrong with values that could be done without.
    """

    row: Row
    unreadable: list[str] = field(default_factory=list)

    def readable(self, read: Callable[["RowReader"], Value | None]) -> Value | None:
        """What is read of it; None, and noted, where that makes no sense."""
        try:
            return read(self)
        except (LanewayError, ValueError) as error:
            self.unreadable.append(error.message if isinstance(error, LanewayError) else str(error))
            return None

    @property
    def is_deleted(self) -> bool:
        """nova writes the row's id into ``deleted`` when it deletes the row."""
        value = self._value("deleted")
        return value not in (None, 0, False) and str(value).lower() not in {"0", "false", "f"}

    def text(self, column: str) -> str:
        value = self.maybe_text(column)
        if value is None:
            raise ValueError(f"its {column} is empty")
        return value

    def maybe_text(self, column: str) -> str | None:
        value = self._value(column)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"its {column} is {value!r}, which is no text")
        return value

    def number(self, column: str) -> int:
        value = self.maybe_number(column)
        if value is None:
            raise ValueError(f"its {column} is empty")
        return value

    def maybe_number(self, column: str) -> int | None:
        value = self._value(column)
        try:
            return None if value is None else int(str(value))
        except ValueError:
            raise ValueError(f"its {column} is {value!r}, which is no whole number") from None

    def maybe_address(self, column: str) -> PciAddress | None:
        text = self.maybe_text(column)
        return None if text is None else PciAddress.parse(text)

    def json(self, column: str) -> object:
        """What the column holds, which may be text of it; None where it is empty."""
        value = self._value(column)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"its {column} is not JSON: {error}") from None

    def _value(self, column: str) -> object:
        value = self.row.get(column)
        return None if isinstance(value, str) and value in NULL_TEXTS else value
