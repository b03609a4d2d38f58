"""What Windows fills buffers with."""

import struct
from uuid import UUID

import pytest

from laneway.hosts.hyperv.raw_values import decode_memory, decode_property, decode_registry_value, decode_texts


def texts(*items: str) -> bytes:
    return "".join(f"{item}\0" for item in (*items, "")).encode("utf-16-le")


GUID = UUID("4d36e972-e325-11ce-bfc1-08002be10318")


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        pytest.param(0x12, texts("Gerät"), "Gerät", id="text"),
        pytest.param(0x2012, texts("one", "two"), ["one", "two"], id="a list of texts"),
        pytest.param(0x2012, texts(), [], id="an empty list"),
        pytest.param(0x07, struct.pack("<I", 0xFFFFFFFF), 0xFFFFFFFF, id="UINT32"),
        pytest.param(0x06, struct.pack("<i", -2), -2, id="INT32"),
        pytest.param(0x09, struct.pack("<Q", 1 << 63), 1 << 63, id="UINT64"),
        pytest.param(0x03, b"\x05", 5, id="BYTE"),
        pytest.param(0x11, b"\xff", True, id="true"),
        pytest.param(0x11, b"\x00", False, id="false"),
        pytest.param(0x0D, GUID.bytes_le, "{4d36e972-e325-11ce-bfc1-08002be10318}", id="GUID"),
        pytest.param(0x07, b"\x01", None, id="a number cut short"),
        pytest.param(0x1003, b"\x01", None, id="a type that no key has"),
    ],
)
def test_decode_property(kind: int, data: bytes, expected: object) -> None:
    assert decode_property(kind, data) == expected


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        pytest.param(1, texts("net"), "net", id="REG_SZ"),
        pytest.param(7, texts("a", "b"), ["a", "b"], id="REG_MULTI_SZ"),
        pytest.param(4, struct.pack("<I", 7), 7, id="REG_DWORD"),
        pytest.param(3, b"\x01", None, id="REG_BINARY"),
    ],
)
def test_decode_registry_value(kind: int, data: bytes, expected: object) -> None:
    assert decode_registry_value(kind, data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            struct.pack("<IIQQII", 0, 0, 0xE0000000, 0xE0FFFFFF, 0x4 | 0x8, 0),
            [0xE0000000, 0xE0FFFFFF, True],
            id="prefetchable",
        ),
        pytest.param(struct.pack("<IIQQII", 0, 0, 16, 31, 0x8, 0), [16, 31, False], id="not prefetchable"),
        pytest.param(b"\0" * 8, None, id="cut short"),
    ],
)
def test_decode_memory(data: bytes, expected: object) -> None:
    assert decode_memory(data) == expected


def test_texts_end_at_the_first_empty_one() -> None:
    assert decode_texts(texts("C:\\") + texts("left over")) == ["C:\\"]
