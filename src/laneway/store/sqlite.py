"""The database of one host: a SQLite file, in this process, without a daemon."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

from laneway.store.engine import LOCKS
from laneway.store.failures import no_permission, refuse_folder, unreachable
from laneway.store.migrate import prepare
from laneway.store.sql import SqlStore

WAIT_SECONDS = 10.0
"""How long a transaction waits for the one of another process; each takes milliseconds."""
_RETRY_SECONDS = 0.005


def open_store(path: Path, *, actor: str | None = None, wait_seconds: float = WAIT_SECONDS) -> SqlStore:
    """The store in a file, made with its folder if it is new. Close it in the end.

    Raises LanewayError: database_too_old, database_too_new, database_unreachable or no_permission.
    """
    engine = sqlite_engine(path, wait_seconds=wait_seconds)
    try:
        prepare(engine)
    except BaseException:
        engine.dispose()
        raise
    return SqlStore(engine, actor=actor)


def sqlite_engine(path: Path, *, wait_seconds: float = WAIT_SECONDS) -> Engine:
    """An engine on the file, which is made if it is missing, for its owner's eyes only.

    Raises LanewayError(no_permission) or LanewayError(database_unreachable).
    """
    _make_file(path)
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"timeout": wait_seconds, "isolation_level": None})

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _record: Any) -> None:
        _use_wal(connection, wait_seconds)
        # Every commit is on the disk before it is answered, whatever happens to the machine.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A lock taken later, at the first write, could no longer be waited for: what was read
        # before it might have changed, so SQLite gives up at once.
        writes = connection.get_execution_options().get(LOCKS, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _make_file(path: Path) -> None:
    """Makes the file and its folder with the modes that they shall have; SQLite gives its own files the same."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except PermissionError as error:
        raise no_permission(path) from error
    except OSError as error:
        raise unreachable(str(path), error.strerror or str(error)) from error
    refuse_folder(path)
    if not os.access(path, os.R_OK | os.W_OK):
        raise no_permission(path)


def _use_wal(connection: sqlite3.Connection, wait_seconds: float) -> None:
    """Switches a new file to the write-ahead log; SQLite itself does not wait for others here."""
    end = time.monotonic() + wait_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return
