"""A store whose process is killed loses nothing that it answered and keeps nothing half done."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from laneway.domain.tracking.claim import HostState
from laneway.interfaces.store import AuditEntry, Store
from laneway.store.memory import MemoryStore
from laneway.store.sqlite import open_store
from store import kill_runner
from store.programs import output_of
from store.script import OPERATIONS

RECORDED_CALLS = 197
"""How many points there are, and no fewer may be hit. Whoever saves statements on purpose records the new number."""
RECORDED_BYTES = 70
"""The log's length is SQLite's affair and differs a little from one version to the next."""

Contents = Mapping[str, tuple[HostState, Sequence[AuditEntry]]]


def contents(store: Store) -> Contents:
    """Everything that a store holds."""
    return {host: (store.read(host), store.audit(host, last=99)) for host in store.hosts()}


def contents_after_each_operation() -> list[Contents]:
    store = MemoryStore(actor="ada")
    states = [contents(store)]
    for operation in OPERATIONS:
        operation(store)
        states.append(contents(store))
    return states


@pytest.mark.parametrize(
    ("mode", "recorded"),
    [
        pytest.param("calls", RECORDED_CALLS, id="at every point of a transaction"),
        pytest.param("bytes", RECORDED_BYTES, id="inside a write to the disk"),
    ],
)
def test_a_kill_loses_nothing_that_was_answered_and_leaves_nothing_half_done(
    quick_folder: Path, mode: str, recorded: int, record_property: Callable[[str, object], None]
) -> None:
    folder = quick_folder / mode
    folder.mkdir()
    children = [json.loads(line) for line in output_of(kill_runner, folder, mode).splitlines()]
    expected = contents_after_each_operation()
    for child in children:
        check_what_is_left(Path(child["path"]), child["answered"], expected)
    assert (children[-1]["status"], children[-1]["answered"]) == (0, len(OPERATIONS))
    killed = sum(child["status"] < 0 for child in children)
    record_property(f"kill points hit ({mode}), at least {recorded} expected", killed)
    assert killed >= recorded


def check_what_is_left(path: Path, answered: int, expected: Sequence[Contents]) -> None:
    """The store holds what was answered, or one operation more; and it goes on from there."""
    with open_store(path, actor="ada") as store:
        found = contents(store)
        assert found in expected[answered : answered + 2], f"{path}: {answered} operations were answered"
        done = expected.index(found)
        for operation in OPERATIONS[done : done + 1]:
            operation(store)
            assert contents(store) == expected[done + 1]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    shutil.rmtree(path.parent)
