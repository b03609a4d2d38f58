"""Recordings as files."""

import json
from pathlib import Path
from typing import Any

import pytest

from hosts.windows_builder import answers, assigned, gpu, nic, recording, switch
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.hyperv.driver import inventory_of
from laneway.hosts.hyperv.recording import (
    RECORDING_SCHEMA,
    Recording,
    decode_recording,
    encode_recording,
    looks_like_recording,
    read_recording,
)

FULL = recording(answers=answers(upper_devices=(switch("a"),), assigned=(assigned("vm", "PCIROOT(0)", "id"),)))


def as_wmi_tells(device: dict[str, Any]) -> dict[str, Any]:
    """The device as Win32_PnPEntity has it, with its other properties beside."""
    moved = {
        "PNPDeviceID": "DEVPKEY_Device_InstanceId",
        "HardwareID": "DEVPKEY_Device_HardwareIds",
        "Service": "DEVPKEY_Device_Service",
        "ConfigManagerErrorCode": "DEVPKEY_Device_ProblemCode",
    }
    rest = {name: value for name, value in device.items() if name not in moved.values()}
    return {name: device[key] for name, key in moved.items()} | {"Name": "a name", "Status": "OK", "Bag": rest}


@pytest.mark.parametrize("whole", [recording(), FULL, Recording(devices=())])
def test_a_recording_survives_being_written_and_read(whole: Recording) -> None:
    assert decode_recording(encode_recording(whole)) == whole


def test_devices_as_wmi_tells_them_are_read_too() -> None:
    flat, told = (json.dumps([shape(gpu()), shape(nic())]) for shape in (dict, as_wmi_tells))
    assert inventory_of(decode_recording(told)) == inventory_of(decode_recording(flat))
    assert len(inventory_of(decode_recording(told)).functions) == 2


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        pytest.param("{", ErrorCode.INVALID_JSON, "", id="no JSON"),
        pytest.param(
            '{"schema": "other/1", "devices": []}', ErrorCode.INVALID_INVENTORY, "$.schema", id="another schema"
        ),
        pytest.param(json.dumps({"schema": RECORDING_SCHEMA}), ErrorCode.INVALID_INVENTORY, "devices", id="no devices"),
        pytest.param("5", ErrorCode.INVALID_INVENTORY, "$", id="a number"),
        pytest.param("[5]", ErrorCode.INVALID_INVENTORY, "$.devices[0]", id="a device that is none"),
        pytest.param(
            json.dumps({"schema": RECORDING_SCHEMA, "devices": [], "disks": [{"number": "0", "instance_id": "x"}]}),
            ErrorCode.INVALID_INVENTORY,
            "$.disks[0].number",
            id="text for a number",
        ),
    ],
)
def test_what_is_no_recording_is_an_error_with_its_place(
    text: str, code: ErrorCode, place: str, tmp_path: Path
) -> None:
    file = tmp_path / "host.json"
    file.write_text(text)
    with pytest.raises(LanewayError) as refused:
        read_recording(file)
    assert refused.value.code is code
    assert place in refused.value.message
    assert refused.value.message.startswith(f"{file}: ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LanewayError, match="cannot be read") as refused:
        read_recording(tmp_path / "nothing.json")
    assert refused.value.code is ErrorCode.HOST_UNREACHABLE


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        pytest.param(encode_recording(recording()).decode(), True, id="a recording"),
        pytest.param('\n [{"PNPDeviceID": ""}]', True, id="a list of devices"),
        pytest.param('{"schema": "laneway.inventory/1", "functions": []}', False, id="an inventory"),
        pytest.param("", False, id="an empty file"),
    ],
)
def test_what_looks_like_a_recording(text: str, is_one: bool, tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    file.write_text(text, encoding="utf-8")
    assert (looks_like_recording(file) is None) == is_one


def test_a_folder_is_no_recording(tmp_path: Path) -> None:
    assert looks_like_recording(tmp_path) == "a recording of a Windows host is a file"
