"""The driver for inventories."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.examples import FULL_INVENTORY
from laneway.contracts.inventory import encode_inventory
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.snapshot import SnapshotHostDriver, SnapshotHostDriverFactory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "gpu-1.json"
    path.write_bytes(encode_inventory(FULL_INVENTORY))
    return path


def test_the_host_is_what_the_file_says_and_it_is_read_each_time(file: Path) -> None:
    driver = SnapshotHostDriverFactory().reading(file)
    assert driver.discover() == FULL_INVENTORY
    file.write_text(json.dumps({"schema": "laneway.inventory/1", "functions": []}))
    assert driver.discover().functions == ()


def test_an_inventory_in_hand_is_a_host_too() -> None:
    assert SnapshotHostDriver(FULL_INVENTORY).discover() is FULL_INVENTORY


def test_functions_stand_by_address_however_the_document_has_them() -> None:
    turned = replace(FULL_INVENTORY, functions=FULL_INVENTORY.functions[::-1])
    assert SnapshotHostDriver(turned).discover() == FULL_INVENTORY


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(None, ErrorCode.HOST_UNREACHABLE, id="no such file"),
        pytest.param(b"{", ErrorCode.INVALID_JSON, id="no JSON"),
        pytest.param(b"{}", ErrorCode.INVALID_INVENTORY, id="no inventory"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, content: bytes | None, code: ErrorCode) -> None:
    file = tmp_path / "gpu-1.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(LanewayError, match=re.escape(str(file))) as caught:
        SnapshotHostDriverFactory().reading(file).discover()
    assert caught.value.code is code
    assert str(file) in caught.value.detail.values()


def test_it_cannot_stand_for_this_machine(tmp_path: Path) -> None:
    factory = SnapshotHostDriverFactory()
    assert "--snapshot FILE" in str(factory.unavailable())
    with pytest.raises(LanewayError, match="--snapshot FILE"):
        factory()
    assert factory.cannot_read(tmp_path) == "an inventory is a file, this is a directory"
    assert factory.cannot_read(tmp_path / "host.json") is None
