"""nova's database is read, and never written."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

import nova_rows as rows
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_database import read_database
from laneway.openstack.nova_nodes import chosen_node
from laneway.openstack.nova_records import NovaRecords, read_records

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


def read(url: str) -> NovaRecords:
    return read_records(read_database(url, lambda nodes: chosen_node(nodes, "compute-1", None)))


def test_what_is_not_deleted_is_read(database: Path) -> None:
    records = read(f"sqlite:///{database}")
    assert [(str(device.address), device.owner) for device in records.devices] == [(CARD, rows.VM)]
    assert list(records.instances or ()) == [rows.VM]
    assert [request.name for request in records.requests[rows.VM].stored] == [rows.REQUEST]
    assert (records.nodes[0].host, records.moves, records.problems) == ("compute-1", {}, ())


def test_of_other_nodes_only_the_names_are_read(tmp_path: Path) -> None:
    elsewhere, arriving = rows.instance("there", host="compute-2"), rows.instance("arriving", host="compute-2")
    file = rows.write_database(
        tmp_path / "nova.db",
        compute_nodes=[rows.NODE, rows.NODE | {"id": 8, "host": "compute-2", "hypervisor_hostname": "compute-2"}],
        pci_devices=[
            rows.device(CARD, "arriving"),
            rows.device(CARD, "there", id=2, compute_node_id=8),
            rows.device("0000:06:00.0", id=3),
        ],
        instances=[rows.instance("here"), elsewhere, arriving],
        instance_extra=[rows.extra(uuid=uuid) for uuid in ("here", "there", "arriving")],
        migrations=[rows.move(uuid, id=number) for number, uuid in enumerate(("here", "there", "arriving"))],
    )
    records = read(f"sqlite:///{file}")
    assert [node.id for node in records.nodes] == [7, 8]
    assert [device.id for device in records.devices] == [1, 3]
    assert records.instances is not None
    assert records.moves is not None
    assert set(records.instances) == set(records.requests) == set(records.moves) == {"here", "arriving"}


def test_any_number_of_instances_is_read(tmp_path: Path) -> None:
    names = [f"vm-{number:04}" for number in range(1201)]
    file = rows.write_database(
        tmp_path / "nova.db",
        compute_nodes=[rows.NODE],
        instances=[rows.instance(name) for name in names],
        instance_extra=[rows.extra(uuid=name) for name in names],
    )
    assert list(read(f"sqlite:///{file}").requests) == names


def test_a_node_without_a_service_has_only_owners(tmp_path: Path) -> None:
    file = rows.write_database(
        tmp_path / "nova.db",
        compute_nodes=[rows.NODE | {"host": None, "hypervisor_hostname": "compute-1"}],
        instances=[rows.instance(), rows.instance("shelved", host=None)],
        pci_devices=[rows.device(CARD, rows.VM)],
    )
    assert list(read(f"sqlite:///{file}").instances or ()) == [rows.VM]


def test_the_database_stays_as_it_is(database: Path) -> None:
    """Also where its user could write."""
    before = database.read_bytes()
    read(f"sqlite:///{database}")
    assert database.read_bytes() == before
    assert list(database.parent.iterdir()) == [database]


NO_DRIVER = "is not installed; install it beside Laneway: pip install"


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        pytest.param("nova", ErrorCode.USAGE, "no URL of a database", id="no URL"),
        pytest.param("mysql://u@h:secret/n", ErrorCode.USAGE, "%2F for /", id="a port that is no number"),
        pytest.param("mysql+pymysql://u:a@secret@h/n", ErrorCode.USAGE, "%40 for @", id="an @ in the password"),
        pytest.param("mysql+pymysql://u:a@secret?b@h/n", ErrorCode.USAGE, "%40 for @", id="an @ and more in it"),
        pytest.param("oracle://u:secret@x", ErrorCode.USAGE, "nova has no database of the kind 'oracle'", id="another"),
        pytest.param("mysql+pymysql://u:secret@h/n", ErrorCode.USAGE, f"{NO_DRIVER} pymysql", id="no driver"),
        pytest.param(
            "mysql://u:secret@h/n", ErrorCode.USAGE, f"{NO_DRIVER} mysqlclient; or write mysql+py", id="mysql"
        ),
        pytest.param("mariadb+pymysql://u@h/n?a=secret", ErrorCode.USAGE, f"{NO_DRIVER} pymysql", id="mariadb"),
        pytest.param(
            "postgresql+psycopg://u:secret@h/n", ErrorCode.USAGE, f"{NO_DRIVER} 'psycopg[binary]'", id="psycopg"
        ),
        pytest.param(
            "postgres+psycopg2://u:secret@h/n",
            ErrorCode.USAGE,
            f"{NO_DRIVER} psycopg2-binary; or write postgresql+psycopg://",
            id="psycopg2",
        ),
        pytest.param(
            "mysql+odd://u:secret@h/n",
            ErrorCode.USAGE,
            "cannot use the driver odd; write mysql+pymysql:// and install that: pip install pymysql",
            id="no such driver",
        ),
        pytest.param("sqlite:///missing.db", ErrorCode.DATABASE_UNREACHABLE, "no database 'missing.db'", id="no file"),
        pytest.param("sqlite://", ErrorCode.DATABASE_UNREACHABLE, "no database", id="no name"),
    ],
)
def test_what_cannot_be_opened_is_told(
    url: str, code: ErrorCode, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for driver in ("pymysql", "MySQLdb", "psycopg", "psycopg2"):
        monkeypatch.setitem(sys.modules, driver, None)
    with pytest.raises(LanewayError) as refusal:
        read(url)
    assert refusal.value.code is code
    assert said in refusal.value.message
    assert "secret" not in f"{refusal.value.message} {refusal.value.detail}"
    assert list(tmp_path.iterdir()) == []


def test_whatever_a_driver_says_is_told_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver may raise anything: PyMySQL does so where a MySQL wants what PyMySQL needs another package for."""

    def connect(**options: object) -> None:
        assert options["connect_timeout"] == 10
        raise RuntimeError(f"'cryptography' package is required\nto send {options['password']}")

    driver = ModuleType("pymysql")
    vars(driver).update(paramstyle="pyformat", Error=OSError, connect=connect)
    monkeypatch.setitem(sys.modules, "pymysql", driver)
    with pytest.raises(LanewayError) as refusal:
        read("mysql+pymysql://u:secret@h/n?charset=utf8")
    assert refusal.value.code is ErrorCode.DATABASE_UNREACHABLE
    assert refusal.value.message == (
        "nova's database mysql+pymysql://u:***@h/n cannot be opened: 'cryptography' package is required to send ***;"
        " look at the host, the port, the name of the database, the user and the password, and at what follows the ?"
    )


def test_another_database_is_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE compute_nodes (id INTEGER)")
    with pytest.raises(LanewayError, match=r"no such column: compute_nodes\.host") as refusal:
        read(f"sqlite:///{file}")
    assert refusal.value.code is ErrorCode.DATABASE_UNREACHABLE
