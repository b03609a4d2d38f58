import os
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.claim import Update
from laneway.store.sqlite import open_store, sqlite_engine
from store.contract import write
from store.samples import NOW, claimed


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def pragma(path: Path, name: str) -> Any:
    engine = sqlite_engine(path)
    with engine.begin() as connection:
        value = connection.scalar(text(f"PRAGMA {name}"))
    engine.dispose()
    return value


def test_file_and_folder_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "state.db"
    with open_store(path) as store:
        write(store, claimed("vm1", 0))
        assert [mode_of(file) for file in path.parent.iterdir()] == [0o600] * 3, "the file, its log and its index"
    assert mode_of(path.parent) == 0o700


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_store(tmp_path / "state.db").close()
    assert mode_of(tmp_path) == 0o755


@pytest.mark.parametrize(
    "name", ["a#b%41.db", pytest.param("a?b.db", id="with a question mark"), "with space.db", "ü.db"]
)
def test_the_name_of_the_file_may_be_anything(tmp_path: Path, name: str) -> None:
    open_store(tmp_path / name).close()
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("journal_mode", "wal", id="readers do not wait for a writer"),
        pytest.param("synchronous", 2, id="what was answered outlives a power cut (FULL)"),
        pytest.param("foreign_keys", 1, id="rows of no host are refused"),
    ],
)
def test_every_connection_is_set_up_so_that(tmp_path: Path, name: str, value: object) -> None:
    assert pragma(tmp_path / "state.db", name) == value


def test_the_tables_themselves_refuse_a_second_row_for_a_device(tmp_path: Path) -> None:
    with open_store(tmp_path / "state.db") as store:
        write(store, claimed("vm1", 0))
    engine = sqlite_engine(tmp_path / "state.db")
    with pytest.raises(IntegrityError, match=r"UNIQUE constraint failed: devices\.host_id, devices\.address"):
        copy_devices(engine)
    engine.dispose()


def copy_devices(engine: Any) -> None:
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO devices SELECT * FROM devices"))


def test_readers_do_not_wait_while_another_writes(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with open_store(path) as store, open_store(path, wait_seconds=0) as other:
        write(store, claimed("vm1", 0))
        before = other.read("h1")
        with store.transaction("h1") as transaction:
            transaction.write(Update(boot_id="b1"), action="sync", at=NOW)
            assert other.read("h1") == before
        assert other.read("h1").boot_id == "b1"


def test_a_database_that_stays_locked_is_told_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with open_store(path) as store, open_store(path, wait_seconds=0) as other, store.transaction("h1"):
        with pytest.raises(LanewayError, match="locked; another process has been writing for too long") as raised:
            write(other, claimed("vm1", 0))
        assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE
        assert str(path) in raised.value.message


def test_a_new_file_that_another_is_just_making_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE half (made)")
        with pytest.raises(LanewayError, match="locked") as raised:
            open_store(path, wait_seconds=0)
        monkeypatch.setattr(time, "sleep", lambda seconds: other.execute("ROLLBACK"))
        open_store(path, wait_seconds=5).close()
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE


def broken_file(folder: Path) -> Path:
    (folder / "state.db").write_text("[device]\n" * 99)
    return folder / "state.db"


def foreign_database(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "state.db")) as other:
        other.execute("CREATE TABLE songs (title)")
    return folder / "state.db"


def folder_in_its_place(folder: Path) -> Path:
    (folder / "state.db").mkdir()
    return folder / "state.db"


def file_in_place_of_the_folder(folder: Path) -> Path:
    (folder / "state").touch()
    return folder / "state" / "state.db"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(broken_file, "not a database; give another file as state.path", id="a text file"),
        pytest.param(foreign_database, "not a database of Laneway.*songs", id="a database of something else"),
        pytest.param(folder_in_its_place, "it is a folder; name a file", id="a folder"),
        pytest.param(file_in_place_of_the_folder, "exists; look at the file", id="a file as folder"),
    ],
)
def test_what_is_no_database_of_ours_is_left_alone(tmp_path: Path, make: Any, message: str) -> None:
    path = make(tmp_path)
    with pytest.raises(LanewayError, match=message) as raised:
        open_store(path)
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE
    assert str(path) in raised.value.message


def test_a_file_that_this_user_may_not_write_is_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(LanewayError, match="may not read and write the database") as raised:
        open_store(tmp_path / "state.db")
    assert raised.value.code == ErrorCode.NO_PERMISSION


def test_a_folder_that_this_user_may_not_write_is_no_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(LanewayError, match="may not read and write the database") as raised:
        open_store(tmp_path / "state.db")
    assert raised.value.code == ErrorCode.NO_PERMISSION
