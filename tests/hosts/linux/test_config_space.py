"""The Device Serial Number, and lists of capabilities that lead nowhere."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.hosts.linux.config_space import device_serial_number

SERIAL = bytes.fromhex("a85783ffff211b00")


def config(words: Mapping[int, int | bytes]) -> bytes:
    space = bytearray(4096)
    for offset, word in words.items():
        content = word if isinstance(word, bytes) else word.to_bytes(4, "little")
        space[offset : offset + len(content)] = content
    return bytes(space)


def capability(identity: int, following: int) -> int:
    return following << 20 | 1 << 16 | identity


def serial(space: bytes) -> str | None:
    return device_serial_number(lambda offset, size: space[offset : offset + size])


@pytest.mark.parametrize(
    "space",
    [
        pytest.param(config({0x100: capability(3, 0), 0x104: SERIAL}), id="as the first capability"),
        pytest.param(
            config({0x100: capability(1, 0x140), 0x140: capability(3, 0x150), 0x144: SERIAL}), id="behind another one"
        ),
        pytest.param(config({0x100: capability(1, 0xFF4), 0xFF4: capability(3, 0), 0xFF8: SERIAL}), id="at the end"),
    ],
)
def test_the_serial_number_is_written_as_lspci_writes_it(space: bytes) -> None:
    assert serial(space) == "00-1b-21-ff-ff-83-57-a8"


@pytest.mark.parametrize(
    "space",
    [
        pytest.param(b"", id="no configuration space"),
        pytest.param(bytes(64), id="the header, which is all that others than root may see"),
        pytest.param(bytes(256), id="a function of conventional PCI"),
        pytest.param(bytes(4096), id="no capabilities"),
        pytest.param(b"\xff" * 4096, id="a function that does not answer"),
        pytest.param(config({0x100: capability(3, 0), 0x104: bytes(8)}), id="a serial of zeros"),
        pytest.param(config({0x100: capability(3, 0), 0x104: b"\xff" * 8}), id="a serial of ones"),
        pytest.param(config({0x100: capability(1, 0x100)}), id="a capability that follows itself"),
        pytest.param(config({0x100: capability(1, 0x140), 0x140: capability(2, 0x100)}), id="two in a circle"),
        pytest.param(config({0x100: capability(1, 0x40)}), id="a list that leads into the header"),
        pytest.param(config({0x100: capability(3, 0), 0x104: SERIAL})[:0x108], id="cut off in the serial"),
    ],
)
def test_no_serial_number(space: bytes) -> None:
    assert serial(space) is None


@given(
    st.dictionaries(
        st.integers(0x40, 0x3FF).map(lambda word: word * 4),
        st.builds(capability, st.integers(0, 0x20), st.integers(0, 0xFFF)),
        max_size=40,
    ),
    st.integers(0, 4096),
)
def test_whatever_the_list_is_the_walk_ends(words: dict[int, int], size: int) -> None:
    space = config(words)[:size]
    asked = 0

    def read(offset: int, count: int) -> bytes:
        nonlocal asked
        asked += 1
        assert asked <= 1024
        return space[offset : offset + count]

    found = device_serial_number(read)
    assert found is None or len(found) == 23
