"""How functions do, on trees of files."""

import pytest

from hosts.host_tree import HostTreeBuilder
from laneway.domain.address import PciAddress
from laneway.domain.tracking.health import Health
from laneway.hosts.linux.health import read_health
from laneway.hosts.linux.tree import HostTree

ADDRESS = PciAddress.parse("0000:3b:00.0")
AER = "Undefined 0\nDLP {0}\nSDES 0\nTLP 0\nTOTAL_ERR_FATAL {0}\n"
ONES = b"\xff" * 64
LIVE = bytes.fromhex("8680ca1007041000010000020000800000") + bytes(47)
VF = b"\xff\xff\xff\xff" + LIVE[4:]


def health(host: HostTreeBuilder) -> Health:
    return read_health(HostTree(host.root), [ADDRESS])[ADDRESS]


def function(host: HostTreeBuilder, config: bytes | None, **attributes: str) -> None:
    place = host.function(str(ADDRESS))
    for name, text in attributes.items():
        host.write(f"sys/devices/{place}/{name}", text)
    if config is not None:
        (host.root / f"sys/devices/{place}/config").write_bytes(config)


@pytest.mark.parametrize(
    ("config", "expected"),
    [(LIVE, False), (VF, False), (ONES, True), (b"", None), (ONES[:8], None), (None, None)],
    ids=["a header", "a VF, whose ids are ones", "ones", "nothing", "less than a header", "no file"],
)
def test_its_configuration_space_has(host: HostTreeBuilder, config: bytes | None, expected: bool | None) -> None:
    function(host, config)
    assert health(host).reads_all_ones is expected


def test_one_that_is_off_is_not_woken_up(host: HostTreeBuilder) -> None:
    function(host, ONES, power_state="D3cold\n")
    assert health(host).reads_all_ones is None


def test_one_that_sleeps_lightly_is_looked_at(host: HostTreeBuilder) -> None:
    function(host, ONES, power_state="D3hot\n")
    assert health(host).reads_all_ones is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [(AER.format(0), 0), (AER.format(12), 12), ("TOTAL_ERR_FATAL many\n", None), ("", None)],
    ids=["none", "twelve", "no number", "an empty file"],
)
def test_its_fatal_errors_are(host: HostTreeBuilder, text: str, expected: int | None) -> None:
    function(host, LIVE, aer_dev_fatal=text)
    assert health(host).fatal_errors == expected


def test_one_without_error_reporting_has_no_count(host: HostTreeBuilder) -> None:
    function(host, LIVE)
    assert health(host).fatal_errors is None


def test_one_that_is_gone_is_left_out(host: HostTreeBuilder) -> None:
    function(host, LIVE)
    gone = PciAddress.parse("0000:5e:00.0")
    assert read_health(HostTree(host.root), [gone, ADDRESS]).keys() == {ADDRESS}
