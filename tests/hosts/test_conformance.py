"""The suite for authors of drivers, run on ours; and that it finds what is wrong with others."""

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.examples import FULL_FUNCTION, FULL_INVENTORY
from hosts.sysfs_builder import SysfsBuilder
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, Inventory
from laneway.hosts.conformance import BrokenDeviceConformance, HostDriverConformance
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.snapshot import SnapshotHostDriver
from laneway.interfaces.host_driver import HostDriver


def linux(root: Path) -> SysfsBuilder:
    host = SysfsBuilder(root)
    card = host.function("0000:81:00.0", driver="mlx5_core", total_vfs=8, iommu_group=1, numa_node=0)
    card.netdev("ens1f0np0")
    card.vf("0000:81:00.1", "101e", iommu_group=2).vdpa("vdpa0")
    card.vf("0000:81:00.2", "101e", iommu_group=3).netdev("ens1v1")
    host.numa_node(0, cpus="0-3", distances="10", socket=0)
    return host


class TestLinux(HostDriverConformance):
    @pytest.fixture
    def driver(self, tmp_path: Path) -> HostDriver:
        return LinuxHostDriver(linux(tmp_path).root)


class TestLinuxWithABrokenDevice(BrokenDeviceConformance):
    @pytest.fixture
    def driver_with_broken_device(self, tmp_path: Path) -> HostDriver:
        host = linux(tmp_path)
        host.broken("0000:82:00.0")
        return LinuxHostDriver(host.root)


class TestSnapshot(HostDriverConformance):
    @pytest.fixture
    def driver(self) -> HostDriver:
        return SnapshotHostDriver(FULL_INVENTORY)


SUITE = HostDriverConformance()


class Forgetful(SnapshotHostDriver):
    """Reports another host each time."""

    def discover(self) -> Inventory:
        found = super().discover()
        self._source = replace(found, functions=found.functions[:-1])
        return found


class Modest(SnapshotHostDriver):
    """Claims one fact that no function has, and none of those that it reports."""

    def describe(self):  # type: ignore[no-untyped-def]
        return replace(super().describe(), facts=frozenset({"colour"}))


TWIN = replace(FULL_FUNCTION, address=PciAddress.parse("0000:86:02.2"))
TWO_OF_ONE_INDEX = replace(FULL_INVENTORY, functions=(FULL_FUNCTION, TWIN))


@pytest.mark.parametrize(
    ("wrong", "test"),
    [
        pytest.param(SnapshotHostDriver(Inventory(functions=())), SUITE.test_it_finds_functions, id="no functions"),
        pytest.param(Forgetful(FULL_INVENTORY), SUITE.test_discovery_changes_nothing, id="another host each time"),
        pytest.param(
            Modest(FULL_INVENTORY), SUITE.test_the_facts_that_it_claims_are_fields_of_a_function, id="an unknown fact"
        ),
        pytest.param(
            Modest(FULL_INVENTORY), SUITE.test_it_reports_no_fact_that_it_does_not_claim, id="facts not claimed"
        ),
        pytest.param(
            SnapshotHostDriver(Inventory(functions=(replace(FULL_FUNCTION, dev_type=DevType.PF),))),
            SUITE.test_the_type_follows_from_the_facts,
            id="a wrong type",
        ),
        pytest.param(
            SnapshotHostDriver(Inventory(functions=(replace(FULL_FUNCTION, parent_addr=None),))),
            SUITE.test_only_virtual_functions_have_a_place_among_those_of_a_parent,
            id="an index without a PF",
        ),
        pytest.param(
            SnapshotHostDriver(TWO_OF_ONE_INDEX),
            SUITE.test_no_two_virtual_functions_of_a_parent_have_one_index,
            id="two VFs of one index",
        ),
    ],
)
def test_the_suite_finds(wrong: HostDriver, test) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AssertionError):
        test(wrong)


def test_the_suite_finds_a_broken_device_that_is_not_noted() -> None:
    driver = SnapshotHostDriver(replace(FULL_INVENTORY, problems=()))
    with pytest.raises(AssertionError, match="must be noted"):
        BrokenDeviceConformance().test_a_broken_device_is_noted_and_hides_no_other(driver)
