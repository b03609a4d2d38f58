"""PCI addresses: what is one, what is none, and how they sort."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.address import MAX_BUS, MAX_DOMAIN, MAX_FUNCTION, MAX_SLOT, PciAddress
from laneway.domain.errors import ErrorCode, LanewayError

PARTS = st.tuples(
    st.integers(0, MAX_DOMAIN), st.integers(0, MAX_BUS), st.integers(0, MAX_SLOT), st.integers(0, MAX_FUNCTION)
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        pytest.param("0000:3b:00.0", "0000:3b:00.0", id="canonical text"),
        pytest.param("3b:00.0", "0000:3b:00.0", id="without a domain"),
        pytest.param("3B:1F.7", "0000:3b:1f.7", id="upper case"),
        pytest.param("10000:00:02.0", "10000:00:02.0", id="a domain of five digits"),
        pytest.param("ffffffff:ff:1f.7", "ffffffff:ff:1f.7", id="the highest address"),
        pytest.param("1:2:3.4", "0001:02:03.4", id="short fields"),
    ],
)
def test_reads(text: str, canonical: str) -> None:
    assert str(PciAddress.parse(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("0000:00:00x1", id="another mark than a dot (D10)"),
        pytest.param("0000:00:20.0", id="slot 20"),
        pytest.param("0000:100:00.0", id="bus 100"),
        pytest.param("0000:00:00.8", id="function 8"),
        pytest.param("100000000:00:00.0", id="a domain of 33 bits"),
        pytest.param("0:0000:00:00.0", id="four fields"),
        pytest.param("00:00", id="no function"),
        pytest.param("3b:00.0\n", id="a line end"),
        pytest.param(" 3b:00.0", id="a blank"),
        pytest.param("0x3b:00.0", id="0x"),
        pytest.param("-1:00.0", id="a negative bus"),
        pytest.param("0_0:00.0", id="an underscore"),
        pytest.param("٣b:00.0", id="a digit that is not ASCII"),
        pytest.param("*:00.0", id="a wildcard"),
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(LanewayError, match="is not a PCI address") as refusal:
        PciAddress.parse(text)
    assert refusal.value.code is ErrorCode.INVALID_ADDRESS
    assert refusal.value.detail == {"value": text}


@given(PARTS)
def test_text_and_parts_are_read_back(parts: tuple[int, int, int, int]) -> None:
    address = PciAddress.of(*parts)
    assert (address.domain, address.bus, address.slot, address.function) == parts
    assert PciAddress.parse(str(address)) == address
    assert f"{address:>20}".strip() == str(address)


@given(st.lists(PARTS))
def test_they_sort_in_bus_order(parts: list[tuple[int, int, int, int]]) -> None:
    assert sorted(PciAddress.of(*part) for part in parts) == [PciAddress.of(*part) for part in sorted(parts)]


@pytest.mark.parametrize("parts", [(-1, 0, 0, 0), (2**32, 0, 0, 0), (0, 256, 0, 0), (0, 0, 32, 0), (0, 0, 0, 8)])
def test_parts_out_of_range_are_refused(parts: tuple[int, int, int, int]) -> None:
    with pytest.raises(LanewayError, match="is not between 0 and"):
        PciAddress.of(*parts)
