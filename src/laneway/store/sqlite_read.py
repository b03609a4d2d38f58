"""A quick look at a host's state: what the device table shows, by sqlite3 alone.

``laneway devices`` must be there at once, and importing SQLAlchemy takes longer than all that it
does. A test holds this equal to ``SqlStore.read``. It takes no lock and writes nothing.
"""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, BlockReason, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.store.revision import require_head

_WAIT_SECONDS = 10.0


class HeldRow(NamedTuple):
    """Of a held device what a table shows: no facts, which the inventory has."""

    status: Status
    consumer: str | None
    claim: str | None
    request: str | None
    attach: Attach
    entry: int | None


class QuickState(NamedTuple):
    """What the store holds of a host, without the claims and the devices' facts."""

    held: Mapping[PciAddress, HeldRow]
    blocks: Mapping[PciAddress, BlockReason]
    boot_id: str | None


NOTHING = QuickState({}, {}, None)


def read_state(path: Path, host: str) -> QuickState:
    """The host's state in the database file; nothing where file, tables or host do not exist yet.

    Raises LanewayError: database_too_old, database_too_new, database_unreachable or no_permission.
    """
    try:
        path.stat()
        with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
            return _read(connection, path, host)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except PermissionError as error:
        raise _cannot_read(ErrorCode.NO_PERMISSION, path, "this user may not look into its folder") from error
    except sqlite3.DatabaseError as error:
        if not os.access(path, os.R_OK):
            raise _cannot_read(ErrorCode.NO_PERMISSION, path, "this user may not read it") from error
        raise _cannot_read(ErrorCode.DATABASE_UNREACHABLE, path, str(error)) from error


def _read(connection: sqlite3.Connection, path: Path, host: str) -> QuickState:
    connection.execute("BEGIN")
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
        return NOTHING
    (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    require_head(revision, str(path))
    found = connection.execute("SELECT id, boot_id FROM hosts WHERE name = ?", (host,)).fetchone()
    if found is None:
        return NOTHING
    host_id, boot_id = found
    held = connection.execute(
        "SELECT address, status, attach, consumer, claim, request, entry FROM devices WHERE host_id = ?", (host_id,)
    )
    blocks = connection.execute("SELECT address, code, message, detail FROM blocks WHERE host_id = ?", (host_id,))
    return QuickState(
        {
            PciAddress.parse(address): HeldRow(Status(status), consumer, claim, request, Attach(attach), entry)
            for address, status, attach, consumer, claim, request, entry in held
        },
        {PciAddress.parse(address): BlockReason(*reason) for address, *reason in blocks},
        boot_id,
    )


def _cannot_read(code: ErrorCode, path: Path, reason: str) -> LanewayError:
    return LanewayError(
        code,
        f"the database {path} cannot be read: {reason}; run this as the owner of the file, or give another one "
        "as state.path",
        {"database": str(path), "reason": reason},
    )
