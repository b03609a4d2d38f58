import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.identity import identifying
from laneway.domain.tracking.claim import HostState, Update
from laneway.store import sqlite_read
from laneway.store.sqlite import open_store
from laneway.store.sqlite_read import NOTHING, HeldRow, QuickState, count_failing_ports, read_state
from store.contract import write
from store.samples import CORDON, NOW, address, binding_record, claimed
from store.strategies import states
from store.test_migrate import set_revision


@pytest.fixture(scope="module")
def shared_path(quick_folder: Path) -> Path:
    path = quick_folder / "state.db"
    open_store(path).close()
    return path


def shown(state: HostState) -> QuickState:
    """What of a whole state the quick one holds."""
    return QuickState(
        {
            address: HeldRow(
                device.status,
                device.consumer,
                device.claim,
                device.request,
                device.attach,
                device.entry,
                device.prepared,
                identifying(device.function),
            )
            for address, device in state.held.items()
        },
        {
            address: tuple(
                replace(reason, function=None if reason.function is None else identifying(reason.function))
                for reason in reasons
            )
            for address, reasons in state.blocks.items()
        },
        state.boot_id,
        min((record.expires_at for record in state.claims.values() if record.expires_at is not None), default=None),
    )


@given(state=states())
@settings(max_examples=40, deadline=None)
def test_the_quick_read_agrees_with_the_store(shared_path: Path, state: HostState) -> None:
    with open_store(shared_path) as store:
        before = store.read("h1")
        with store.transaction("h1") as transaction:
            gone = Update(
                held=dict.fromkeys(before.held),
                claims=dict.fromkeys(before.claims),
                blocks=dict.fromkeys(before.blocks),
            )
            transaction.write(gone, action="free", at=NOW)
            everything = Update(held=state.held, claims=state.claims, blocks=state.blocks, boot_id="b1")
            transaction.write(everything, action="claim", at=NOW)
        assert read_state(shared_path, "h1") == shown(store.read("h1")) == shown(state)._replace(boot_id="b1")


def test_it_reads_beside_a_writer_what_was_answered(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with open_store(path) as store:
        write(store, claimed("vm1", 0))
        with store.transaction("h1") as transaction:
            transaction.write(claimed("vm2", 1, claim="c2"), action="claim", at=NOW)
            transaction.write(Update(blocks={address(7): CORDON}), action="cordon", at=NOW)
            assert (set(read_state(path, "h1").held), read_state(path, "h1").blocks) == ({address(0)}, {})
        assert (set(read_state(path, "h1").held), read_state(path, "h1").blocks) == (
            {address(0), address(1)},
            {address(7): CORDON},
        )


def test_where_nothing_was_stored_it_finds_nothing_and_makes_nothing(tmp_path: Path) -> None:
    assert read_state(tmp_path / "state.db", "h1") == NOTHING
    assert read_state(tmp_path / "folder" / "state.db", "h1") == NOTHING
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "state.db").touch()
    assert read_state(tmp_path / "state.db", "h1") == NOTHING
    (tmp_path / "state.db").unlink()
    open_store(tmp_path / "state.db").close()
    assert read_state(tmp_path / "state.db", "h1") == NOTHING
    assert [file.name for file in tmp_path.iterdir()] == ["state.db"]


def test_it_refuses_the_tables_of_another_version(tmp_path: Path) -> None:
    open_store(tmp_path / "state.db").close()
    set_revision(tmp_path / "state.db", "9999")
    with pytest.raises(LanewayError, match="revision 9999") as raised:
        read_state(tmp_path / "state.db", "h1")
    assert raised.value.code == ErrorCode.DATABASE_TOO_NEW


def test_failing_ports_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    assert count_failing_ports(path, "h1") == 0
    with open_store(path) as store:
        assert count_failing_ports(path, "h1") == 0
        fine = replace(binding_record("p2"), error_code=None, error=None)
        with store.transaction("h1") as transaction:
            transaction.record_bindings({"p1": binding_record("p1"), "p2": fine, "p3": binding_record("p3")})
    assert [count_failing_ports(path, host) for host in ("h1", "h2")] == [2, 0]


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("no database\n" * 99)
    with pytest.raises(LanewayError, match="file is not a database; give another file") as raised:
        read_state(tmp_path / "state.db", "h1")
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE


def test_a_file_that_this_user_may_not_read_is_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state.db").write_text("no database\n" * 99)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(LanewayError, match="may not read and write") as raised:
        read_state(tmp_path / "state.db", "h1")
    assert raised.value.code == ErrorCode.NO_PERMISSION


def test_a_folder_that_this_user_may_not_enter_is_no_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(LanewayError, match="may not read and write") as raised:
        read_state(tmp_path / "state.db", "h1")
    assert raised.value.code == ErrorCode.NO_PERMISSION


def test_it_imports_nothing_that_is_slow() -> None:
    program = f"import sys, {sqlite_read.__name__}; print({{'sqlalchemy', 'alembic', 'msgspec'}} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
