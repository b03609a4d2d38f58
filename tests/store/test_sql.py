import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, StatementError

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.claim import HostState, Update
from laneway.store.sql import SqlStore
from laneway.store.sqlite import open_store, sqlite_engine
from store.contract import ACTOR, StoreContract, write
from store.samples import NOW, claimed
from store.strategies import states


class TestSqlStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqlStore]:
        with open_store(tmp_path / "state.db", actor=ACTOR) as store:
            yield store

    def test_another_process_sees_what_was_answered(self, store: SqlStore, tmp_path: Path) -> None:
        write(store, claimed("vm1", 0))
        with open_store(tmp_path / "state.db") as other:
            assert other.read("h1") == store.read("h1")

    def test_each_change_of_a_host_makes_a_new_generation(self, store: SqlStore, tmp_path: Path) -> None:
        write(store, claimed("vm1", 0), host="h2")
        with store.transaction("h1") as transaction:
            transaction.write(Update(boot_id="b1"), action="sync", at=NOW)
            transaction.write(claimed("vm1", 0), action="claim", at=NOW)
        with sqlite_engine(tmp_path / "state.db").begin() as connection:
            generations = connection.execute(text("SELECT name, generation FROM hosts")).all()
        connection.engine.dispose()
        assert sorted(map(tuple, generations)) == [("h1", 2), ("h2", 1)]

    def test_a_time_without_zone_is_refused(self, store: SqlStore) -> None:
        with pytest.raises(StatementError, match="has no time zone"), store.transaction("h1") as transaction:
            transaction.write(claimed("vm1", 0), action="claim", at=NOW.replace(tzinfo=None))
        assert store.hosts() == []

    def test_a_broken_constraint_is_a_fault_of_ours_and_goes_on_as_it_is(self, store: SqlStore) -> None:
        with pytest.raises(IntegrityError, match=r"NOT NULL constraint failed: claims\.consumer"):
            write(store, claimed(cast("str", None), 0))

    def test_a_stored_value_that_cannot_be_read_is_told(self, store: SqlStore, tmp_path: Path) -> None:
        write(store, claimed("vm1", 0))
        with sqlite_engine(tmp_path / "state.db").begin() as connection:
            connection.execute(text("UPDATE devices SET function = '{\"vendor_id\": 7}'"))
        connection.engine.dispose()
        with pytest.raises(LanewayError, match="holds a PciFunction that cannot be read") as raised:
            store.read("h1")
        assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE


HOSTS = itertools.count()
"""Each example takes a new host, so that none sees what another left."""


@pytest.fixture(scope="module")
def shared_store(quick_folder: Path) -> Iterator[SqlStore]:
    with open_store(quick_folder / "state.db") as store:
        yield store


@given(state=states())
@settings(max_examples=100, deadline=None)
def test_everything_that_a_value_can_hold_is_read_back_as_it_was(shared_store: SqlStore, state: HostState) -> None:
    """Rule C24."""
    host = f"h{next(HOSTS)}"
    write(shared_store, Update(held=state.held, claims=state.claims, blocks=state.blocks), host=host)
    assert shared_store.read(host) == state
    gone = Update(
        held=dict.fromkeys(state.held), claims=dict.fromkeys(state.claims), blocks=dict.fromkeys(state.blocks)
    )
    write(shared_store, gone, host=host)
    assert shared_store.read(host) == HostState()
