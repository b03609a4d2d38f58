"""nova's own database (that of a cell), which is only ever read."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from sqlalchemy import ColumnElement, Connection, create_engine, select
from sqlalchemy.engine import Engine
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.sql import column, table

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.database_url import SQLITE, DatabaseUrl
from laneway.openstack.nova_moves import ENDED
from laneway.openstack.nova_records import COLUMNS, NovaNode, Tables, read_nodes
from laneway.openstack.nova_rows import Row

_BEGINNING = {
    "mysql": (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    ),
    "postgresql": ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",),
    SQLITE: ("BEGIN",),
}
"""One moment of all tables, and no way to write. Neither takes a lock that anybody waits for."""

_BATCH = 500
"""How many instances are asked for at once: a server limits the length of a statement."""


def read_database(url: str, choose: Callable[[Sequence[NovaNode]], NovaNode]) -> Tables:
    """What there is of the compute node that is chosen of all, by the SQLAlchemy URL of the database.

    All compute nodes, the node's devices, the instances that own them or are on its host, and what
    these asked for and their moves: rows that are not deleted, and moves that have not ended.

    Raises LanewayError(usage) for what is no such URL, or one that no installed driver can open,
    LanewayError(database_unreachable), and what ``choose`` raises.
    """
    database = DatabaseUrl.parse(url)
    with _reading(database) as connection:
        nodes = _rows(connection, "compute_nodes")
        node = choose(read_nodes(nodes))
        devices = _rows(connection, "pci_devices", column("compute_node_id") == node.id)
        owners = {row["instance_uuid"] for row in devices} - {None}
        instances = [] if node.host is None else _rows(connection, "instances", column("host") == node.host)
        instances += _rows_of(connection, "instances", "uuid", owners - {row["uuid"] for row in instances})
        uuids = owners | {row["uuid"] for row in instances}
        return {
            "compute_nodes": nodes,
            "pci_devices": devices,
            "instances": instances,
            "instance_extra": _rows_of(connection, "instance_extra", "instance_uuid", uuids),
            "migrations": _rows_of(
                connection, "migrations", "instance_uuid", uuids, column("status").not_in(sorted(ENDED))
            ),
        }


def _rows_of(
    connection: Connection, name: str, key: str, uuids: Collection[object], *conditions: ColumnElement[bool]
) -> list[Row]:
    """The rows of these instances."""
    left, found = iter(sorted(map(str, uuids))), list[Row]()
    while batch := list(islice(left, _BATCH)):
        found += _rows(connection, name, column(key).in_(batch), *conditions)
    return found


def _rows(connection: Connection, name: str, *conditions: ColumnElement[bool]) -> list[Row]:
    found = table(name, *map(column, COLUMNS[name]))
    rows = connection.execute(select(found).where(found.c.deleted == 0, *conditions))
    return [dict(row) for row in rows.mappings()]


@contextmanager
def _reading(url: DatabaseUrl) -> Iterator[Connection]:
    engine = _engine(url)
    try:
        with _opened(engine, url) as connection:
            for statement in _BEGINNING[url.kind]:
                connection.exec_driver_sql(statement)
            yield connection
    except SQLAlchemyError as error:
        message = (
            f"nova's tables cannot be read in {url.shown}: {url.reason(error)}; it has to be the database of the"
            f" host's cell, and its user needs SELECT on {', '.join(COLUMNS)}"
        )
        raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, message, {"database": url.shown}) from None
    finally:
        engine.dispose()


def _engine(url: DatabaseUrl) -> Engine:
    with _told(url):
        try:
            engine = create_engine(url.url, poolclass=NullPool, connect_args=url.connect_args)
        except (NoSuchModuleError, ImportError):
            raise url.without_driver() from None
    if engine.dialect.is_async:
        raise url.without_driver()
    return engine


def _opened(engine: Engine, url: DatabaseUrl) -> Connection:
    with _told(url):
        return engine.connect()


@contextmanager
def _told(url: DatabaseUrl) -> Iterator[None]:
    """What a driver raises is for what it was given, and of any kind."""
    try:
        yield
    except LanewayError:
        raise
    except Exception as error:
        message = f"nova's database {url.shown} cannot be opened: {url.reason(error)}; {url.suspects}"
        raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, message, {"database": url.shown}) from None
