"""JSON documents out of a stream: one document over many lines, or JSON Lines, as they come."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator

import msgspec

from laneway.contracts.codec import parse_json
from laneway.domain.errors import LanewayError

Unreadable = LanewayError


def documents(lines: Iterable[bytes]) -> Iterator[object | Unreadable]:
    """Each document, parsed, or the LanewayError(invalid_json) of a line that is none.

    A first line that is whole is taken for JSON Lines, and each document is there as soon as its
    line is. One that is only the beginning of a document is held until the document is whole; if
    that never happens it was an unreadable line. Blank lines do not count.
    """
    source = iter(lines)
    first = next((line for line in source if line.strip()), None)
    if first is None:
        return
    first = first.removeprefix(BOM_UTF8)
    if not _is_beginning(first):
        yield _parsed(first)
    else:
        yield from _held(first, source)
    yield from (_parsed(line) for line in source if line.strip())


def _held(first: bytes, source: Iterator[bytes]) -> Iterator[object | Unreadable]:
    """The document that begins with this line, or all lines read so far, each on its own."""
    read = [first]
    size = tried = len(first)
    for line in source:
        read.append(line)
        size += len(line)
        # Trying at doubled sizes only keeps the work linear, and still ends a wrong guess early.
        if size >= 2 * tried:
            tried = size
            if not _is_beginning(b"".join(read)):
                break
    whole = _parsed(b"".join(read))
    if isinstance(whole, LanewayError):
        yield from (_parsed(line) for line in read if line.strip())
    else:
        yield whole


def _is_beginning(text: bytes) -> bool:
    """Whether more text could make it a JSON document."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        return "truncated" in str(error)
    except (UnicodeError, RecursionError):
        return False
    return False


def _parsed(text: bytes) -> object | Unreadable:
    try:
        return parse_json(text)
    except LanewayError as error:
        return error
