"""The frame of netlink messages, against bytes made by hand from include/uapi/linux/netlink.h."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.hosts.linux import netlink

QUESTION = struct.pack("=IHHII", 20, 18, 1, 7, 0)


def error(number: int, *, flags: int = 0x100, attributes: bytes = b"") -> bytes:
    """NLMSG_ERROR, capped: the number, the frame of the question, and what the kernel says beside."""
    body = struct.pack("=i", -number) + QUESTION + attributes
    return struct.pack("=IHHII", 16 + len(body), 2, flags, 7, 0) + body


def refusal(data: bytes) -> OSError | None:
    (message,) = netlink.messages(data)
    try:
        netlink.raise_refusal(message)
    except OSError as refused:
        return refused
    return None


def test_a_request_has_its_length_kind_flags_and_sequence() -> None:
    assert netlink.request(19, netlink.ACKNOWLEDGE, 7, b"body") == struct.pack("=IHHII", 20, 19, 5, 7, 0) + b"body"


def test_an_attribute_is_filled_up_to_four_bytes_and_its_length_is_without_that() -> None:
    assert netlink.attribute(29, b"abcde") == struct.pack("=HH", 9, 29) + b"abcde\0\0\0"


def test_flags_of_an_attribute_are_not_its_kind() -> None:
    assert list(netlink.attributes(struct.pack("=HH", 4, 0x8000 | 22))) == [(22, b"")]


def test_the_number_0_is_no_refusal() -> None:
    assert refusal(error(0)) is None


def test_a_message_of_another_kind_is_no_refusal() -> None:
    assert refusal(struct.pack("=IHHIIi", 20, 16, 0, 7, 0, -95)) is None


def test_a_refusal_without_words_has_those_of_its_number() -> None:
    refused = refusal(error(95))
    assert refused is not None
    assert (refused.errno, refused.strerror) == (95, "Operation not supported")


def test_a_refusal_has_the_words_of_the_driver() -> None:
    text = netlink.attribute(1, b"VF is not initialized\0")
    refused = refusal(error(22, flags=0x300, attributes=text))
    assert refused is not None
    assert (refused.errno, refused.strerror) == (22, "VF is not initialized")


@pytest.mark.parametrize("length", [0, 15, 21, 0xFFFFFFFF])
def test_a_message_with_an_impossible_length_is_left_out(length: int) -> None:
    assert list(netlink.messages(struct.pack("=IHHIIi", length, 2, 0, 7, 0, 0))) == []


@given(st.lists(st.tuples(st.integers(0, 0x3FFF), st.binary(max_size=9))))
def test_what_is_written_is_read(wanted: list[tuple[int, bytes]]) -> None:
    data = b"".join(netlink.attribute(kind, value) for kind, value in wanted)
    assert list(netlink.attributes(data)) == wanted


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_error_and_within_their_bounds(data: bytes) -> None:
    assert sum(len(message.body) for message in netlink.messages(data)) <= len(data)
    assert sum(len(value) for _, value in netlink.attributes(data)) <= len(data)
