"""A quick look at a host's state: what the device table shows, by sqlite3 alone.

``laneway devices`` must be there at once, and importing SQLAlchemy takes longer than all that it
does. A test holds this equal to ``SqlStore.read``. It takes no lock and writes nothing.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, BlockReason, Status
from laneway.domain.identity import identifying
from laneway.domain.inventory import DevType, PciFunction, Vpd
from laneway.store.failures import foreign, no_permission, refuse_folder, unreachable
from laneway.store.revision import require_head

Found = TypeVar("Found")

_WAIT_SECONDS = 10.0


class HeldRow(NamedTuple):
    """Of a held device what a table shows: no facts, which the inventory has, but those that identify it."""

    status: Status
    consumer: str | None
    claim: str | None
    request: str | None
    attach: Attach
    entry: int | None
    prepared: bool
    recorded: PciFunction


class QuickState(NamedTuple):
    """What the store holds of a host, without the claims and the devices' facts."""

    held: Mapping[PciAddress, HeldRow]
    blocks: Mapping[PciAddress, tuple[BlockReason, ...]]
    boot_id: str | None
    next_expiry: datetime | None
    """When the first claim ends that is not allocated by then; None where none does."""


NOTHING = QuickState({}, {}, None, None)


def read_state(path: Path, host: str) -> QuickState:
    """The host's state in the database file; nothing where file, tables or host do not exist yet.

    Raises LanewayError: database_too_old, database_too_new, database_unreachable or no_permission.
    """
    return _looked(path, host, _read, NOTHING)


def count_failing_ports(path: Path, host: str) -> int:
    """How many ports of the host could not be bound, or unbound, when that was last tried. Raises as ``read_state``."""
    return _looked(path, host, _failing_ports, 0)


def _looked(path: Path, host: str, read: Callable[[sqlite3.Connection, int], Found], nothing: Found) -> Found:
    """What is read of the host with this id."""
    try:
        path.stat()
        refuse_folder(path)
        with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            host_id = _host_id(connection, path, host)
            return nothing if host_id is None else read(connection, host_id)
    except (FileNotFoundError, NotADirectoryError):
        return nothing
    except PermissionError as error:
        raise no_permission(path) from error
    except OSError as error:
        raise unreachable(str(path), error.strerror or str(error)) from error
    except sqlite3.DatabaseError as error:
        if not os.access(path, os.R_OK | os.W_OK):
            raise no_permission(path) from error
        raise unreachable(str(path), str(error)) from error


def _host_id(connection: sqlite3.Connection, path: Path, host: str) -> int | None:
    """None where the host, or any table, is not there yet."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not tables:
        return None
    if "alembic_version" not in tables:
        raise foreign(str(path), min(tables))
    (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    require_head(revision, str(path))
    found = connection.execute("SELECT id FROM hosts WHERE name = ?", (host,)).fetchone()
    return None if found is None else int(found[0])


def _failing_ports(connection: sqlite3.Connection, host_id: int) -> int:
    failing = "SELECT count(*) FROM port_bindings WHERE host_id = ? AND error_code IS NOT NULL"
    (number,) = connection.execute(failing, (host_id,)).fetchone()
    return int(number)


def _read(connection: sqlite3.Connection, host_id: int) -> QuickState:
    (boot_id,) = connection.execute("SELECT boot_id FROM hosts WHERE id = ?", (host_id,)).fetchone()
    held = connection.execute(
        "SELECT address, status, attach, consumer, claim, request, entry, prepared, function"
        " FROM devices WHERE host_id = ?",
        (host_id,),
    )
    (expiry,) = connection.execute("SELECT min(expires_at) FROM claims WHERE host_id = ?", (host_id,)).fetchone()
    blocks = connection.execute("SELECT address, reasons FROM blocks WHERE host_id = ?", (host_id,))
    return QuickState(
        {
            PciAddress.parse(address): HeldRow(
                Status(status),
                consumer,
                claim,
                request,
                Attach(attach),
                entry,
                bool(prepared),
                _recorded(json.loads(function)),
            )
            for address, status, attach, consumer, claim, request, entry, prepared, function in held
        },
        {PciAddress.parse(address): tuple(map(_reason, json.loads(reasons))) for address, reasons in blocks},
        boot_id,
        None if expiry is None else datetime.fromisoformat(expiry).replace(tzinfo=UTC),
    )


def _reason(stored: Mapping[str, Any]) -> BlockReason:
    function = stored.get("function")
    recorded = None if function is None else _recorded(function)
    return BlockReason(stored["code"], stored["message"], stored.get("detail"), recorded)


def _recorded(facts: Mapping[str, Any]) -> PciFunction:
    """The function of a JSON text with what identifies it: ``identity.identifying``."""
    parent = facts.get("parent_addr")
    vpd = facts.get("vpd") or {}
    return identifying(
        PciFunction(
            address=PciAddress.parse(facts["address"]),
            vendor_id=facts["vendor_id"],
            product_id=facts["product_id"],
            dev_type=DevType(facts["dev_type"]),
            subsystem_vendor_id=facts.get("subsystem_vendor_id"),
            subsystem_id=facts.get("subsystem_id"),
            parent_addr=None if parent is None else PciAddress.parse(parent),
            vf_index=facts.get("vf_index"),
            path=facts.get("path"),
            location_path=facts.get("location_path"),
            vpd=Vpd(card_serial_number=vpd.get("card_serial_number")),
            device_serial_number=facts.get("device_serial_number"),
        )
    )
