"""Names from pci.ids."""

from pathlib import Path

import pytest

from laneway.hosts.pci_ids import PciNames

FILE = """\
#
#\tList of PCI ID's
#
0e11  Compaq Computer Corporation
\t0001  PCI to EISA Bridge
# a comment in the middle
\t0002  PCI to ISA Bridge
10de  NVIDIA Corporation
\t20b0  GA100 [A100 SXM4 40GB]
\t\t10de 1450  A card by NVIDIA
\t20b2  GA100 [A100 SXM4 80GB]

8086  Intel Corporation
\t1572  Ethernet Controller X710 for 10GbE SFP+
\t\t8086 0002  Ethernet Converged Network Adapter X710-2
ffff  Ill\xffegal

C 02  Network controller
\t00  Ethernet controller
C 03  Display controller
\t00  VGA compatible controller
\t\t00  VGA controller
\t02  3D controller
"""


@pytest.fixture
def names(tmp_path: Path) -> PciNames:
    (tmp_path / "pci.ids").write_bytes(FILE.encode("latin-1"))
    return PciNames((tmp_path / "none", tmp_path / "pci.ids"))


@pytest.mark.parametrize(
    ("vendor", "product", "expected"),
    [
        pytest.param("10de", "20b0", "NVIDIA Corporation GA100 [A100 SXM4 40GB]", id="vendor and device"),
        pytest.param("10de", "20b2", "NVIDIA Corporation GA100 [A100 SXM4 80GB]", id="the last of its vendor"),
        pytest.param("0e11", "0002", "Compaq Computer Corporation PCI to ISA Bridge", id="behind a comment"),
        pytest.param("10de", "1572", "NVIDIA Corporation", id="a device of another vendor is not this one's"),
        pytest.param("10de", "1450", "NVIDIA Corporation", id="a subsystem is no device"),
        pytest.param("1af4", "1041", None, id="an unknown vendor"),
        pytest.param("ffff", "0001", "Ill\ufffdegal", id="bytes that are no UTF-8"),
    ],
)
def test_devices(names: PciNames, vendor: str, product: str, expected: str | None) -> None:
    assert names(vendor, product) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("020000", "Ethernet controller", id="a subclass"),
        pytest.param("030200", "3D controller", id="the last subclass"),
        pytest.param("028000", "Network controller", id="an unknown subclass of a known class"),
        pytest.param("120000", None, id="an unknown class"),
    ],
)
def test_classes(names: PciNames, code: str, expected: str | None) -> None:
    assert names.class_name(code) == expected


def test_the_file_is_read_once_and_only_when_a_name_is_asked_for(names: PciNames, tmp_path: Path) -> None:
    (tmp_path / "pci.ids").write_text("10de  Another\n")
    assert names.vendor("10de") == "Another"
    (tmp_path / "pci.ids").unlink()
    assert names.vendor("10de") == "Another"
    assert names.vendor("8086") is None


def test_without_a_file_nothing_has_a_name(tmp_path: Path) -> None:
    names = PciNames((tmp_path / "none",))
    assert (names("10de", "20b0"), names.class_name("030000")) == (None, None)
