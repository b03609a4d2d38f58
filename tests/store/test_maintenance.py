import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.claim import Update
from laneway.store.maintenance import backup, status
from laneway.store.sqlite import open_store
from store.contract import write
from store.samples import NOW, claimed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with open_store(tmp_path / "state.db") as store:
        write(store, claimed("vm1", 0, 1))
    return tmp_path / "state.db"


def test_a_backup_is_a_whole_database_while_others_go_on(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    with open_store(path) as store:
        with store.transaction("h1") as transaction:
            transaction.write(Update(boot_id="not yet committed"), action="sync", at=NOW)
            backup(path, folder / "copy.db")
        write(store, claimed("vm2", 2, claim="c2"))
    assert [file.name for file in folder.iterdir()] == ["copy.db"]
    with open_store(folder / "copy.db") as copy:
        state = copy.read("h1")
        assert (set(state.claims), state.boot_id) == ({"c1"}, None)
        assert len(copy.audit("h1", last=9)) == 1


def test_a_backup_is_for_its_owner_alone(path: Path, tmp_path: Path) -> None:
    backup(path, tmp_path / "copy.db")
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600


def test_a_backup_never_overwrites(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("precious")
    with pytest.raises(LanewayError, match="it exists; give the name of a new file") as raised:
        backup(path, tmp_path / "copy.db")
    assert raised.value.code == ErrorCode.USAGE
    assert (tmp_path / "copy.db").read_text() == "precious"


def test_a_backup_needs_its_folder(path: Path, tmp_path: Path) -> None:
    with pytest.raises(LanewayError, match="No such file or directory") as raised:
        backup(path, tmp_path / "missing" / "copy.db")
    assert raised.value.code == ErrorCode.USAGE


def test_there_must_be_something_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(LanewayError, match="there is no such file") as raised:
        backup(tmp_path / "state.db", tmp_path / "copy.db")
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE
    assert list(tmp_path.iterdir()) == []


def test_a_backup_of_a_broken_file_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("no database\n" * 99)
    with pytest.raises(LanewayError, match="not a database") as raised:
        backup(tmp_path / "state.db", tmp_path / "copy.db")
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE
    assert [file.name for file in tmp_path.iterdir()] == ["state.db"]


def test_the_status_of_a_broken_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("no database\n" * 99)
    with pytest.raises(LanewayError, match="not a database") as raised:
        status(tmp_path / "state.db")
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE


@pytest.mark.parametrize(
    "use", [status, lambda path: backup(path, path.with_name("copy.db"))], ids=["its status", "a backup"]
)
def test_of_a_folder_that_this_user_may_not_enter_there_is_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: Callable[[Path], object]
) -> None:
    def refuse(path: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(LanewayError, match="may not read and write the database") as raised:
        use(tmp_path / "state.db")
    assert raised.value.code == ErrorCode.NO_PERMISSION
