"""Documents out of a stream, as they come."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.contracts.stream import documents
from laneway.domain.errors import ErrorCode, LanewayError

BAD = object()


def read(text: bytes) -> list[object]:
    """The documents, each unreadable one as ``BAD``."""
    found = list(documents(text.splitlines(keepends=True)))
    errors = [one for one in found if isinstance(one, LanewayError)]
    assert all(error.code is ErrorCode.INVALID_JSON for error in errors)
    return [BAD if isinstance(one, LanewayError) else one for one in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"\n \n", [], id="blank lines"),
        pytest.param(b'{"a":1}', [{"a": 1}], id="one line without an end"),
        pytest.param(b'\xef\xbb\xbf{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}], id="a byte order mark"),
        pytest.param(b'\xef\xbb\xbf{\r\n"a":1\r\n}\r\n', [{"a": 1}], id="a byte order mark, one document"),
        pytest.param(b'{"a":1}\n\n{"a":2}\n', [{"a": 1}, {"a": 2}], id="JSON Lines"),
        pytest.param(b'{\n  "a": [\n    1,\n    2\n  ]\n}\n', [{"a": [1, 2]}], id="one document over many lines"),
        pytest.param(b'nonsense\n{"a":2}\n', [BAD, {"a": 2}], id="a first line that is nothing"),
        pytest.param(b'{"a":1}\n{"a":\n{"a":3}\n', [{"a": 1}, BAD, {"a": 3}], id="a line that breaks off"),
        pytest.param(b'{"a":\n{"a":2}\n{"a":3}\n', [BAD, {"a": 2}, {"a": 3}], id="a first line that breaks off"),
        pytest.param(b'{"a":1', [BAD], id="a document that never ends"),
        pytest.param(b'\xff\xfe\n{"a":2}\n', [BAD, {"a": 2}], id="no UTF-8"),
        pytest.param(b"[" * 100_000 + b"\n1\n", [BAD, 1], id="nested too deeply"),
    ],
)
def test_the_documents_of_a_text(text: bytes, found: list[object]) -> None:
    assert read(text) == found


def test_a_document_is_there_before_the_next_line_is_asked_for() -> None:
    def lines() -> Iterator[bytes]:
        yield b'{"a":1}\n'
        raise AssertionError("the second line was asked for")

    assert next(documents(lines())) == {"a": 1}


PLAIN = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5), st.lists, max_leaves=8)


@given(st.lists(PLAIN, max_size=8))
def test_json_lines_are_read_as_they_were_written(values: list[object]) -> None:
    assert read(b"".join(json.dumps(value).encode() + b"\n" for value in values)) == values


@given(st.dictionaries(st.text(max_size=5), PLAIN, min_size=1, max_size=5))
def test_a_document_laid_out_for_people_is_one(value: dict[str, object]) -> None:
    assert read(json.dumps(value, indent=2).encode()) == [value]
