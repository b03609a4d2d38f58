"""Vital product data of a card: PCI Local Bus Specification 3.0, appendix I."""

from collections.abc import Callable
from typing import NamedTuple

from laneway.domain.inventory import Vpd

ReadAt = Callable[[int, int], bytes]
"""Reads ``size`` bytes at ``offset``; fewer at the end."""

MAX_SIZE = 0x8000
"""VPD addresses have 15 bits."""

_IDENTIFIER = 0x82
_READ_ONLY = 0x90
_READ_WRITE = 0x91
_END_TAG = 0x78
_CHECKSUM = "RV"
_FREE_SPACE = "RW"


class ParsedVpd(NamedTuple):
    """What the data say, as far as they make sense, and what does not; both may be None."""

    vpd: Vpd | None
    fault: str | None


class _MalformedError(Exception):
    """The data make no sense from here on."""


class _Reader:
    """The data from the front, read as far as they are needed: VPD is slow to read."""

    def __init__(self, read: ReadAt) -> None:
        self._read = read
        self.data = b""

    def take(self, size: int) -> bytes:
        start = len(self.data)
        if start + size > MAX_SIZE:
            raise _MalformedError(f"{size} bytes at {start:#x} reach beyond the {MAX_SIZE:#x} that VPD can have")
        taken = self._read(start, size) if size else b""
        self.data += taken
        if len(taken) < size:
            raise _MalformedError(f"it ends at {len(self.data):#x}, in the middle of an item")
        return taken


def parse_vpd(read: ReadAt) -> ParsedVpd:
    """Reads the data up to the end tag, or as far as they make sense. Raises only what ``read`` raises."""
    reader = _Reader(read)
    names: list[str] = []
    fields: dict[str, str] = {}
    fault = None
    try:
        while _read_item(reader, names, fields):
            pass
    except _MalformedError as error:
        fault = str(error)
    if not names and not fields:
        return ParsedVpd(None, fault)
    return ParsedVpd(
        Vpd(
            card_serial_number=fields.get("SN"),
            part_number=fields.get("PN"),
            product_name=names[0] if names else None,
            fields=fields,
        ),
        fault,
    )


def _read_item(reader: _Reader, names: list[str], fields: dict[str, str]) -> bool:
    """Reads one resource item; False where nothing of worth follows."""
    start = len(reader.data)
    tag = reader.take(1)[0]
    if tag & 0xF8 == _END_TAG:
        return False
    if tag not in (_IDENTIFIER, _READ_ONLY, _READ_WRITE):
        raise _MalformedError(f"{tag:#04x} at {start:#x} is not a tag of VPD")
    size = int.from_bytes(reader.take(2), "little")
    if tag == _IDENTIFIER:
        names.extend(filter(None, [_text(reader.take(size))]))
        return True
    return _read_fields(reader, len(reader.data) + size, fields)


def _read_fields(reader: _Reader, end: int, fields: dict[str, str]) -> bool:
    """Reads the fields of a section; False where free space follows, which ends the data."""
    while len(reader.data) < end:
        start = len(reader.data)
        header = reader.take(3)
        keyword = header[:2].decode("latin-1")
        if not (keyword.isascii() and keyword.isalnum()):
            raise _MalformedError(f"{header[:2].hex()} at {start:#x} is not a keyword of two letters or digits")
        if keyword == _FREE_SPACE:
            return False
        if start + 3 + header[2] > end:
            raise _MalformedError(f"{keyword} at {start:#x} reaches beyond its section")
        value = reader.take(header[2])
        if keyword == _CHECKSUM:
            _verify(reader.data[: start + 4], start)
        elif text := _text(value):
            fields.setdefault(keyword, text)
    return True


def _verify(data: bytes, start: int) -> None:
    """All bytes up to the first of the checksum field add up to 0."""
    if sum(data) & 0xFF:
        raise _MalformedError(f"the checksum at {start:#x} does not fit the data before it")


def _text(value: bytes) -> str | None:
    """The text of a field; None where it is blank or no text."""
    text = value.strip(b" \0\t\r\n")
    if not text or any(not 0x20 <= byte < 0x7F for byte in text):
        return None
    return text.decode("ascii")
