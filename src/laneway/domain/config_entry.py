"""Entries of an option that holds JSON: from its values to numbered objects, with all errors.

``device_spec`` and ``alias`` are both read this way (rules C2 and C63): a value is an object, a
list of objects, or a string that holds the JSON of either.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from laneway.domain.errors import ConfigProblem, ErrorCode, Findings
from laneway.domain.json_repair import repair_json

_SHOWN = 200
"""How many characters of a value a message shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReport:
    """Says what is wrong with one entry. ``code`` is that of errors that have none of their own."""

    findings: Findings
    option: str
    code: ErrorCode
    entry: int
    place: str | None = None

    def error(self, key: str | None, value: object, fault: str, remedy: str, code: ErrorCode | None = None) -> None:
        """Adds an error: the value of ``key`` (of the entry itself, if None) has this fault."""
        self.findings.errors.append(self._problem(code or self.code, key, value, fault, remedy))

    def warning(self, code: str, key: str | None, value: object, fault: str, remedy: str) -> None:
        """Adds a warning of the same form."""
        self.findings.warnings.append(self._problem(code, key, value, fault, remedy))

    def _problem(self, code: str, key: str | None, value: object, fault: str, remedy: str) -> ConfigProblem:
        where = f"{self.option} entry {self.entry}" + (f" ({self.place})" if self.place else "")
        subject = shown(value, raw=True) if key is None else f"{key} {shown(value)}"
        message = f"{where}: {subject} {fault}; {remedy}"
        return ConfigProblem(code, message, self.option, self.entry, key, value, remedy, self.place)


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of an option, with its number and place in ``report``."""

    content: Mapping[str, object]
    report: EntryReport


def shown(value: object, *, raw: bool = False) -> str:
    """A value as a message shows it: as JSON, cut where it is long. ``raw`` text, which is meant to
    be JSON itself, is shown as it is.
    """
    if raw and isinstance(value, str) and value.strip():
        text = value
    else:
        try:
            text = json.dumps(value, default=repr, ensure_ascii=False)
        except (ValueError, RecursionError):
            text = "this value"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def read_entries(
    values: Sequence[object],
    findings: Findings,
    *,
    option: str,
    code: ErrorCode,
    example: str,
    places: Sequence[str] | None = None,
) -> Iterator[Entry]:
    """The objects of an option in order, lists counted through; an unreadable value counts as one.

    ``places`` says where each value stands (file and line). ``example`` is a good entry, shown
    where nothing nearer can be. Errors go into ``findings``.
    """
    number = 0
    for position, value in enumerate(values):
        place = places[position] if places else None
        report = EntryReport(findings=findings, option=option, code=code, entry=number, place=place)
        items = _items(value, report, example)
        for item in items or ():
            numbered = replace(report, entry=number)
            number += 1
            if isinstance(item, dict):
                yield Entry(item, numbered)
            else:
                numbered.error(None, item, "is not a JSON object", f"write {example}")
        if items is None:
            number += 1


def _items(value: object, report: EntryReport, example: str) -> list[object] | None:
    """The items of one value; None if it is a text that cannot be read, which is then reported."""
    decoded = value
    if isinstance(value, str):
        repeated: list[str] = []
        try:
            decoded = json.loads(value, object_pairs_hook=lambda pairs: _object(pairs, repeated))
        except (ValueError, RecursionError) as error:
            mended = repair_json(value)
            report.error(None, value, f"is not JSON: {_reason(value, error)}", f"write {mended or example}")
            return None
        for key in repeated:
            report.warning(
                "repeated_key", key, value, "has this key more than once, of which the last counts", "keep one of them"
            )
    return decoded if isinstance(decoded, list) else [decoded]


def _object(pairs: list[tuple[str, object]], repeated: list[str]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        repeated.extend(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return content


def _reason(text: str, error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        near = text[error.pos : error.pos + 20]
        return f"{error.msg} at line {error.lineno} column {error.colno}" + (
            f", at {near!r}" if near else ", at its end"
        )
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
