"""JSON to values and back."""

import pytest

from laneway.contracts.codec import convert, encode, parse_json, to_plain
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"[1,", id="a document that is cut off"),
        pytest.param(b'"\xff"', id="bytes that are no UTF-8"),
        pytest.param("\ud800", id="text that has no UTF-8"),
        pytest.param(b'"\\ud800"', id="half a surrogate pair"),
        pytest.param(b"[" * 100_000, id="a hundred thousand brackets"),
        pytest.param(b"1e999", id="a number out of range"),
        pytest.param(b"{'a': 1}", id="a Python literal"),
    ],
)
def test_what_is_no_json_is_refused(text: bytes | str) -> None:
    with pytest.raises(LanewayError) as caught:
        parse_json(text)
    assert caught.value.code is ErrorCode.INVALID_JSON


def test_an_address_is_text_in_json_as_value_and_as_key() -> None:
    address = PciAddress.parse("0000:3b:00.0")
    assert encode({"devices": [address]}) == b'{"devices":["0000:3b:00.0"]}'
    assert encode({address: 1}) == b'{"0000:3b:00.0":1}'
    assert to_plain({address: address}) == {"0000:3b:00.0": "0000:3b:00.0"}
    assert convert({"3b:00.0": "0000:3b:00.0"}, dict[PciAddress, PciAddress], ErrorCode.INVALID_INVENTORY) == {
        address: address
    }


@pytest.mark.parametrize("value", [pytest.param(5, id="a number"), pytest.param("5", id="text of another form")])
def test_an_address_of_the_wrong_form_is_named_with_its_path(value: object) -> None:
    with pytest.raises(LanewayError) as caught:
        convert([value], list[PciAddress], ErrorCode.INVALID_SCENARIO)
    assert caught.value.code is ErrorCode.INVALID_SCENARIO
    assert caught.value.detail == {"path": "$[0]"}
    assert repr(value) in caught.value.message
    assert "0000:3b:00.0" in caught.value.message


def test_what_has_no_form_in_json_is_a_fault_of_the_caller() -> None:
    with pytest.raises(TypeError, match="object has no form in JSON"):
        encode(object())
    with pytest.raises(AssertionError, match="complex has no form in JSON"):
        convert("1j", complex, ErrorCode.INVALID_SCENARIO)


def test_text_without_utf_8_is_written_all_the_same() -> None:
    assert encode({"vm-\udcff": ["\ud800", 1, None]}) == '{"vm-\ufffd":["\ufffd",1,null]}'.encode()
