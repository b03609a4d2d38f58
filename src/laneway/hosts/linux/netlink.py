"""Netlink messages: their frame, their attributes, what the kernel answers. Pure: from bytes to values and back.

Layouts: include/uapi/linux/netlink.h. All numbers are in the byte order of the host.
"""

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

ACKNOWLEDGE, DUMP = 0x4, 0x300
"""Flags of a request: answer also where there is nothing to tell; tell of all that there is."""

DONE = 3
"""The kind of the message that ends what was asked for with ``DUMP``."""

_REQUEST = 0x1
_ERROR = 2
_WITH_ATTRIBUTES = 0x200
_TEXT_OF_ERROR = 1
_KIND_MASK = 0x3FFF
"""Above it stand flags: nested, and network byte order."""

_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_NUMBER = struct.Struct("=i")


class Message(NamedTuple):
    """One message of the kernel; ``body`` is all behind its frame."""

    kind: int
    flags: int
    sequence: int
    body: bytes


def request(kind: int, flags: int, sequence: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | flags, sequence, 0) + body


def messages(data: bytes) -> Iterator[Message]:
    """The messages of one datagram. What is cut off is left out."""
    position = 0
    while position + _HEADER.size <= len(data):
        length, kind, flags, sequence, _ = _HEADER.unpack_from(data, position)
        if not _HEADER.size <= length <= len(data) - position:
            return
        yield Message(kind, flags, sequence, data[position + _HEADER.size : position + length])
        position += _aligned(length)


def attribute(kind: int, value: bytes) -> bytes:
    """An attribute; nested ones are attributes as its value."""
    return (_ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value).ljust(
        _aligned(_ATTRIBUTE.size + len(value)), b"\0"
    )


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kinds and values. What is cut off is left out."""
    position = 0
    while position + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, position)
        if not _ATTRIBUTE.size <= length <= len(data) - position:
            return
        yield kind & _KIND_MASK, data[position + _ATTRIBUTE.size : position + length]
        position += _aligned(length)


def raise_refusal(message: Message) -> None:
    """Raises OSError, with the kernel's number and text, if the message says that it refuses what was asked.

    It gives a text of its own on sockets with NETLINK_EXT_ACK and NETLINK_CAP_ACK (with which the
    answer repeats no more than the frame of the request). The number 0 says that all is done.
    """
    if message.kind == _ERROR and len(message.body) >= _NUMBER.size:
        number = -_NUMBER.unpack_from(message.body)[0]
        if number:
            raise OSError(number, _text_of_error(message) or os.strerror(number))


def _text_of_error(message: Message) -> str | None:
    if not message.flags & _WITH_ATTRIBUTES:
        return None
    told = dict(attributes(message.body[_NUMBER.size + _HEADER.size :]))
    return told.get(_TEXT_OF_ERROR, b"").rstrip(b"\0").decode("utf-8", "replace") or None


def _aligned(length: int) -> int:
    return (length + 3) & ~3
