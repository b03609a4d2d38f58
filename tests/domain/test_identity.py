"""What a function is known by: what tells two apart, and which one of a host is the one that was recorded."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.hosts import at, function, pf, vf
from laneway.domain.identity import Census, described, difference, identifying, is_surely
from laneway.domain.inventory import DevType, PciFunction, Vpd

HERE, THERE, ELSEWHERE = "0000:3b:00.0", "0000:3c:00.0", "0000:5e:00.0"
FIRST, SECOND = "0000:3a/00.0/00.0", "0000:3a/01.0/00.0"


def card(address: str = HERE, *, serial: str | None = None, **facts: Any) -> PciFunction:
    vpd = None if serial is None else Vpd(card_serial_number=serial)
    return function(address, vpd=vpd, **{"subsystem_vendor_id": "8086", "subsystem_id": "0001", **facts})


FULL = card(serial="S1", device_serial_number="00-00-c9-ff-ff-00-00-01", path=FIRST)


@pytest.mark.parametrize(
    ("recorded", "found", "said"),
    [
        pytest.param(FULL, FULL, None, id="the same facts"),
        pytest.param(FULL, None, "nothing is there", id="nothing"),
        pytest.param(card(), card(product_id="1572"), "it is 8086:1572, not 8086:37c8", id="other ids"),
        pytest.param(card(), card(vendor_id="10de"), "it is 10de:37c8, not 8086:37c8", id="another vendor"),
        pytest.param(
            card(), card(subsystem_id="0002"), "its subsystem is 8086:0002, not 8086:0001", id="another subsystem"
        ),
        pytest.param(card(), card(subsystem_id=None), None, id="a subsystem that is not known"),
        pytest.param(
            card(serial="S1"),
            card(serial="S2"),
            "it is 8086:37c8 with serial S2, not 8086:37c8 with serial S1",
            id="another serial in the VPD",
        ),
        pytest.param(
            card(device_serial_number="00-01"),
            card(device_serial_number="00-02"),
            "it is 8086:37c8 with serial 00-02, not 8086:37c8 with serial 00-01",
            id="another device serial number",
        ),
        pytest.param(
            card(serial="S1", device_serial_number="00-01"),
            card(serial="S1", device_serial_number="00-02"),
            "its serial number is another",
            id="one of two serials is another",
        ),
        pytest.param(card(serial="S1"), card(), None, id="a serial that cannot be read now"),
        pytest.param(card(), card(serial="S1"), None, id="a serial that could not be read then"),
        pytest.param(card(serial="S1"), card(device_serial_number="00-01"), None, id="serials of two kinds"),
        pytest.param(card(serial="0000"), card(serial="S1"), None, id="a serial that was never programmed"),
        pytest.param(card(path=FIRST), card(path=SECOND), f"it is at {SECOND}, not at {FIRST}", id="another slot"),
        pytest.param(
            card(path=FIRST, serial="S1"), card(path=SECOND, serial="S1"), None, id="the same serial in another slot"
        ),
        pytest.param(
            card(path=FIRST, serial="S1"),
            card(path=SECOND),
            f"it is at {SECOND}, not at {FIRST}",
            id="another slot and a serial that cannot be read",
        ),
        pytest.param(card(path=FIRST), card(), None, id="a path that is not known"),
        pytest.param(
            card(path=FIRST), card(path="0000:40/00.0/00.0"), "it is at 0000:40/00.0/00.0", id="the same hops elsewhere"
        ),
        pytest.param(
            card(serial="S1"),
            card("0000:3b:00.1", serial="S1"),
            "it is function 00.1 of its card, not 00.0",
            id="another function of the card",
        ),
        pytest.param(FULL, replace(FULL, dev_type=DevType.PF, driver="vfio-pci", numa_node=3), None, id="other facts"),
    ],
)
def test_two_functions_are_told_apart(recorded: PciFunction, found: PciFunction | None, said: str | None) -> None:
    result = difference(recorded, found)
    assert result == said if said is None else result is not None and said in result


PF, OTHER_PF = "0000:81:00.0", "0000:81:00.1"
VF = vf("0000:81:02.0", PF, vf_index=0, path="0000:80/00.0/00.0+vf0")


@pytest.mark.parametrize(
    ("recorded", "found", "said"),
    [
        pytest.param(VF, replace(VF, address=at("0000:82:02.0"), parent_addr=at("0000:82:00.0")), None, id="moved"),
        pytest.param(VF, replace(VF, vf_index=1, path=None), "it is VF 1 of its PF, not VF 0", id="another VF"),
        pytest.param(VF, replace(VF, parent_addr=at(OTHER_PF), path=None), "it is function 00.1", id="another PF"),
        pytest.param(VF, replace(VF, path="0000:80/01.0/00.0+vf0"), "it is at", id="a VF of a card in another slot"),
        pytest.param(VF, replace(VF, vf_index=None, parent_addr=None, path=None), None, id="nothing known of its PF"),
        pytest.param(VF, replace(VF, dev_type=DevType.VDPA), None, id="it is a vDPA device now"),
        pytest.param(VF, function("0000:81:02.0", product_id="154c"), "it is no VF", id="not a VF"),
        pytest.param(pf(PF), vf(PF, OTHER_PF, product_id="1572"), "it is a VF", id="a VF with the ids of a PF"),
    ],
)
def test_vfs_are_told_apart_by_their_pf_and_index(recorded: PciFunction, found: PciFunction, said: str | None) -> None:
    result = difference(recorded, found)
    assert result == said if said is None else result is not None and said in result


def whereabouts(recorded: PciFunction, *functions: PciFunction) -> list[str]:
    census = Census({one.address: one for one in functions})
    return [str(found.address) for found in census.whereabouts(recorded)]


@pytest.mark.parametrize(
    ("recorded", "functions", "expected"),
    [
        pytest.param(card(serial="S1"), [card(HERE, serial="S2"), card(THERE, serial="S1")], [THERE], id="by serial"),
        pytest.param(card(path=FIRST), [card(HERE, path=SECOND), card(THERE, path=FIRST)], [THERE], id="by path"),
        pytest.param(
            card(path=FIRST, serial="S1"),
            [card(HERE, path=FIRST, serial="S2"), card(THERE, path=SECOND, serial="S1")],
            [THERE],
            id="a serial rather than a path: two cards changed places",
        ),
        pytest.param(
            card(path=FIRST, serial="S1"),
            [card(HERE, path=FIRST), card(THERE, path=SECOND, serial="S1")],
            [THERE],
            id="a serial rather than a path at which no serial can be read",
        ),
        pytest.param(
            card(path=FIRST, serial="S1"),
            [card(HERE, path=SECOND, serial="S1"), card(THERE, path=FIRST, serial="S1")],
            [THERE],
            id="both rather than a serial: two cards with one serial",
        ),
        pytest.param(
            card(serial="S1"),
            [card(HERE, serial="S1"), card(THERE, serial="S1")],
            [HERE],
            id="the same address where two cards have one serial",
        ),
        pytest.param(
            card(serial="S1"),
            [card(THERE, serial="S1"), card(ELSEWHERE, serial="S1")],
            [THERE, ELSEWHERE],
            id="two with one serial, and none at the address",
        ),
        pytest.param(
            card(path=FIRST),
            [card(THERE, path=FIRST.replace("3a", "3b")), card(ELSEWHERE, path=SECOND.replace("3a", "3b"))],
            [THERE],
            id="the hops below a root that was renumbered",
        ),
        pytest.param(
            card(path=FIRST),
            [card(THERE, path="0000:40/00.0/00.0"), card(ELSEWHERE, path=SECOND)],
            [],
            id="the same hops below another root, where the first is still there",
        ),
        pytest.param(card(), [card(THERE)], [], id="nothing that proves anything"),
        pytest.param(
            card(serial="S1"),
            [card("0000:3c:00.1", serial="S1"), card(THERE, serial="S1", product_id="1572")],
            [],
            id="another function, and other ids, of the card",
        ),
        pytest.param(
            VF,
            [pf("0000:82:00.0", path="0000:80/00.0/00.0"), replace(VF, address=at("0000:82:02.0"))],
            ["0000:82:02.0"],
            id="a VF by its path",
        ),
    ],
)
def test_the_recorded_function_is_found_on_a_host(
    recorded: PciFunction, functions: list[PciFunction], expected: list[str]
) -> None:
    assert whereabouts(recorded, *functions) == expected


def test_a_function_is_described_by_its_ids_and_its_serial() -> None:
    assert described(card(serial="S1")) == "8086:37c8 with serial S1"
    assert described(card(device_serial_number="00-01")) == "8086:37c8 with serial 00-01"
    assert described(card()) == "8086:37c8"


FUNCTIONS = st.builds(
    lambda bus, serial, number, path, product: card(
        f"0000:{bus:02x}:00.0", serial=serial, device_serial_number=number, path=path, product_id=product
    ),
    st.integers(1, 4),
    st.sampled_from([None, "S1", "S2"]),
    st.sampled_from([None, "N1", "N2"]),
    st.sampled_from([None, FIRST, SECOND]),
    st.sampled_from(["37c8", "37c9"]),
)


@given(recorded=FUNCTIONS, found=FUNCTIONS)
def test_what_identifies_a_function_is_all_that_is_asked_of_it(recorded: PciFunction, found: PciFunction) -> None:
    assert difference(identifying(recorded), identifying(found)) == difference(recorded, found)
    assert (difference(recorded, found) is None) == (difference(found, recorded) is None)
    assert difference(recorded, recorded) is None


@given(recorded=FUNCTIONS, functions=st.lists(FUNCTIONS, max_size=5))
def test_what_is_surely_the_recorded_function_is_found_as_it(
    recorded: PciFunction, functions: list[PciFunction]
) -> None:
    here = {one.address: one for one in functions}
    at_its_address = here.get(recorded.address)
    if at_its_address is not None and is_surely(recorded, at_its_address):
        paths = [one.path for one in here.values()]
        assert Census(here).whereabouts(recorded) in ((), (at_its_address,)) or len(set(paths)) < len(paths)
