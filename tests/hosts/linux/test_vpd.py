"""Vital product data: what cards say, and what broken cards say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.vpd_builder import field, item, vpd
from laneway.domain.inventory import Vpd
from laneway.hosts.linux.vpd import MAX_SIZE, ParsedVpd, parse_vpd

CARD = field("PN", "MBF2H332A-AEEOT") + field("SN", "MT2113X00000  ") + field("V0", "x")


def parse(data: bytes) -> ParsedVpd:
    return parse_vpd(lambda offset, size: data[offset : offset + size])


def test_a_card_tells_its_name_serial_part_and_all_else_it_has_to_say() -> None:
    data = vpd("BlueField-2 DPU", read_only=CARD, read_write=field("YA", "asset 7") + field("RW", bytes(100)))
    assert parse(data) == ParsedVpd(
        Vpd(
            card_serial_number="MT2113X00000",
            part_number="MBF2H332A-AEEOT",
            product_name="BlueField-2 DPU",
            fields={"PN": "MBF2H332A-AEEOT", "SN": "MT2113X00000", "V0": "x", "YA": "asset 7"},
        ),
        None,
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(vpd(), None, id="sections without content say nothing"),
        pytest.param(vpd("A card"), Vpd(product_name="A card", fields={}), id="a name alone"),
        pytest.param(vpd(read_only=field("SN", "  ")), None, id="a serial of blanks is none"),
        pytest.param(vpd(read_only=field("SN", b"\x01\xff")), None, id="a serial that is no text is none"),
        pytest.param(
            vpd(read_only=field("SN", "A") + field("SN", "B")),
            Vpd(card_serial_number="A", fields={"SN": "A"}),
            id="of two serials the first counts",
        ),
    ],
)
def test_what_is_well_formed_is_not_noted(data: bytes, expected: Vpd | None) -> None:
    assert parse(data) == ParsedVpd(expected, None)


GOOD = vpd("A card", read_only=CARD)


@pytest.mark.parametrize(
    ("data", "said", "serial"),
    [
        pytest.param(b"", "ends at 0x0", None, id="nothing at all"),
        pytest.param(b"\n", "0x0a at 0x0 is not a tag", None, id="text"),
        pytest.param(bytes(256), "0x00 at 0x0 is not a tag", None, id="zeros"),
        pytest.param(b"\xff" * 256, "0xff at 0x0 is not a tag", None, id="ones"),
        pytest.param(GOOD[:-1], "ends at", "MT2113X00000", id="no end tag"),
        pytest.param(GOOD[:30], "ends at 0x1e", None, id="cut off in a field"),
        pytest.param(item(0x90, b"SN\x40abc") + b"\x78", "SN at 0x3 reaches beyond", None, id="a field too long"),
        pytest.param(item(0x90, b"\x00\x00\x00"), "not a keyword", None, id="a keyword of zeros"),
        pytest.param(item(0x90, "Ä".encode() + b"\x00"), "not a keyword", None, id="a keyword that is no ASCII"),
        pytest.param(item(0x82, b"x" * 0xFFFF), "reach beyond", None, id="a name longer than all VPD"),
        pytest.param(GOOD.replace(b"MT2113X", b"MT2114X"), "checksum", "MT2114X00000", id="a wrong checksum"),
    ],
)
def test_what_makes_no_sense_is_named_and_ends_the_reading(data: bytes, said: str, serial: str | None) -> None:
    parsed = parse(data)
    assert parsed.fault is not None
    assert said in parsed.fault
    assert (parsed.vpd.card_serial_number if parsed.vpd else None) == serial


def test_free_space_is_not_read() -> None:
    data = vpd("A card", read_only=CARD, read_write=field("RW", bytes(255)))
    asked: list[int] = []

    def read(offset: int, size: int) -> bytes:
        asked.append(offset + size)
        return data[offset : offset + size]

    assert parse_vpd(read).fault is None
    assert max(asked) <= data.index(b"RW") + 3


PIECES = st.one_of(
    st.binary(max_size=40),
    st.builds(field, st.sampled_from(["PN", "SN", "RV", "RW", "V0", "\x00\x00"]), st.binary(max_size=60)),
    st.builds(item, st.sampled_from([0x82, 0x90, 0x91, 0x78, 0x00, 0xFF]), st.binary(max_size=60)),
    st.just(GOOD),
)


@given(st.lists(PIECES, max_size=6).map(b"".join))
def test_whatever_the_data_are_reading_ends_within_them(data: bytes) -> None:
    read = 0

    def read_at(offset: int, size: int) -> bytes:
        nonlocal read
        taken = data[offset : offset + size]
        read += len(taken)
        assert offset + size <= MAX_SIZE
        return taken

    parsed = parse_vpd(read_at)
    assert read <= len(data)
    if parsed.vpd is not None:
        texts = [parsed.vpd.product_name, *(parsed.vpd.fields or {}).values()]
        assert all(text is None or (text.isascii() and text.isprintable() and text.strip()) for text in texts)
