"""The tables' versions: made, brought up to date, told. Alembic is imported only where it is needed."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    inspect,
    select,
)

from laneway.store.engine import for_writing, reported
from laneway.store.failures import foreign
from laneway.store.revision import HEAD, REVISIONS, require_head
from laneway.store.schema import METADATA

if TYPE_CHECKING:
    from alembic.config import Config

_VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The table in which Alembic keeps the revision, as it makes it itself."""


class Condition(StrEnum):
    """What a database's tables are to this program."""

    EMPTY = "empty"
    CURRENT = "current"
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStatus:
    """The revision that a database has (None: no tables yet) and the one this program needs."""

    database: str
    revision: str | None
    needed: str
    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """The revisions before and after; equal where nothing was to do."""

    before: str | None
    after: str


def status(engine: Engine) -> DatabaseStatus:
    """Where the database stands. Reads only. Raises LanewayError(database_unreachable)."""
    with reported(engine), engine.begin() as connection:
        revision = _revision(connection)
        if revision is None:
            _refuse_foreign(connection)
        return status_of(revision, _name(engine))


def status_of(revision: str | None, database: str) -> DatabaseStatus:
    """What a revision means to this program."""
    if revision is None:
        condition = Condition.EMPTY
    elif revision == HEAD:
        condition = Condition.CURRENT
    else:
        condition = Condition.TOO_OLD if revision in REVISIONS else Condition.TOO_NEW
    return DatabaseStatus(database=database, revision=revision, needed=HEAD, condition=condition)


def prepare(engine: Engine) -> None:
    """Makes the tables in an empty database, and refuses one with the tables of another version.

    The tables are made at once from ``schema``, without Alembic, which is slow to import; a test
    holds the two equal. Raises LanewayError: database_too_old, database_too_new or
    database_unreachable.
    """
    with reported(engine), engine.begin() as connection:
        revision = _revision(connection)
    if revision is None:
        with reported(engine), for_writing(engine).begin() as connection:
            revision = _revision(connection) or _make_tables(connection)
    require_head(revision, _name(engine))


def upgrade(engine: Engine) -> Upgrade:
    """Brings the tables to this program's revision, in one transaction.

    Raises LanewayError(database_too_new) or LanewayError(database_unreachable).
    """
    from alembic import command  # noqa: PLC0415 - slow to import, and no other command needs it

    with reported(engine), for_writing(engine).begin() as connection:
        before = _revision(connection)
        if before is None:
            _refuse_foreign(connection)
        elif before not in REVISIONS:
            require_head(before, _name(engine))
        command.upgrade(_config(connection), HEAD)
    return Upgrade(before=before, after=HEAD)


def _config(connection: Connection) -> "Config":
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config


def _make_tables(connection: Connection) -> str:
    _refuse_foreign(connection)
    METADATA.create_all(connection, checkfirst=False)
    _VERSION.create(connection)
    connection.execute(insert(_VERSION), {"version_num": HEAD})
    return HEAD


def _refuse_foreign(connection: Connection) -> None:
    """Leaves a database alone that has tables but no revision: it is something else's."""
    tables = inspect(connection).get_table_names()
    if tables:
        raise foreign(_name(connection.engine), tables[0])


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_VERSION.name):
        return None
    return connection.scalar(select(_VERSION.c.version_num))


def _name(engine: Engine) -> str:
    return engine.url.database or str(engine.url)
