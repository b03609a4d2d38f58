"""A lock of one process at a time, which ends with its process, on every operating system."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

_WAIT_SECONDS = 0.5
"""Longer than anybody takes to look whether it is held."""


class ProcessLock:
    """A lock on a file. SQLite locks files on every system alike, and the system frees them when the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: sqlite3.Connection | None = None

    def take(self) -> bool:
        """Takes the lock; False if another holds it. Raises OSError where the file cannot be made."""
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            connection = self._locked()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise OSError(str(error)) from error
            return False
        self._held = connection
        return True

    def free(self) -> None:
        """Gives the lock back. Not to hold it is no error."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def is_taken(self) -> bool:
        """Whether some process holds the lock. Raises PermissionError where this user may not look."""
        try:
            self._path.stat()
        except FileNotFoundError:
            return False
        if not os.access(self._path, os.R_OK):
            raise PermissionError(f"{self._path} may not be read")
        try:
            with closing(
                sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)
            ) as connection:
                connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        except sqlite3.DatabaseError as error:
            return error.sqlite_errorcode == sqlite3.SQLITE_BUSY  # nobody holds what is no lock
        return False

    def _locked(self) -> sqlite3.Connection:
        """Raises sqlite3.DatabaseError."""
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=_WAIT_SECONDS)
        try:
            # Without a journal file beside it: nothing is ever written.
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection
