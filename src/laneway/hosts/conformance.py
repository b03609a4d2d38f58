"""What every host driver has to do, as tests that its author can run with pytest.

import pytest
from laneway.hosts.conformance import BrokenDeviceConformance, HostDriverConformance

class TestMyDriver(HostDriverConformance):
    @pytest.fixture
    def driver(self):
        return MyDriver(...)

class TestMyDriverOnABrokenHost(BrokenDeviceConformance):
    @pytest.fixture
    def driver_with_broken_device(self):
        return MyDriver(...)  # a host with a function that can be read and one that cannot
"""

from dataclasses import fields, replace

from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.inventory import DevType, PciFunction
from laneway.interfaces.host_driver import HostDriver

_REQUIRED = frozenset({"address", "vendor_id", "product_id", "dev_type"})
_FACTS = frozenset(field.name for field in fields(PciFunction))


class HostDriverConformance:
    """For any driver; needs the fixture ``driver``: one for a host that has functions."""

    def test_it_says_what_it_is_and_always_the_same(self, driver: HostDriver) -> None:
        told = driver.describe()
        assert told == driver.describe(), "describe() must not change"
        assert told.name, "a driver has a name"
        assert told.os_family, "a driver has a family of operating systems"

    def test_the_facts_that_it_claims_are_fields_of_a_function(self, driver: HostDriver) -> None:
        unknown = driver.describe().facts - _FACTS
        assert not unknown, f"facts that no function has: {sorted(unknown)}"

    def test_it_reports_no_fact_that_it_does_not_claim(self, driver: HostDriver) -> None:
        silent = _FACTS - _REQUIRED - driver.describe().facts
        told = {
            name for function in driver.discover().functions for name in silent if getattr(function, name) is not None
        }
        assert not told, f"facts that describe() does not name: {sorted(told)}"

    def test_it_finds_functions(self, driver: HostDriver) -> None:
        assert driver.discover().functions, "the host of this suite must have functions"

    def test_discovery_changes_nothing(self, driver: HostDriver) -> None:
        first, second = (replace(driver.discover(), captured_at=None) for _ in range(2))
        assert first == second, "two discoveries of an unchanged host must agree"

    def test_the_inventory_fulfils_the_contract(self, driver: HostDriver) -> None:
        inventory = driver.discover()
        assert decode_inventory(encode_inventory(inventory)) == inventory, "it must survive being written and read"

    def test_the_type_follows_from_the_facts(self, driver: HostDriver) -> None:
        for function in driver.discover().functions:
            assert function.dev_type is _expected_type(function), f"{function.address} is {function.dev_type}"

    def test_only_virtual_functions_have_a_place_among_those_of_a_parent(self, driver: HostDriver) -> None:
        for function in driver.discover().functions:
            assert function.vf_index is None or function.parent_addr is not None, f"{function.address} has no PF"
            assert function.parent_addr != function.address, f"{function.address} is its own PF"

    def test_no_two_virtual_functions_of_a_parent_have_one_index(self, driver: HostDriver) -> None:
        places = [(f.parent_addr, f.vf_index) for f in driver.discover().functions if f.vf_index is not None]
        assert len(places) == len(set(places)), "an index stands for one VF of its PF"


class BrokenDeviceConformance:
    """For a driver that reads devices; needs the fixture ``driver_with_broken_device``.

    Its host has functions that can be read, and one that cannot.
    """

    def test_a_broken_device_is_noted_and_hides_no_other(self, driver_with_broken_device: HostDriver) -> None:
        inventory = driver_with_broken_device.discover()
        assert inventory.functions, "the other functions must be found"
        known = {str(function.address) for function in inventory.functions}
        noted = {problem.address for problem in inventory.problems} - {None}
        assert noted, "the broken device must be noted with its address"
        assert noted - known, "a device without ids is no function"


def _expected_type(function: PciFunction) -> DevType:
    """The inventory contract: vdpa, else type-VF if it has a PF, else type-PF if it can have VFs, else type-PCI."""
    if function.vdpa is not None:
        return DevType.VDPA
    if function.parent_addr is not None:
        return DevType.VF
    sriov = function.sriov
    can_have_vfs = sriov is not None and bool(sriov.total_vfs or (sriov.total_vfs is None and sriov.num_vfs))
    return DevType.PF if can_have_vfs else DevType.PCI
