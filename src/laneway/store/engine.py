"""Engines: how transactions begin in each database, and how its failures are told to people."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError, IntegrityError, ProgrammingError

from laneway.domain.errors import ErrorCode, LanewayError

LOCKS = "laneway_locks"
"""The execution option of a connection whose transactions write."""


def for_writing(engine: Engine) -> Engine:
    """The same engine for transactions that write: in SQLite they lock the database as they begin."""
    return engine.execution_options(**{LOCKS: True})


@contextmanager
def reported(engine: Engine) -> Iterator[None]:
    """Turns failures of the database itself into LanewayError(database_unreachable).

    A broken constraint or a wrong statement is a fault of ours and goes on as it is.
    """
    try:
        yield
    except (IntegrityError, ProgrammingError):
        raise
    except DatabaseError as error:
        raise unreachable(engine.url.database or str(engine.url), str(error.orig)) from error


def unreachable(database: str, reason: str) -> LanewayError:
    """The error for a database that cannot be used now, with what to do about it."""
    return LanewayError(
        ErrorCode.DATABASE_UNREACHABLE,
        f"the database {database} cannot be used: {reason}; {_remedy(reason)}",
        {"database": database, "reason": reason},
    )


def _remedy(reason: str) -> str:
    for sign, remedy in _REMEDIES.items():
        if sign in reason:
            return remedy
    return "look at the file and its folder, or give another one as state.path"


_REMEDIES = {
    "locked": "another process has been writing for too long: look who has the file open, then try again",
    "readonly": "its folder and file must be writable for this user",
    "unable to open": "its folder must exist and be writable for this user",
    "full": "make room on the file system, then try again",
    "not a database": "give another file as state.path, or put a backup in its place",
    "malformed": "put a backup in its place (laneway db backup makes them)",
}
