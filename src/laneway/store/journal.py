"""The journal of a host: a SQLite file of its own, beside the database. ``sqlite3`` alone is used: it is small.

Every write is one transaction that is on the disk when it returns. A process that is killed, or a
machine that loses power, leaves what the last whole transaction wrote.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from laneway.contracts.journal import (
    decode_plan,
    decode_state,
    decode_step,
    encode_plan,
    encode_state,
    encode_step,
)
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import Plan, Step, Unfinished
from laneway.interfaces.journal import JournalState

VERSION = 1
"""Of the tables and of the documents in them; it grows when an older program could not read them any more."""

_APPLICATION = 0x4C4E574A
"""``PRAGMA application_id`` says whose file it is: "LNWJ"."""

_WAIT_SECONDS = 10.0

_TABLES = """
CREATE TABLE plan (id INTEGER PRIMARY KEY CHECK (id = 1), document BLOB NOT NULL);
CREATE TABLE begun (number INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), document BLOB NOT NULL);
"""


def journal_path(database: Path) -> Path:
    """Where the journal of the host stands whose state is in this database."""
    return database.with_name(f"{database.stem}.journal.db")


class SqliteJournal:
    """A journal in a file, which is made at the first write. Close it in the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def state(self) -> JournalState:
        with self._reported():
            connection = self._existing()
            row = None if connection is None else connection.execute("SELECT document FROM state").fetchone()
            return JournalState() if row is None else decode_state(row[0])

    def unfinished(self) -> Unfinished | None:
        with self._reported():
            connection = self._existing()
            row = None if connection is None else connection.execute("SELECT document FROM plan").fetchone()
            if connection is None or row is None:
                return None
            steps = connection.execute("SELECT document FROM begun ORDER BY number")
            return Unfinished(plan=decode_plan(row[0]), begun=tuple(decode_step(step) for (step,) in steps))

    def begin(self, plan: Plan) -> None:
        with self._writing() as connection:
            connection.execute("INSERT INTO plan VALUES (1, ?)", (encode_plan(plan),))

    def step(self, step: Step) -> None:
        with self._writing() as connection:
            connection.execute("INSERT INTO begun (document) VALUES (?)", (encode_step(step),))

    def keep(self, state: JournalState) -> None:
        with self._writing() as connection:
            connection.execute("DELETE FROM plan")
            connection.execute("DELETE FROM begun")
            connection.execute("REPLACE INTO state VALUES (1, ?)", (encode_state(state),))

    def close(self) -> None:
        """Lets go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _existing(self) -> sqlite3.Connection | None:
        """The connection, or None where there is no file yet: to look makes none."""
        if self._connection is None:
            try:
                self._path.stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        return self._opened()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reported():
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if self._path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        connection = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _set_up(self, connection: sqlite3.Connection) -> None:
        """Makes the tables of a new file. Refuses what is not a journal, or one of a later version."""
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != _APPLICATION and tables:
            raise sqlite3.DatabaseError("it is not a journal of Laneway")
        if version > VERSION:
            raise _too_new(self._path, version)
        if not tables:
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except PermissionError as error:
            raise _no_permission(self._path) from error
        except OSError as error:
            raise _unusable(self._path, error.strerror or str(error)) from error
        except sqlite3.DatabaseError as error:
            if self._path.exists() and not os.access(self._path, os.R_OK | os.W_OK):
                raise _no_permission(self._path) from error
            raise _unusable(self._path, str(error)) from error
        except LanewayError as error:
            if error.code is not ErrorCode.INVALID_JSON:
                raise
            raise _unusable(self._path, error.message) from error


def _unusable(path: Path, reason: str) -> LanewayError:
    return LanewayError(
        ErrorCode.DATABASE_UNREACHABLE,
        f"the journal {path} cannot be used: {reason}; look at the file and its folder. If it is damaged, reboot after"
        " moving it away: the kernel forgets all bindings then, and `laneway prepare` makes them anew",
        {"journal": str(path), "reason": reason},
    )


def _too_new(path: Path, version: int) -> LanewayError:
    return LanewayError(
        ErrorCode.DATABASE_TOO_NEW,
        f"the journal {path} is of version {version}, and this program knows versions up to {VERSION};"
        " install the Laneway that wrote it",
        {"journal": str(path), "found": version, "known": VERSION},
    )


def _no_permission(path: Path) -> LanewayError:
    return LanewayError(
        ErrorCode.NO_PERMISSION,
        f"this user may not read and write the journal {path}; run it as the owner of the file",
        {"journal": str(path)},
    )
