"""An export of nova's tables is read, as JSON lines, as JSON or as CSV."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import nova_rows as rows
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_export import read_export
from laneway.openstack.nova_records import read_records

CARD = "0000:05:00.0"
TABLES = {
    "compute_nodes": [rows.NODE],
    "pci_devices": [rows.device(CARD, rows.VM, extra_info='{"managed": "true"}')],
    "instances": [rows.instance()],
    "instance_extra": [rows.extra(rows.flavor_request())],
    "migrations": [rows.move()],
}


def write_json(folder: Path, tables: dict[str, Sequence[rows.Row]]) -> None:
    for table, content in tables.items():
        (folder / f"{table}.json").write_text(json.dumps(content))


def write_json_lines(folder: Path, tables: dict[str, Sequence[rows.Row]]) -> None:
    for table, content in tables.items():
        (folder / f"{table}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in content) + "\n")


def write_csv(folder: Path, tables: dict[str, Sequence[rows.Row]]) -> None:
    for table, content in tables.items():
        with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, content[0].keys())
            writer.writeheader()
            writer.writerows({key: "NULL" if value is None else value for key, value in row.items()} for row in content)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(write_json_lines, id="JSON lines"),
        pytest.param(write_json, id="JSON"),
        pytest.param(write_csv, id="CSV"),
    ],
)
def test_all_say_the_same(tmp_path: Path, write: object) -> None:
    assert callable(write)
    write(tmp_path, TABLES)
    assert read_records(read_export(tmp_path)) == read_records(TABLES)


@pytest.mark.parametrize("column", ["instance_uuid", "status", "extra_info", "deleted"])
def test_a_column_that_is_left_out_is_told_since_it_would_count_as_empty(tmp_path: Path, column: str) -> None:
    devices = [rows.device("0000:06:00.0"), {key: value for key, value in rows.device(CARD).items() if key != column}]
    write_json(tmp_path, {**TABLES, "pci_devices": devices})
    with pytest.raises(LanewayError, match=f"row 2 of pci_devices in .* has no {column}; export the columns") as caught:
        read_export(tmp_path)
    assert caught.value.code is ErrorCode.USAGE


def test_instances_and_their_requests_may_be_missing(tmp_path: Path) -> None:
    write_json(tmp_path, {table: TABLES[table] for table in ("compute_nodes", "pci_devices")})
    records = read_records(read_export(tmp_path))
    assert (records.instances, records.requests, len(records.devices)) == (None, {}, 1)


@pytest.mark.parametrize(
    ("file", "content", "code", "said"),
    [
        pytest.param("pci_devices.json", None, ErrorCode.USAGE, "neither pci_devices.jsonl nor", id="no devices"),
        pytest.param("pci_devices.json", b"[", ErrorCode.INVALID_JSON, "not a JSON document", id="no JSON"),
        pytest.param("pci_devices.json", b"{}", ErrorCode.INVALID_JSON, "no list of objects", id="no list"),
        pytest.param("pci_devices.json", b"[1]", ErrorCode.INVALID_JSON, "no list of objects", id="a list of numbers"),
        pytest.param(
            "instances.jsonl", b'{}\n\n{"uuid', ErrorCode.INVALID_JSON, "instances.jsonl, line 3: ", id="a cut line"
        ),
        pytest.param("instances.jsonl", b"[]", ErrorCode.INVALID_JSON, "no object on line 1", id="a line, a list"),
        pytest.param("instances.csv", b"uuid,host\nx\n", ErrorCode.INVALID_JSON, "more or fewer fields", id="too few"),
        pytest.param("instances.csv", b"uuid\nx,y\n", ErrorCode.INVALID_JSON, "more or fewer fields", id="too many"),
        pytest.param("instances.csv", b'uuid\n"x', ErrorCode.INVALID_JSON, "no CSV in UTF-8", id="an open quote"),
        pytest.param("instances.csv", b"uuid\n\xff", ErrorCode.INVALID_JSON, "no CSV in UTF-8", id="no UTF-8"),
    ],
)
def test_what_cannot_be_read_is_told(
    tmp_path: Path, file: str, content: bytes | None, code: ErrorCode, said: str
) -> None:
    write_json(tmp_path, {table: TABLES[table] for table in ("compute_nodes", "pci_devices")})
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(LanewayError) as refusal:
        read_export(tmp_path)
    assert refusal.value.code is code
    assert said in refusal.value.message


def test_a_table_that_is_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "compute_nodes.json").mkdir()
    with pytest.raises(LanewayError, match="cannot be read"):
        read_export(tmp_path)
