"""Addresses and location paths, as Windows writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.address import PciAddress
from laneway.hosts.hyperv.location import (
    LocationPath,
    address_from_numbers,
    address_from_text,
    parse_location_path,
    pci_location_path,
)


@pytest.mark.parametrize(
    ("bus_number", "address", "expected"),
    [
        pytest.param(0, 0x1D0000, "0000:00:1d.0", id="the device stands in the upper half of the address"),
        pytest.param(0xF3, 7, "0000:f3:00.7", id="the function stands in its lower half"),
        pytest.param(0x12AB40, 0x20000, "12ab:40:02.0", id="the segment stands above the bus"),
        pytest.param(0x100, 0, "0001:00:00.0", id="256 is bus 0 of segment 1"),
        pytest.param(0xFF000005, 0, "0000:05:00.0", id="the reserved bits mean nothing"),
        pytest.param(5, 0x200000, None, id="there is no device 20"),
        pytest.param(5, 8, None, id="there is no function 8"),
        pytest.param(5, 0xFFFFFFFF, None, id="all ones are no address"),
    ],
)
def test_address_from_numbers(bus_number: int, address: int, expected: str | None) -> None:
    assert address_from_numbers(bus_number, address) == (None if expected is None else PciAddress.parse(expected))


@given(
    st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.integers(0, 0x1F), st.integers(0, 7), st.sampled_from(["PCI", "p"])
)
def test_numbers_and_text_tell_the_same(domain: int, bus: int, slot: int, function: int, word: str) -> None:
    packed = domain << 8 | bus
    expected = PciAddress.of(domain, bus, slot, function)
    assert address_from_numbers(packed, slot << 16 | function) == expected
    assert address_from_text(f"{word} {packed}, x {slot}, y {function}") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("PCI bus 23, device 31, function 6", "0000:17:1f.6", id="the numbers are decimal"),
        pytest.param("PCI-Bus 129, Gerät 0, Funktion 1", "0000:81:00.1", id="German"),
        pytest.param("PCI バス 2、デバイス 28、機能 0", "0000:02:1c.0", id="Japanese"),
        pytest.param("PCI segment 3 bus 7, device 1, function 0", "0003:07:01.0", id="a segment of its own"),
        pytest.param("PCI Slot 5 (PCI bus 9, device 2, function 0)", "0000:09:02.0", id="a slot before the address"),
        pytest.param("PCI bus 1223232, device 2, function 0", "12aa:40:02.0", id="the segment packed into the bus"),
        pytest.param("on PCI Express Root Port", None, id="no numbers"),
        pytest.param("Port_#0004.Hub_#0001", None, id="too few numbers"),
        pytest.param("PCI bus 4, device 32, function 0", None, id="no such device"),
        pytest.param("PCI segment 0 bus 300, device 0, function 0", None, id="no such bus"),
    ],
)
def test_address_from_text(text: str, expected: str | None) -> None:
    assert address_from_text(text) == (None if expected is None else PciAddress.parse(expected))


@given(st.text(alphabet="0123456789 (),.#abc", max_size=60))
def test_any_text_is_an_address_or_none(text: str) -> None:
    found = address_from_text(text)
    assert found is None or PciAddress.parse(str(found)) == found


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(["PCIROOT(0)#PCI(0100)", "ACPI(_SB_)#ACPI(PC00)"], "PCIROOT(0)#PCI(0100)", id="first"),
        pytest.param(["ACPI(_SB_)#ACPI(PC00)", "PCIROOT(0)#PCI(0100)"], "PCIROOT(0)#PCI(0100)", id="second"),
        pytest.param(["ACPI(_SB_)"], None, id="not there"),
        pytest.param([], None, id="no paths"),
    ],
)
def test_the_path_is_chosen_by_what_it_begins_with(paths: list[str], expected: str | None) -> None:
    assert pci_location_path(paths) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(
            "PCIROOT(A2)#PCI(1D03)#PCI(0001)", LocationPath("PCIROOT(A2)", ((0x1D, 3), (0, 1))), id="two hops, in hex"
        ),
        pytest.param("pciroot(0)#pci(0100)", LocationPath("PCIROOT(0)", ((1, 0),)), id="lower case"),
        pytest.param("PCIROOT(0)#PCI(0801)#USBROOT(0)#USB(3)", None, id="on past PCI"),
        pytest.param("PCIROOT(0)", None, id="the root itself"),
        pytest.param("ACPI(_SB_)#PCI(0100)", None, id="of ACPI"),
    ],
)
def test_parse_location_path(path: str, expected: LocationPath | None) -> None:
    assert parse_location_path(path) == expected


def test_what_is_above_a_path() -> None:
    path = parse_location_path("PCIROOT(0)#PCI(0100)#PCI(0000)#PCI(0200)")
    assert path is not None
    assert path.above == (LocationPath("PCIROOT(0)", ((1, 0),)), LocationPath("PCIROOT(0)", ((1, 0), (0, 0))))
