"""What ``laneway db`` does with the database file of one host."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Engine

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.store import migrate
from laneway.store.failures import no_permission, refuse_folder, unreachable
from laneway.store.migrate import DatabaseStatus, Upgrade
from laneway.store.sqlite import sqlite_engine


def status(path: Path) -> DatabaseStatus:
    """Where the tables stand. A file that is missing is not made: it is an empty database.

    Raises LanewayError(database_unreachable) or LanewayError(no_permission).
    """
    if not _exists(path):
        return migrate.status_of(None, str(path))
    with _engine(path) as engine:
        return migrate.status(engine)


def upgrade(path: Path) -> Upgrade:
    """Brings the tables to this program's revision, all or nothing; a missing file is made.

    Raises LanewayError: database_too_new, database_unreachable or no_permission.
    """
    with _engine(path) as engine:
        return migrate.upgrade(engine)


def backup(path: Path, target: Path) -> None:
    """Copies the database, as it is at one moment, into a new file; others may go on writing.

    Raises LanewayError(usage) or (no_permission) if the target exists or cannot be made, and
    LanewayError(database_unreachable) or (no_permission) if there is no database or it cannot be read.
    """
    if not _exists(path):
        raise unreachable(str(path), "there is no such file")
    refuse_folder(path)
    try:
        if target.exists():
            raise _bad_target(target, "it exists")
        handle, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.USAGE
        raise _bad_target(target, error.strerror or str(error), code) from error
    os.close(handle)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        Path(partial).replace(target)
    except sqlite3.Error as error:
        raise unreachable(str(path), str(error)) from error
    finally:
        Path(partial).unlink(missing_ok=True)


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError as error:
        raise no_permission(path) from error
    except OSError as error:
        raise unreachable(str(path), error.strerror or str(error)) from error
    return True


def _bad_target(target: Path, reason: str, code: ErrorCode = ErrorCode.USAGE) -> LanewayError:
    return LanewayError(
        code,
        f"the backup cannot be written to {target}: {reason}; give the name of a new file in a folder that is "
        "writable for this user",
        {"target": str(target), "reason": reason},
    )


@contextmanager
def _engine(path: Path) -> Iterator[Engine]:
    engine = sqlite_engine(path)
    try:
        yield engine
    finally:
        engine.dispose()
