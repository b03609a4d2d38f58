"""nova's tables are read from a real MariaDB and a real PostgreSQL: by whatever URL, whole, and without a trace."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from urllib.parse import quote

import pytest
from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.engine.interfaces import DBAPICursor, ExecutionContext

import nova_rows as rows
from domain.hosts import function, inventory
from laneway.contracts.inventory import encode_inventory
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_database import read_database
from laneway.openstack.nova_export import read_export
from laneway.openstack.nova_nodes import chosen_node
from laneway.openstack.nova_records import COLUMNS, NovaNode, NovaRecords, Tables, read_records
from nova_tables import METADATA

SERVERS = json.loads(os.environ["LANEWAY_TEST_DATABASES"])
PASSWORD = "s3cret@a/b:c%d"
"""With all that has a meaning in a URL."""

CARD, OTHER = "0000:05:00.0", "0000:06:00.0"
OLD, NEW = "cccccccc-0000-4000-8000-000000000001", "cccccccc-0000-4000-8000-000000000002"
GRANTED = tuple(METADATA.tables)

CONTENT: dict[str, list[rows.Row]] = {
    "compute_nodes": [
        rows.NODE,
        rows.NODE | {"id": 8, "host": "compute-2", "hypervisor_hostname": "compute-2.example"},
    ],
    "pci_devices": [
        rows.device(CARD, rows.VM, request_id=OLD, extra_info='{"managed": "true"}'),
        rows.device(OTHER, id=2, numa_node=None, extra_info=None),
        rows.device("0000:07:00.0", rows.VM, id=3, request_id=NEW, compute_node_id=8),
        rows.device("0000:08:00.0", rows.OTHER_VM, id=4, deleted=4),
    ],
    "instances": [rows.instance(id=1, host="compute-2"), rows.instance(rows.OTHER_VM, id=2, deleted=2)],
    "instance_extra": [
        rows.extra(rows.flavor_request(NEW))
        | {"id": 1, "migration_context": rows.context([rows.flavor_request(OLD)], [rows.flavor_request(NEW)])}
    ],
    "migrations": [rows.move(), rows.move(id=2, status="confirmed"), rows.move(rows.OTHER_VM, id=3, deleted=3)],
}
"""A host with a device of an instance that is resized to another, and what was deleted."""


@dataclass(frozen=True)
class Server:
    """One of the two, with the URL by which its administrator reaches it, and where it writes what it is told."""

    kind: str
    port: int
    log: Path

    @property
    def is_mariadb(self) -> bool:
        return self.kind == "mariadb"

    @property
    def driver(self) -> str:
        return "mysql+pymysql" if self.is_mariadb else "postgresql+psycopg"

    def administrator(self, database: str | None) -> Engine:
        name = database or ("mysql" if self.is_mariadb else "postgres")
        url = URL.create(self.driver, "admin", "admin", "127.0.0.1", self.port, name)
        return create_engine(url, isolation_level="AUTOCOMMIT")

    def url(
        self,
        user: str = "reader",
        *,
        driver: str | None = None,
        database: str = "nova_cell1",
        password: str = PASSWORD,
        port: int | None = None,
        query: str = "",
    ) -> str:
        """As an operator has it in nova.conf."""
        secret = quote(password, safe="")
        return f"{driver or self.driver}://{user}:{secret}@127.0.0.1:{port or self.port}/{database}{query}"


@cache
def with_tables(kind: str) -> Server:
    """Once: databases, tables and users: one who may only read, one who may write, one who lacks a table."""
    server = Server(kind, SERVERS[kind]["port"], Path(SERVERS[kind]["log"]))
    at, of = ("@'127.0.0.1'", "IDENTIFIED BY") if server.is_mariadb else ("", "PASSWORD")
    engine = server.administrator(None)
    with engine.connect() as connection:
        for name in ("nova_cell1", "nova_api"):
            connection.execute(text(f"CREATE DATABASE {name}"))
        for user in ("reader", "writer", "partial"):
            connection.exec_driver_sql(f"CREATE USER {user}{at} {of} '{PASSWORD.replace('%', '%%')}'")
    engine.dispose()
    engine = server.administrator("nova_cell1")
    METADATA.create_all(engine)
    with engine.connect() as connection:
        for table in GRANTED:
            connection.execute(text(f"GRANT SELECT ON {table} TO reader{at}"))
            connection.execute(text(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO writer{at}"))
        for table in set(GRANTED) - {"migrations"}:
            connection.execute(text(f"GRANT SELECT ON {table} TO partial{at}"))
        if server.is_mariadb:
            connection.execute(text(f"GRANT SELECT ON nova_api.* TO reader{at}"))
    engine.dispose()
    return server


@pytest.fixture(params=SERVERS)
def made(request: pytest.FixtureRequest) -> Server:
    return with_tables(request.param)


@pytest.fixture
def server(made: Server) -> Server:
    """With the same content for each test."""
    engine = made.administrator("nova_cell1")
    with engine.connect() as connection:
        for table in reversed(METADATA.sorted_tables):
            connection.execute(table.delete())
        fill(connection, CONTENT)
    engine.dispose()
    return made


def fill(connection: Connection, content: dict[str, list[rows.Row]]) -> None:
    for table in METADATA.sorted_tables:
        if content.get(table.name):
            connection.execute(table.insert(), content[table.name])


def node(nodes: Sequence[NovaNode]) -> NovaNode:
    return chosen_node(nodes, "compute-1", None)


def assert_is_content(records: NovaRecords) -> None:
    assert records.problems == ()
    assert [(str(one.address), one.owner, one.numa_node) for one in records.devices] == [
        (CARD, rows.VM, 0),
        (OTHER, None, None),
    ]
    assert list(records.instances or ()) == [rows.VM]
    assert [one.name for one in records.requests[rows.VM].before or ()] == [OLD]
    assert records.moves is not None
    assert [(move.kind, move.status) for move in records.moves.values()] == [("resize", "finished")]


MARIADB = ("mysql+pymysql", "mariadb+pymysql")
POSTGRESQL = ("postgresql+psycopg", "postgresql+psycopg2", "postgres+psycopg2", "postgresql")


@pytest.mark.parametrize(
    ("made", "driver", "query"),
    [
        *(pytest.param("mariadb", driver, "", id=driver) for driver in MARIADB),
        pytest.param("mariadb", "mysql+pymysql", "?charset=utf8", id="with a character set, as installers write it"),
        pytest.param(
            "mariadb", "mysql+pymysql", "?charset=utf8&plugin=dbcounter", id="with a plugin, as devstack does"
        ),
        *(pytest.param("postgresql", driver, "", id=driver) for driver in POSTGRESQL),
        pytest.param("postgresql", "postgresql+psycopg2", "?client_encoding=utf8", id="with an encoding"),
    ],
    indirect=["made"],
)
def test_nova_s_own_url_will_do(server: Server, driver: str, query: str) -> None:
    assert_is_content(read_records(read_database(server.url(driver=driver, query=query), node)))


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        pytest.param(lambda server: server.url(password="Wr0ng@"), "the user and the password", id="a wrong password"),
        pytest.param(lambda server: server.url("nobody"), "the user and the password", id="a user that is not there"),
        pytest.param(lambda server: server.url(port=1), "look at the host, the port", id="nobody listens"),
        pytest.param(lambda server: server.url(database="nova_x"), "the name of the database", id="no such database"),
        pytest.param(
            lambda server: server.url(query="?odd=s3cret"), "at what follows the ?", id="an option that is none"
        ),
        pytest.param(lambda server: server.url(database="nova_api"), "the database of the host's cell", id="no tables"),
        pytest.param(lambda server: server.url("partial"), "its user needs SELECT on", id="a table may not be read"),
    ],
)
def test_what_cannot_be_read_is_told_without_the_password(
    server: Server, url: Callable[[Server], str], remedy: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(LanewayError) as refusal:
        read_database(url(server), node)
    assert refusal.value.code is ErrorCode.DATABASE_UNREACHABLE
    assert remedy in refusal.value.message
    assert "\n" not in refusal.value.message
    for secret in (PASSWORD, quote(PASSWORD, safe=""), "s3cret", "Wr0ng"):
        assert secret not in f"{refusal.value.message} {refusal.value.detail} {caplog.text}"


@pytest.mark.parametrize("driver", ["mysql", "mysql+asyncmy", "postgresql+asyncpg", "postgresql+psycopg_async"])
def test_a_driver_that_will_not_do_is_told(made: Server, driver: str) -> None:
    with pytest.raises(LanewayError, match="pip install") as refusal:
        read_database(made.url(driver=driver), node)
    assert refusal.value.code is ErrorCode.USAGE
    assert "s3cret" not in refusal.value.message


def test_a_node_that_is_not_there_is_told(server: Server) -> None:
    with pytest.raises(LanewayError, match=r"no compute node 'compute-9': compute-1\.example, compute-2\.example"):
        read_database(server.url(), lambda nodes: chosen_node(nodes, "compute-9", None))


def statements(server: Server, log: str) -> list[str]:
    """The first lines of what the server was told."""
    mark = "Query\t" if server.is_mariadb else "LOG:  "
    said = [line.split(mark, 1)[1] for line in log.splitlines() if mark in line]
    return said if server.is_mariadb else [line.split(":", 1)[1].strip() for line in said]


HARMLESS = (
    "SELECT",
    "SET",
    "SHOW",
    "BEGIN",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    "ROLLBACK",
    # psycopg looks so which types there are
    "SAVEPOINT",
    "RELEASE",
)


def test_no_statement_that_writes_or_locks_reaches_the_server(server: Server) -> None:
    """Also where the user could write."""
    since = server.log.stat().st_size
    read_database(server.url("writer"), node)
    log = server.log.read_bytes()[since:].decode().upper()
    told = statements(server, log.replace("QUERY\t", "Query\t"))
    assert any("READ ONLY" in statement and "TRANSACTION" in statement for statement in told)
    assert sum(statement.startswith("SELECT") and "PCI_DEVICES" in statement for statement in told) == 1
    assert [statement for statement in told if not statement.startswith(HARMLESS)] == []
    for lock in ("FOR UPDATE", "FOR SHARE", "SHARE MODE", "LOCK TABLE"):
        assert lock not in log


@pytest.fixture
def on_read() -> Iterator[Callable[[Callable[[DBAPICursor], object]], None]]:
    """Does something on the reader's own connection, while it reads."""
    begun: list[Callable[..., None]] = []

    def register(action: Callable[[DBAPICursor], object]) -> None:
        def after(
            connection: Connection,
            cursor: DBAPICursor,
            statement: str,
            parameters: object,
            context: ExecutionContext,
            many: bool,
        ) -> None:
            if "FROM compute_nodes" in statement:
                action(connection.connection.cursor())

        event.listen(Engine, "after_cursor_execute", after)
        begun.append(after)

    yield register
    for listener in begun:
        event.remove(Engine, "after_cursor_execute", listener)


def test_the_server_itself_refuses_to_write(
    server: Server, on_read: Callable[[Callable[[DBAPICursor], object]], None]
) -> None:
    on_read(lambda cursor: cursor.execute("UPDATE pci_devices SET status = 'available'"))
    with pytest.raises(Exception, match=r"(?i)read.only transaction"):
        read_database(server.url("writer"), node)


def test_all_tables_are_of_one_moment_while_nova_writes(server: Server) -> None:
    engine = server.administrator("nova_cell1")

    def nova_writes(nodes: Sequence[NovaNode]) -> NovaNode:
        """After the first table was read: the resize is confirmed, and another device is taken."""
        with engine.begin() as connection:
            connection.execute(text("UPDATE migrations SET status = 'confirmed'"))
            connection.execute(text("UPDATE pci_devices SET instance_uuid = NULL, status = 'available' WHERE id = 1"))
            connection.execute(text("UPDATE instance_extra SET migration_context = NULL"))
        return node(nodes)

    assert_is_content(read_records(read_database(server.url(), nova_writes)))
    engine.dispose()
    assert read_records(read_database(server.url(), node)).moves == {}


def test_an_export_as_the_docs_say_is_read(server: Server, tmp_path: Path) -> None:
    """Each row as an object, on a line of its own."""
    engine = server.administrator("nova_cell1")
    with engine.connect() as connection:
        for table, columns in COLUMNS.items():
            pairs = ", ".join(f"'{name}', {name}" for name in columns)
            of_row = f"JSON_OBJECT({pairs})" if server.is_mariadb else "row_to_json(t)"
            chosen = f"SELECT {of_row} FROM (SELECT {', '.join(columns)} FROM {table} WHERE deleted = 0) t"
            lines = [row if isinstance(row, str) else json.dumps(row) for row in connection.scalars(text(chosen))]
            (tmp_path / f"{table}.jsonl").write_text("\n".join(lines))
    engine.dispose()
    exported = read_records(read_export(tmp_path))
    assert_is_content(replace(exported, devices=tuple(one for one in exported.devices if one.node_id == 7)))


NODES, OF_NODE = 100, 500


def many() -> dict[str, list[rows.Row]]:
    """50,000 devices on 100 hosts, each of them with an instance of its own."""
    count = NODES * OF_NODE
    hosts = [f"host-{number}" for number in range(NODES)]
    uuids = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(count)]
    return {
        "compute_nodes": [
            {"id": 100 + number, "host": host, "hypervisor_hostname": host, "deleted": 0}
            for number, host in enumerate(hosts)
        ],
        "pci_devices": [
            rows.device(f"{index // 256:04x}:{index % 256:02x}:00.0", uuid, id=100 + number, compute_node_id=100 + host)
            for number, uuid in enumerate(uuids)
            for host, index in [divmod(number, OF_NODE)]
        ],
        "instances": [
            rows.instance(uuid, hosts[number // OF_NODE], node=hosts[number // OF_NODE], id=100 + number)
            for number, uuid in enumerate(uuids)
        ],
        "instance_extra": [
            rows.extra(rows.flavor_request(), uuid=uuid) | {"id": 100 + number} for number, uuid in enumerate(uuids)
        ],
        "migrations": [],
    }


def test_of_many_devices_only_those_of_the_host_are_read(server: Server, record_property: Callable[..., None]) -> None:
    engine = server.administrator("nova_cell1")
    with engine.connect() as connection:
        fill(connection, many())
    engine.dispose()
    began = perf_counter()
    found: Tables = read_database(server.url(), lambda nodes: chosen_node(nodes, "host-42", None))
    record_property(
        f"{server.kind}: milliseconds for {OF_NODE} of 50,000 devices", round(1000 * (perf_counter() - began))
    )
    assert {name: len(found[name]) for name in ("pci_devices", "instances", "instance_extra")} == dict.fromkeys(
        ("pci_devices", "instances", "instance_extra"), OF_NODE
    )
    assert perf_counter() - began < 5


def run_laneway(folder: Path, url: str, *more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "laneway", "import", "nova", "--snapshot", "host.json", "--state", "state.db", *more]
    environment = os.environ | {"LANEWAY_NOVA_DATABASE": url, "LANEWAY_CONFIG": "laneway.toml"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A host that is moved over."""
    found = replace(inventory(function(CARD), function(OTHER)), host="compute-1")
    (tmp_path / "host.json").write_bytes(encode_inventory(found))
    (tmp_path / "laneway.toml").write_text('[[device_spec]]\nvendor_id = "8086"\n')
    return tmp_path


def test_an_operator_takes_a_host_over(server: Server, folder: Path) -> None:
    dry = run_laneway(folder, server.url(), "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "")
    assert "move_under_way" in dry.stdout
    first, again = run_laneway(folder, server.url(), "--json"), run_laneway(folder, server.url(), "--json")
    assert (first.returncode, again.returncode) == (0, 0)
    known = [[one["known"] for one in json.loads(done.stdout)["devices"]] for done in (first, again)]
    assert known == [[False], [True]]


def test_an_operator_is_told_in_one_line(server: Server, folder: Path) -> None:
    done = run_laneway(folder, server.url(password="Wr0ng@"))
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr.count("\n") <= 2
    for unwanted in ("Wr0ng", "Traceback"):
        assert unwanted not in done.stderr
