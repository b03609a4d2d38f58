"""The key ``cleaning`` of a device spec: how a device that a guest had is made fit for the next. Pure."""

import re
import shlex
from collections.abc import Mapping

from laneway.domain.cleaning import DEFAULT_SECONDS, Cleaning, CleaningKind
from laneway.domain.config_entry import EntryReport
from laneway.domain.tags import nearest_key

_EXAMPLE = '{"command": "/usr/local/sbin/scrub {address}", "timeout": "10m"}'
_REMEDY = f'write "reset", "nvme-format", or a command such as {_EXAMPLE}'
_KEYS = ("command", "timeout")
_NAMED = (CleaningKind.RESET, CleaningKind.NVME_FORMAT)
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SPAN = re.compile(r"(?:[0-9]{1,6}[smhd])+")
_LONGEST = 7 * 86_400
"""In seconds: what takes more than a week is no cleaning between two guests."""


def parse_cleaning(value: object, key: str, report: EntryReport) -> Cleaning | None:
    """Reads ``reset``, ``nvme-format``, or a table with a ``command`` and perhaps a ``timeout``.

    The command is a text, split as a POSIX shell splits words, or a list of texts. None where
    anything is wrong, which is then in the report. ``key`` is the name under which it is written.
    """
    if isinstance(value, Mapping):
        return _parse_table(value, key, report)
    named = value.strip() if isinstance(value, str) else None
    if named not in _NAMED:
        report.error(key, value, "is no cleaning", _REMEDY)
        return None
    return Cleaning(kind=CleaningKind(named))


def _parse_table(table: Mapping[str, object], key: str, report: EntryReport) -> Cleaning | None:
    unknown = [name for name in table if name not in _KEYS]
    for name in unknown:
        near = nearest_key(str(name), _KEYS)
        remedy = f'write "{near}" for "{name}"' if near else f"its keys are {' and '.join(_KEYS)}"
        report.error(f"{key}.{name}", table[name], "is no key of a cleaning", remedy)
    if "command" not in table:
        if not unknown:
            report.error(key, dict(table), "has no command", _REMEDY)
        return None
    command = _parse_command(table["command"], f"{key}.command", report)
    seconds = _parse_timeout(table.get("timeout", DEFAULT_SECONDS), f"{key}.timeout", report)
    if command is None or seconds is None or unknown:
        return None
    return Cleaning(kind=CleaningKind.COMMAND, command=command, seconds=seconds)


def _parse_command(value: object, key: str, report: EntryReport) -> tuple[str, ...] | None:
    remedy = f"write the program and its arguments, such as in {_EXAMPLE}"
    if isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError as error:
            report.error(key, value, f"cannot be split into words: {error}", "close what is open, or write a list")
            return None
    elif isinstance(value, list) and all(isinstance(word, str) for word in value):
        words = [str(word) for word in value]
    else:
        report.error(key, value, "is neither a text nor a list of texts", remedy)
        return None
    if not words or not words[0].strip():
        report.error(key, value, "names no program", remedy)
        return None
    if any("\0" in word for word in words):
        report.error(key, value, "has a NUL, which no argument can have", remedy)
        return None
    if not any("{address}" in word for word in words):
        fault = "does not say which device it cleans"
        report.warning("cleaning_without_address", key, value, fault, "write {address} where its address belongs")
    return tuple(words)


def _parse_timeout(value: object, key: str, report: EntryReport) -> float | None:
    seconds: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    elif isinstance(value, str) and _SPAN.fullmatch(value.strip()):
        seconds = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"([0-9]+)([smhd])", value))
    if seconds is None:
        report.error(key, value, "is no time", 'write seconds, or a text such as "10m" or "1h30m"')
        return None
    if not 0 < seconds <= _LONGEST:
        fault = "is more than a week" if seconds > _LONGEST else "is no time at all"
        report.error(key, value, fault, "write how long the cleaning of one device may take")
        return None
    return float(seconds)
