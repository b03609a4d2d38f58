"""Where functions stand."""

import pytest

from laneway.domain.address import PciAddress
from laneway.hosts.topology import Place, Topology


def place(parent: str) -> Place:
    return Topology().place(parent)


def bridges(*texts: str) -> tuple[PciAddress, ...]:
    return tuple(map(PciAddress.parse, texts))


@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        pytest.param("pci0000:00", Place(("0000:00",), (), "0000:00"), id="on a root bus"),
        pytest.param(
            "pci0000:80/0000:80:03.0/0000:84:00.0",
            Place(("0000:80",), bridges("0000:80:03.0", "0000:84:00.0"), "0000:80/03.0/00.0"),
            id="bridges stand from the root down",
        ),
        pytest.param(
            "pci10000:00/10000:00:02.0",
            Place(("10000:00",), bridges("10000:00:02.0"), "10000:00/02.0"),
            id="a domain of 32 bits",
        ),
        pytest.param(
            "pci0000:64/0000:64:00.5/pci10001:00/10001:00:01.0",
            Place(("0000:64",), bridges("0000:64:00.5", "10001:00:01.0"), "0000:64/00.5/01.0"),
            id="VMD's function counts as a bridge to the domain that it makes",
        ),
        pytest.param(
            "platform/40000000.pcie/pci0000:00/0000:00:01.0",
            Place(("0000:00",), bridges("0000:00:01.0"), "0000:00/01.0"),
            id="a root below a platform device",
        ),
        pytest.param("", Place(), id="no place in the device tree"),
        pytest.param("platform/soc", Place(), id="no root on the way"),
    ],
)
def test_place(parent: str, expected: Place) -> None:
    assert place(parent) == expected


def test_the_path_of_a_function_has_its_hop_without_the_bus_number() -> None:
    assert place("pci0000:85/0000:85:00.0").path_of("0000:86:00.0") == "0000:85/00.0/00.0"
    assert place("").path_of("0000:86:00.0") is None


def test_a_place_is_worked_out_once_for_all_functions_below_it() -> None:
    topology = Topology()
    assert topology.place("pci0000:85/0000:85:00.0") is topology.place("pci0000:85/0000:85:00.0")
