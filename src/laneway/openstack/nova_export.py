"""An export of nova's tables: a folder with a file for each, as JSON or as CSV.

``pci_devices.json`` is a list of objects, one for each row with the columns as keys: what
``sqlite3 -json``, ``psql`` with ``json_agg`` and MySQL with ``JSON_ARRAYAGG(JSON_OBJECT(...))`` give.
``pci_devices.csv`` has the names of the columns in its first line (RFC 4180).
"""

import csv
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
    for table in _NEEDED:
        if table not in tables:
            message = (
                f"{folder} has neither {table}.json nor {table}.csv; name the folder of an export of nova's tables"
            )
            raise LanewayError(ErrorCode.USAGE, message, {"folder": str(folder), "table": table})
    return tables


def _table(folder: Path, table: str) -> list[Row] | None:
    for suffix, read in ((".json", _read_json), (".csv", _read_csv)):
        file = folder / f"{table}{suffix}"
        try:
            return read(file, file.read_bytes())
        except FileNotFoundError:
            continue
        except OSError as error:
            code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.USAGE
            raise LanewayError(code, f"{file} cannot be read: {error.strerror}", {"file": str(file)}) from error
    return None


def _read_json(file: Path, data: bytes) -> list[Row]:
    try:
        rows = parse_json(data)
    except LanewayError as error:
        raise LanewayError(error.code, f"{file}: {error.message}", {"file": str(file)}) from error
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
