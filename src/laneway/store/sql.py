"""The store in a relational database: SQLite for one host, later PostgreSQL for a fleet."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, Row, Table, bindparam, delete, insert, select
from sqlalchemy import update as sql_update

from laneway.domain.address import PciAddress
from laneway.domain.tracking.claim import HostState, Update
from laneway.interfaces.network import BindingRecord
from laneway.interfaces.store import AuditEntry
from laneway.store.engine import for_writing, reported
from laneway.store.rows import (
    Values,
    binding_record_of,
    binding_record_values,
    block_values,
    claim_of,
    claim_values,
    device_of,
    device_values,
)
from laneway.store.rules import audit_detail, refuse_second_owner
from laneway.store.schema import AUDIT, BLOCKS, CLAIMS, DEVICES, HOSTS, PORT_BINDINGS

Value = TypeVar("Value")


class SqlTransaction:
    """One transaction, on the host whose row it has locked."""

    def __init__(self, connection: Connection, host: str, host_id: int, actor: str | None) -> None:
        self._connection = connection
        self._host = host
        self._host_id = host_id
        self._actor = actor

    def state(self) -> HostState:
        return _state(self._connection, self._host)

    def write(self, update: Update, *, action: str, at: datetime) -> None:
        if update.is_empty:
            return
        refuse_second_owner(self._consumers(tuple(update.held)), update)
        self._replace(DEVICES, "address", update.held, device_values)
        self._replace(CLAIMS, "claim", update.claims, claim_values)
        self._replace(BLOCKS, "address", update.blocks, block_values)
        entry = {"at": at, "host": self._host, "actor": self._actor, "action": action}
        self._connection.execute(insert(AUDIT), entry | {"detail": audit_detail(update)})
        self._change_host({} if update.boot_id is None else {"boot_id": update.boot_id})

    def record_bindings(self, changes: Mapping[str, BindingRecord | None]) -> None:
        self._replace(PORT_BINDINGS, "port", changes, binding_record_values)

    def _consumers(self, addresses: Sequence[PciAddress]) -> Mapping[PciAddress, str | None]:
        held = select(DEVICES.c.address, DEVICES.c.consumer).where(
            DEVICES.c.host_id == self._host_id, DEVICES.c.address.in_(addresses)
        )
        return {row.address: row.consumer for row in self._connection.execute(held)}

    def _replace(
        self, table: Table, key: str, changes: Mapping[Any, Value | None], values_of: Callable[[Value], Values]
    ) -> None:
        """Removes the rows of all changed keys and inserts those that have a value."""
        if not changes:
            return
        old = delete(table).where(table.c.host_id == self._host_id, table.c[key] == bindparam("changed"))
        self._connection.execute(old, [{"changed": changed} for changed in changes])
        new = [
            {"host_id": self._host_id, key: changed} | values_of(value)
            for changed, value in changes.items()
            if value is not None
        ]
        if new:
            self._connection.execute(insert(table), new)

    def _change_host(self, values: Values) -> None:
        change = sql_update(HOSTS).where(HOSTS.c.id == self._host_id)
        self._connection.execute(change.values(generation=HOSTS.c.generation + 1, **values))


class SqlStore:
    """Claims and devices in the database of an engine, whose tables are the newest.

    ``actor`` is whom the audit log names. Safe between threads and processes; close it in the end.
    """

    def __init__(self, engine: Engine, *, actor: str | None = None) -> None:
        self._engine = engine
        self._writing = for_writing(engine)
        self._actor = actor

    @contextmanager
    def transaction(self, host: str) -> Iterator[SqlTransaction]:
        with self.transactions((host,)) as open_on:
            yield open_on[host]

    @contextmanager
    def transactions(self, hosts: Collection[str]) -> Iterator[Mapping[str, SqlTransaction]]:
        with reported(self._engine), self._writing.begin() as connection:
            yield {
                host: SqlTransaction(connection, host, _locked_host(connection, host), self._actor)
                for host in sorted(set(hosts))
            }

    def read(self, host: str) -> HostState:
        with reported(self._engine), self._engine.begin() as connection:
            return _state(connection, host)

    def binding_records(self, host: str) -> Mapping[str, BindingRecord]:
        of_host = select(PORT_BINDINGS).join(HOSTS, HOSTS.c.id == PORT_BINDINGS.c.host_id).where(HOSTS.c.name == host)
        with reported(self._engine), self._engine.begin() as connection:
            return {row.port: binding_record_of(row) for row in connection.execute(of_host)}

    def hosts(self) -> Sequence[str]:
        with reported(self._engine), self._engine.begin() as connection:
            return sorted(connection.scalars(select(HOSTS.c.name)))

    def audit(self, host: str, *, last: int) -> Sequence[AuditEntry]:
        newest = select(AUDIT).where(AUDIT.c.host == host).order_by(AUDIT.c.id.desc()).limit(last)
        with reported(self._engine), self._engine.begin() as connection:
            return [_audit_entry(row) for row in reversed(connection.execute(newest).all())]

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _locked_host(connection: Connection, host: str) -> int:
    """The id of the host's row, made if it is new, locked until the transaction ends."""
    row: int | None = connection.scalar(select(HOSTS.c.id).where(HOSTS.c.name == host).with_for_update())
    if row is not None:
        return row
    new = connection.execute(insert(HOSTS), {"name": host, "generation": 0}).inserted_primary_key
    assert new is not None
    return int(new[0])


def _state(connection: Connection, host: str) -> HostState:
    found = connection.execute(select(HOSTS.c.id, HOSTS.c.boot_id).where(HOSTS.c.name == host)).one_or_none()
    if found is None:
        return HostState()

    def rows(table: Table) -> Sequence[Row[Any]]:
        return connection.execute(select(table).where(table.c.host_id == found.id)).all()

    return HostState(
        held={row.address: device_of(row) for row in rows(DEVICES)},
        claims={row.claim: claim_of(row) for row in rows(CLAIMS)},
        blocks={row.address: row.reasons for row in rows(BLOCKS)},
        boot_id=found.boot_id,
    )


def _audit_entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry(at=row.at, host=row.host, actor=row.actor, action=row.action, detail=row.detail)
