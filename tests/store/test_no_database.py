"""Paths that are no database of ours: every use says what stands there, and leaves it as it is."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.store.maintenance import backup, status, upgrade
from laneway.store.sqlite import open_store
from laneway.store.sqlite_read import read_state

USES: dict[str, Callable[[Path], object]] = {
    "a quick look": lambda path: read_state(path, "h1"),
    "a decision": open_store,
    "its status": status,
    "an upgrade": upgrade,
    "a backup": lambda path: backup(path, path.with_name("copy.db")),
}
every_use = pytest.mark.parametrize("use", USES.values(), ids=USES)


def refused(use: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(LanewayError) as raised:
        use(path)
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE
    assert str(path) in raised.value.message
    return raised.value.message


@every_use
def test_a_folder_is_told_as_one(use: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.mkdir()
    assert refused(use, path).endswith("it is a folder; name a file in it")
    assert list(tmp_path.rglob("*")) == [path]


@pytest.mark.parametrize("name", [name for name in USES if name != "a backup"])
def test_a_database_of_another_program_is_left_alone(name: str, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE devices (name)")
    assert "not a database of Laneway (it has a table 'devices'); give another file" in refused(USES[name], path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("devices",)]


@every_use
@pytest.mark.parametrize("name", ["x" * 5_000, f"{'folder/' * 1_000}state.db"], ids=["a long name", "a long path"])
def test_a_name_that_no_file_system_takes(use: Callable[[Path], object], name: str, tmp_path: Path) -> None:
    assert os.strerror(errno.ENAMETOOLONG) in refused(use, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
