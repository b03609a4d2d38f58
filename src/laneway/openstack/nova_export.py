"""An export of nova's tables: a folder with a file for each, as JSON lines, as JSON or as CSV.

``pci_devices.jsonl`` has an object on each line, one for each row with the columns as keys: what MySQL and MariaDB give
with ``JSON_OBJECT(...)``, and PostgreSQL with ``row_to_json``. ``pci_devices.json`` is a list of such objects, as
``sqlite3 -json`` prints it. ``pci_devices.csv`` has the names of the columns in its first line (RFC 4180).
"""

import csv
from collections.abc import Sequence
from pathlib import Path

from laneway.contracts.codec import parse_json
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_records import COLUMNS, Tables
from laneway.openstack.nova_rows import Row

_NEEDED = ("compute_nodes", "pci_devices")
_LONGEST_FIELD = 1 << 24


def read_export(folder: Path) -> Tables:
    """The tables of a folder. Those but ``compute_nodes`` and ``pci_devices`` may be missing.

    Raises LanewayError: usage where there is no such folder or table, no_permission, invalid_json.
    """
    tables = {table: rows for table in COLUMNS if (rows := _table(folder, table)) is not None}
    for table, rows in tables.items():
        _check_columns(folder, table, rows)
    for table in _NEEDED:
        if table not in tables:
            message = (
                f"{folder} has neither {table}.jsonl nor {table}.json nor {table}.csv; name the folder of an export of"
                " nova's tables"
            )
            raise LanewayError(ErrorCode.USAGE, message, {"folder": str(folder), "table": table})
    return tables


def _check_columns(folder: Path, table: str, rows: Sequence[Row]) -> None:
    """A column that is left out would count as empty: no device would have an owner."""
    for number, row in enumerate(rows, 1):
        missing = [column for column in COLUMNS[table] if column not in row]
        if missing:
            message = (
                f"row {number} of {table} in {folder} has no {', '.join(missing)}; export the columns"
                f" {', '.join(COLUMNS[table])}, with null where there is no value"
            )
            raise LanewayError(ErrorCode.USAGE, message, {"folder": str(folder), "table": table, "missing": missing})


def _table(folder: Path, table: str) -> list[Row] | None:
    for suffix, read in ((".jsonl", _read_json_lines), (".json", _read_json), (".csv", _read_csv)):
        file = folder / f"{table}{suffix}"
        try:
            return read(file, file.read_bytes())
        except FileNotFoundError:
            continue
        except OSError as error:
            code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.USAGE
            raise LanewayError(code, f"{file} cannot be read: {error.strerror}", {"file": str(file)}) from error
    return None


def _read_json_lines(file: Path, data: bytes) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            row = _parsed(line, f"{file}, line {number}", file)
            if not isinstance(row, dict):
                raise _unreadable(
                    file, f"has no object on line {number}; write one for each row, with its columns as keys"
                )
            rows.append(row)
    return rows


def _parsed(data: bytes, place: str, file: Path) -> object:
    try:
        return parse_json(data)
    except LanewayError as error:
        raise LanewayError(error.code, f"{place}: {error.message}", {"file": str(file)}) from error


def _read_json(file: Path, data: bytes) -> list[Row]:
    rows = _parsed(data, str(file), file)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _unreadable(file, "is no list of objects; write one for each row, with its columns as keys")
    return rows


def _read_csv(file: Path, data: bytes) -> list[Row]:
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        lines = data.decode("utf-8-sig").splitlines(keepends=True)
        rows = list(csv.DictReader(lines, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(file, f"is no CSV in UTF-8: {error}") from error
    if any(None in row or None in row.values() for row in rows):
        raise _unreadable(file, "has a row with more or fewer fields than its first line names columns")
    return list(rows)


def _unreadable(file: Path, fault: str) -> LanewayError:
    return LanewayError(ErrorCode.INVALID_JSON, f"{file} {fault}", {"file": str(file)})
