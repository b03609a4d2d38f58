"""nova's own database (that of a cell), which is only ever read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, create_engine, make_url, select
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.sql import column, table

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_records import COLUMNS, Row, Tables

_READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""One moment of all tables, and no way to write: MySQL, MariaDB and PostgreSQL understand it alike."""

_SQLITE = "sqlite"


def read_database(url: str) -> Tables:
    """All rows that are not deleted, by the SQLAlchemy URL of the database.

    Raises LanewayError(usage) for what is no such URL, or one that no installed driver can open,
    and LanewayError(database_unreachable).
    """
    with _reading(_parsed(url)) as connection:
        return {name: _rows(connection, name) for name in COLUMNS}


def _rows(connection: Connection, name: str) -> list[Row]:
    found = table(name, *map(column, COLUMNS[name]))
    return [dict(row) for row in connection.execute(select(found).where(found.c.deleted == 0)).mappings()]


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        message = (
            "this is no URL of a database; write it as nova.conf has it in [database]connection, such as"
            " mysql+pymysql://reader:PASSWORD@HOST/nova_cell1"
        )
        raise LanewayError(ErrorCode.USAGE, message) from None
    if parsed.get_backend_name() == _SQLITE:
        return _of_existing_file(parsed)
    return parsed


def _of_existing_file(url: URL) -> URL:
    """SQLite would make a file that is missing; this way it is opened for reading only (sqlite.org/uri.html)."""
    if not url.database or not Path(url.database).is_file():
        message = f"there is no database {url.database!r}; name the file of one"
        raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, message, {"database": url.database})
    return url.set(database=f"{Path(url.database).absolute().as_uri()}", query={"mode": "ro", "uri": "true"})


@contextmanager
def _reading(url: URL) -> Iterator[Connection]:
    shown = url.render_as_string(hide_password=True)
    try:
        engine = create_engine(url, poolclass=NullPool)
    except NoSuchModuleError:
        message = f"{shown}: SQLAlchemy knows no database {url.drivername!r}; write mysql+pymysql or postgresql+psycopg"
        raise LanewayError(ErrorCode.USAGE, message, {"driver": url.drivername}) from None
    except ModuleNotFoundError as error:
        message = f"{shown}: the driver {error.name} is not installed; install it beside Laneway with pip"
        raise LanewayError(ErrorCode.USAGE, message, {"driver": error.name}) from error
    try:
        with engine.connect() as connection:
            if url.get_backend_name() != _SQLITE:
                connection.exec_driver_sql(_READ_ONLY)
            yield connection
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip()
        message = f"nova's tables cannot be read in {shown}: {reason}"
        raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, message, {"database": shown}) from error
    finally:
        engine.dispose()
