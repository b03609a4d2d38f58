"""Engines: how transactions begin in each database, and how its failures are told to people."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError, IntegrityError, ProgrammingError

from laneway.store.failures import unreachable

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
