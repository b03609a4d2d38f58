import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event

from laneway.contracts.codec import encode
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import BlockReason
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.store import maintenance, migrate, revision
from laneway.store.engine import for_writing
from laneway.store.migrate import Condition, Upgrade
from laneway.store.schema import METADATA
from laneway.store.sqlite import open_store, sqlite_engine
from store.samples import address, gpu


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def tables_of(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    # SQLite puts the name of a table that it renamed into quotes.
    return sorted(((*row[:3], (row[3] or "").replace('"', "")) for row in rows), key=lambda row: row[:2])


def shape_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Columns, indexes and foreign keys of each table: the text of a changed table is another than a new one's."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            f"{pragma} {table}": connection.execute(f"SELECT * FROM pragma_{pragma}(?)", (table,)).fetchall()
            for table in tables
            for pragma in ("table_xinfo", "index_list", "foreign_key_list")
        }


def config_of(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    return config


def set_revision(path: Path, number: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (number,))


def test_a_new_file_has_just_the_tables_that_the_migrations_make(tmp_path: Path) -> None:
    open_store(tmp_path / "new.db").close()
    maintenance.upgrade(tmp_path / "migrated.db")
    assert shape_of(tmp_path / "new.db") == shape_of(tmp_path / "migrated.db")


def test_the_migrations_end_in_the_tables_of_the_schema(path: Path) -> None:
    maintenance.upgrade(path)
    engine = sqlite_engine(path)
    with engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_every_migration_is_known_to_the_program_in_order() -> None:
    scripts = ScriptDirectory.from_config(config_of()).walk_revisions()
    assert tuple(script.revision for script in reversed(list(scripts))) == revision.REVISIONS


def test_upgrading_makes_a_missing_database_and_is_idempotent(path: Path) -> None:
    assert maintenance.upgrade(path) == Upgrade(before=None, after=revision.HEAD)
    tables = tables_of(path)
    assert maintenance.upgrade(path) == Upgrade(before=revision.HEAD, after=revision.HEAD)
    assert tables_of(path) == tables


def test_cleanings_that_were_texts_are_values_after_the_upgrade(path: Path) -> None:
    engine = sqlite_engine(path)
    with for_writing(engine).begin() as connection:
        command.upgrade(config_of(connection), "0002")
    engine.dispose()
    written = {0: "reset", 1: "wipe it", 2: None}
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("INSERT INTO hosts (id, name, generation) VALUES (1, 'h1', 0)")
        for slot, cleaning in written.items():
            old.execute(
                "INSERT INTO devices (host_id, address, status, attach, function, extra_info)"
                " VALUES (1, ?, 'dirty', 'vfio', ?, ?)",
                (str(address(slot)), encode(gpu(slot)).decode(), json.dumps({"cleaning": cleaning, "vf_num": 3})),
            )
    maintenance.upgrade(path)
    with open_store(path) as store:
        held = store.read("h1").held
    assert {slot: held[address(slot)].extra_info.cleaning for slot in written} == {
        0: Cleaning(kind=CleaningKind.RESET),
        1: Cleaning(kind=CleaningKind.COMMAND, command=("wipe it",)),
        2: None,
    }
    assert {(device.extra_info.vf_num, device.prepared, device.placeholders) for device in held.values()} == {
        (3, False, ())
    }


def test_what_blocked_a_device_still_does_after_the_upgrade(path: Path) -> None:
    engine = sqlite_engine(path)
    with for_writing(engine).begin() as connection:
        command.upgrade(config_of(connection), "0004")
    engine.dispose()
    failed = BlockReason("cleaning_failed", 'it said "no"', "it's \u00e4", gpu(1))
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("INSERT INTO hosts (id, name, generation) VALUES (1, 'h1', 0)")
        old.execute(
            "INSERT INTO blocks (host_id, address, code, message) VALUES (1, ?, 'cordoned', 'loud')", (str(address(0)),)
        )
        old.execute(
            "INSERT INTO blocks (host_id, address, code, message, detail, function) VALUES (1, ?, ?, ?, ?, ?)",
            (str(address(1)), failed.code, failed.message, failed.detail, encode(gpu(1)).decode()),
        )
    maintenance.upgrade(path)
    with open_store(path) as store:
        assert store.read("h1").blocks == {address(0): (BlockReason("cordoned", "loud"),), address(1): (failed,)}


@pytest.fixture
def three_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this program came from a later time, with two more revisions."""
    revisions = (*revision.REVISIONS, "8888", "9999")
    monkeypatch.setattr(revision, "REVISIONS", revisions)
    monkeypatch.setattr(migrate, "REVISIONS", revisions)
    monkeypatch.setattr(revision, "HEAD", "9999")
    monkeypatch.setattr(migrate, "HEAD", "9999")


def test_tables_of_an_earlier_program_are_refused_until_they_are_upgraded(path: Path, three_revisions: None) -> None:
    open_store(path).close()
    set_revision(path, "0001")
    with pytest.raises(LanewayError, match=r"make a backup .* then run laneway db upgrade") as raised:
        open_store(path)
    assert raised.value.code == ErrorCode.DATABASE_TOO_OLD
    assert maintenance.status(path).condition == Condition.TOO_OLD


def test_tables_of_a_later_program_are_refused_and_never_touched(path: Path) -> None:
    open_store(path).close()
    set_revision(path, "9999")
    for use in (open_store, maintenance.upgrade):
        with pytest.raises(LanewayError, match="revision 9999, which this program does not know") as raised:
            use(path)
        assert raised.value.code == ErrorCode.DATABASE_TOO_NEW
    assert maintenance.status(path).condition == Condition.TOO_NEW


def test_the_status_says_where_a_database_stands(path: Path) -> None:
    missing = maintenance.status(path)
    assert (missing.database, missing.revision, missing.condition) == (str(path), None, Condition.EMPTY)
    assert not path.exists()
    path.touch()
    assert maintenance.status(path).condition == Condition.EMPTY
    open_store(path).close()
    found = maintenance.status(path)
    assert (found.revision, found.needed, found.condition) == (revision.HEAD, revision.HEAD, Condition.CURRENT)


def test_a_failing_upgrade_leaves_the_database_as_it_was(path: Path) -> None:
    engine = sqlite_engine(path)

    @event.listens_for(engine, "before_cursor_execute")
    def fail(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "CREATE TABLE claims" in statement:
            raise MemoryError

    with pytest.raises(MemoryError):
        migrate.upgrade(engine)
    engine.dispose()
    assert tables_of(path) == []


def test_an_upgrade_leaves_a_database_of_something_else_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE songs (title)")
    with pytest.raises(LanewayError, match="not a database of Laneway") as raised:
        maintenance.upgrade(path)
    assert raised.value.code == ErrorCode.DATABASE_UNREACHABLE
    assert [table[1] for table in tables_of(path)] == ["songs"]
