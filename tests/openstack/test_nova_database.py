"""nova's database is read, and never written."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import nova_rows as rows
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_database import read_database
from laneway.openstack.nova_records import read_records

CARD = "0000:05:00.0"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """With a device of an instance, and the remains of one that was deleted."""
    return rows.write_database(
        tmp_path / "nova #1.db",
        compute_nodes=[rows.NODE],
        pci_devices=[rows.device(CARD, rows.VM), rows.device("0000:06:00.0", rows.OTHER_VM, id=2, deleted=2)],
        instances=[rows.instance(), rows.instance(rows.OTHER_VM, deleted=5)],
        instance_extra=[rows.extra(rows.flavor_request())],
    )


def test_what_is_not_deleted_is_read(database: Path) -> None:
    records = read_records(read_database(f"sqlite:///{database}"))
    assert [(str(device.address), device.owner) for device in records.devices] == [(CARD, rows.VM)]
    assert list(records.instances or ()) == [rows.VM]
    assert [request.name for request in records.requests[rows.VM]] == [rows.REQUEST]
    assert (records.nodes[0].host, records.problems) == ("compute-1", ())


def test_the_database_stays_as_it_is(database: Path) -> None:
    """Also where its user could write."""
    before = database.read_bytes()
    read_database(f"sqlite:///{database}")
    assert database.read_bytes() == before
    assert list(database.parent.iterdir()) == [database]


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        pytest.param("nova", ErrorCode.USAGE, "no URL of a database", id="no URL"),
        pytest.param("oracle2://x", ErrorCode.USAGE, "write mysql+pymysql", id="no such kind of database"),
        pytest.param("mysql+pymysql://u:secret@h/n", ErrorCode.USAGE, "driver pymysql is not", id="no driver"),
        pytest.param("sqlite:///missing.db", ErrorCode.DATABASE_UNREACHABLE, "no database 'missing.db'", id="no file"),
        pytest.param("sqlite://", ErrorCode.DATABASE_UNREACHABLE, "no database", id="no name"),
    ],
)
def test_what_cannot_be_opened_is_told(
    url: str, code: ErrorCode, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LanewayError) as refusal:
        read_database(url)
    assert refusal.value.code is code
    assert said in refusal.value.message
    assert "secret" not in refusal.value.message
    assert list(tmp_path.iterdir()) == []


def test_another_database_is_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE compute_nodes (id INTEGER)")
    with pytest.raises(LanewayError, match=r"no such column: compute_nodes\.host") as refusal:
        read_database(f"sqlite:///{file}")
    assert refusal.value.code is ErrorCode.DATABASE_UNREACHABLE
