"""What every host driver has to do, as tests that its author runs with pytest.

Each class is one contract of ``laneway.interfaces.host_driver``. Derive from those that apply, and
give them their fixtures: drivers for hosts of the kind that the class names, real ones or made up.

    import pytest
    from laneway.hosts.conformance import HostDriverConformance

    class TestMyDriver(HostDriverConformance):
        @pytest.fixture
        def driver(self):
            return MyDriver(...)  # for a host that has functions

Nothing here changes a host; ``changing_conformance`` is for drivers that do. A test that fails says
what the contract wants.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import fields, replace
from threading import Thread
from typing import TypeVar

from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.interfaces.host_driver import (
    Ability,
    HostDriver,
    HostDriverFactory,
    HotplugEvent,
    WatchingHostDriver,
)
from laneway.interfaces.running_vms import VmObservingHostDriver

T = TypeVar("T")

_REQUIRED = frozenset({"address", "vendor_id", "product_id", "dev_type"})
_FACTS = frozenset(field.name for field in fields(PciFunction))
_CHANGES = frozenset({Ability.PREPARE, Ability.SET_VF_COUNT, Ability.CLEAN})
_NO_HOST = (ErrorCode.HOST_UNREACHABLE, ErrorCode.NO_PERMISSION)


class HostDriverConformance:
    """For any driver. Fixture ``driver``: for a host that has functions and does not change meanwhile."""

    most_seconds = 30.0
    """What one discovery may take. Set it to what is right for the driver's means."""

    # describe()

    def test_it_says_what_it_is_and_always_the_same(self, driver: HostDriver) -> None:
        told = driver.describe()
        driver.discover()
        assert told == driver.describe(), "describe() must not change"
        assert told.name, "a driver has a name"
        assert told.os_family, "a driver has a family of operating systems"

    def test_the_facts_that_it_claims_are_fields_of_a_function(self, driver: HostDriver) -> None:
        unknown = driver.describe().facts - _FACTS
        assert not unknown, f"facts that no function has: {sorted(unknown)}"

    def test_it_reports_no_fact_that_it_does_not_claim(self, driver: HostDriver) -> None:
        silent = _FACTS - _REQUIRED - driver.describe().facts
        told = {name for one in driver.discover().functions for name in silent if getattr(one, name) is not None}
        assert not told, f"facts that describe() does not name: {sorted(told)}"

    def test_it_has_the_methods_of_the_abilities_that_it_claims(self, driver: HostDriver) -> None:
        abilities = driver.describe().abilities
        if Ability.WATCH in abilities:
            assert callable(getattr(driver, "watch", None)), "the ability watch is the method watch()"
        for name in ("plan", "apply", "recover") if abilities & _CHANGES else ():
            assert callable(getattr(driver, name, None)), f"the abilities to change a host need the method {name}()"

    # discover()

    def test_discovery_ends(self, driver: HostDriver) -> None:
        _in_time(driver.discover, self.most_seconds)

    def test_it_finds_functions(self, driver: HostDriver) -> None:
        assert driver.discover().functions, "the host of this suite must have functions"

    def test_discovery_changes_nothing(self, driver: HostDriver) -> None:
        first, second = (replace(driver.discover(), captured_at=None) for _ in range(2))
        assert first == second, "two discoveries of an unchanged host must agree"

    def test_what_is_not_known_is_none(self, driver: HostDriver) -> None:
        _written_and_read(driver.discover())

    def test_the_inventory_is_the_same_after_it_was_written_and_read(self, driver: HostDriver) -> None:
        inventory = driver.discover()
        assert _written_and_read(inventory) == inventory, "values must have the types of their fields"

    def test_functions_stand_in_the_order_of_the_bus(self, driver: HostDriver) -> None:
        addresses = [function.address for function in driver.discover().functions]
        assert addresses == sorted(set(addresses)), "functions are sorted by address, and an address stands once"

    def test_a_function_has_each_of_its_interfaces_once(self, driver: HostDriver) -> None:
        for function in driver.discover().functions:
            names = [netdev.name for netdev in function.netdevs or ()]
            assert len(names) == len(set(names)), f"{function.address} has an interface twice: {names}"

    def test_numa_nodes_stand_in_order(self, driver: HostDriver) -> None:
        nodes = [node.id for node in driver.discover().numa_nodes]
        assert nodes == sorted(set(nodes)), "nodes are sorted by their numbers, and each stands once"

    def test_every_problem_says_what_is_wrong(self, driver: HostDriver) -> None:
        for problem in driver.discover().problems:
            assert problem.message, f"a problem of {problem.address} has no message"

    # what the facts of one function say of each other

    def test_the_type_follows_from_the_facts(self, driver: HostDriver) -> None:
        for function in driver.discover().functions:
            assert function.dev_type is _expected_type(function), f"{function.address} is {function.dev_type}"

    def test_only_virtual_functions_have_a_place_among_those_of_a_parent(self, driver: HostDriver) -> None:
        for function in driver.discover().functions:
            assert function.vf_index is None or function.parent_addr is not None, f"{function.address} has no PF"
            assert function.parent_addr != function.address, f"{function.address} is its own PF"

    def test_no_two_virtual_functions_of_a_parent_have_one_index(self, driver: HostDriver) -> None:
        places = [(one.parent_addr, one.vf_index) for one in driver.discover().functions if one.vf_index is not None]
        assert len(places) == len(set(places)), "an index stands for one VF of its PF"

    # running_vms(), of drivers that have it

    def test_a_function_has_one_vm_at_most(self, driver: HostDriver) -> None:
        functions = driver.discover().functions
        held = list(_held(driver, functions))
        assert len(held) == len(set(held)), "a function that two VMs claim is given to neither, and noted"
        strangers = set(held) - {function.address for function in functions}
        assert not strangers, f"a VM is given functions that the host does not list: {sorted(map(str, strangers))}"


class BrokenDeviceConformance:
    """For a driver that reads devices one by one.

    Fixture ``driver_with_broken_device``: for a host with functions that can be read, and one that cannot.
    """

    def test_a_broken_device_is_noted_and_hides_no_other(self, driver_with_broken_device: HostDriver) -> None:
        inventory = driver_with_broken_device.discover()
        assert inventory.functions, "the other functions must be found"
        known = {str(function.address) for function in inventory.functions}
        noted = {problem.address for problem in inventory.problems} - {None}
        assert noted, "the broken device must be noted with its address"
        assert noted - known, "a device without ids is no function"


class VanishingDeviceConformance:
    """For a driver that lists devices before it reads them.

    Fixtures ``driver_with_vanishing_device``: for a host with functions of which one is listed, and
    gone when it is read; ``vanishing``: the address of that one.
    """

    def test_a_device_that_vanishes_is_left_out_and_hides_no_other(
        self, driver_with_vanishing_device: HostDriver, vanishing: PciAddress
    ) -> None:
        inventory = driver_with_vanishing_device.discover()
        addresses = {function.address for function in inventory.functions}
        assert addresses, "the other functions must be found"
        assert vanishing not in addresses, "what is gone is no function of the host"

    def test_nothing_is_noted_of_a_device_that_vanishes(
        self, driver_with_vanishing_device: HostDriver, vanishing: PciAddress
    ) -> None:
        noted = {problem.address for problem in driver_with_vanishing_device.discover().problems}
        assert str(vanishing) not in noted, "that a device goes away is no problem of the host"


class UnreachableHostConformance:
    """Fixture ``unreachable_driver``: for a host of which nothing can be read at all."""

    def test_a_host_that_cannot_be_reached_is_an_error_with_a_reason(self, unreachable_driver: HostDriver) -> None:
        error = _refusal(unreachable_driver)
        assert error is not None, "an empty inventory would say that the host has no functions"
        assert error.code in _NO_HOST, f"the code must be one of {', '.join(_NO_HOST)}"
        assert error.message, "the message says what cannot be reached, and what would help"

    def test_what_a_driver_is_can_be_told_without_its_host(self, unreachable_driver: HostDriver) -> None:
        assert unreachable_driver.describe().name, "describe() touches nothing"


class WatchConformance:
    """For a driver with the ability ``watch``.

    Fixtures ``watching_driver``; ``plug``: to be called without arguments, after which the host has
    another function, or one less.
    """

    most_seconds = 30.0
    """What may pass between a change and its event, and between closing and the end."""

    def test_a_change_is_a_batch_of_events(
        self, watching_driver: WatchingHostDriver, plug: Callable[[], object]
    ) -> None:
        events = watching_driver.watch()
        plug()
        batch = _in_time(lambda: next(events), self.most_seconds)
        events.close()
        _in_time(lambda: list(events), self.most_seconds)
        assert batch, "a batch has events"
        assert all(isinstance(event, HotplugEvent) for event in batch), "events are HotplugEvents"

    def test_whoever_waits_is_told_of_the_end(self, watching_driver: WatchingHostDriver) -> None:
        events = watching_driver.watch()
        reader = Thread(target=lambda: list(events), daemon=True)
        reader.start()
        events.close()
        reader.join(self.most_seconds)
        assert not reader.is_alive(), "close() must end next() in another thread"

    def test_it_may_be_closed_again_and_has_no_more_events(self, watching_driver: WatchingHostDriver) -> None:
        events = watching_driver.watch()
        events.close()
        events.close()
        assert next(events, None) is None, "there are no more events once it is closed"


class FactoryConformance:
    """Fixture ``factory``: what the entry point names, called without arguments."""

    def test_it_says_why_it_cannot_work_or_makes_a_driver(self, factory: HostDriverFactory) -> None:
        reason = factory.unavailable()
        assert reason == factory.unavailable(), "the reason must not change"
        if reason is None:
            assert factory().describe().name, "a driver has a name"
        else:
            assert reason.strip(), "the reason says what is missing"


def _in_time(what: Callable[[], T], seconds: float) -> T:
    """What it gives or raises, if it ends in time. If it hangs it does so in a thread that ends with the process."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(what())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return done.result(seconds)
    except TimeoutError:
        raise AssertionError(f"it takes more than {seconds} s") from None


def _refusal(driver: HostDriver) -> LanewayError | None:
    try:
        driver.discover()
    except LanewayError as error:
        return error
    return None


def _written_and_read(inventory: Inventory) -> Inventory:
    written = encode_inventory(inventory)
    try:
        return decode_inventory(written)
    except LanewayError as error:
        raise AssertionError(f"the inventory breaks the contract laneway.inventory/1: {error.message}") from error


def _held(driver: HostDriver, functions: tuple[PciFunction, ...]) -> Iterator[PciAddress]:
    if isinstance(driver, VmObservingHostDriver):
        for vm in driver.running_vms(functions).vms:
            yield from vm.addresses


def _expected_type(function: PciFunction) -> DevType:
    """The inventory contract: vdpa, else type-VF if it has a PF, else type-PF if it can have VFs, else type-PCI."""
    if function.vdpa is not None:
        return DevType.VDPA
    if function.parent_addr is not None:
        return DevType.VF
    sriov = function.sriov
    can_have_vfs = sriov is not None and (sriov.num_vfs if sriov.total_vfs is None else sriov.total_vfs) != 0
    return DevType.PF if can_have_vfs else DevType.PCI
