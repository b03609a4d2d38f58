"""A sync takes steps in proportion to the devices of a host, whatever it finds (rule D16)."""

import sys
from collections.abc import Callable

import pytest

from domain.hosts import pf, report, take, tracker, vf, wants
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.tracking.tracker import PciDeviceTracker

VFS = 16
SMALL, LARGE = 8, 32


def nics(number: int, **facts: object) -> list[PciFunction]:
    """PFs with their VFs, each function in an IOMMU group of its own."""
    found = []
    for bus in range(number):
        address = f"0000:{bus:02x}:00.0"
        found.append(pf(address, iommu_group=1_000 * bus, **facts))
        for n in range(VFS):
            place = f"0000:{bus:02x}:{1 + n // 8:02x}.{n % 8}"
            found.append(vf(place, address, vf_index=n, iommu_group=1_000 * bus + 1 + n, **facts))
    return found


def half_taken(number: int) -> PciDeviceTracker:
    """A host on which every PF has some VFs that are taken."""
    host = tracker(*nics(number, numa_node=0))
    for bus in range(number):
        take(host, f"vm{bus}", wants(count=VFS // 2, dev_type=DevType.VF))
    return host


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, in Python and in C: the same at each run, however busy the machine is."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("facts", "specs"),
    [
        pytest.param({"numa_node": 0}, [{"address": "*"}], id="an equal inventory"),
        pytest.param({"numa_node": 1}, [{"address": "*"}], id="every device changed"),
        pytest.param({"numa_node": 0}, [{"address": "*", "rack": "r1"}], id="new tags for every device"),
        pytest.param({"numa_node": 0}, [{"product_id": "154c"}], id="PFs that no spec admits any more"),
    ],
)
def test_four_times_the_devices_take_four_times_the_steps(facts: dict[str, object], specs: list[object]) -> None:
    def steps(number: int) -> int:
        host, newer = half_taken(number), report(*nics(number, **facts), specs=specs)
        return calls_of(lambda: host.sync(newer).tracker.pools())  # noqa: PLW0108 - the sync is what is counted, too

    few, many = steps(SMALL), steps(LARGE)
    assert few > SMALL
    assert many < few * LARGE / SMALL * 1.2
