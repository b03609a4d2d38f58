"""The suite for authors of drivers finds what is wrong: for every clause a driver that breaks it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import pytest

from contracts.examples import FULL_FUNCTION, FULL_INVENTORY
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, Inventory, NumaNode, PciFunction, Problem
from laneway.hosts import conformance
from laneway.hosts.conformance import (
    BrokenDeviceConformance,
    FactoryConformance,
    HostDriverConformance,
    UnreachableHostConformance,
    VanishingDeviceConformance,
    WatchConformance,
)
from laneway.hosts.snapshot import FACTS
from laneway.interfaces.host_driver import Ability, DriverCapabilities, HotplugEvent
from laneway.interfaces.running_vms import RunningVm, RunningVms

TWIN = replace(FULL_FUNCTION, address=PciAddress.parse("0000:86:02.2"))
OTHER = replace(TWIN, vf_index=2)
GOOD = DriverCapabilities(name="made up", os_family="any", facts=FACTS)
AT_ONCE = 0.05


class Driver:
    """A driver that says what it is given to say, as often as it is asked; the last answer stands."""

    def __init__(self, *inventories: Inventory, told: Sequence[DriverCapabilities] = (GOOD,)) -> None:
        self._inventories, self._told = list(inventories), list(told)

    def describe(self) -> DriverCapabilities:
        return self._told.pop(0) if len(self._told) > 1 else self._told[0]

    def discover(self) -> Inventory:
        return self._inventories.pop(0) if len(self._inventories) > 1 else self._inventories[0]


class Hanging(Driver):
    def discover(self) -> Inventory:
        Event().wait()
        raise AssertionError


class Refusing(Driver):
    """Its host cannot be reached, which it says with ``code`` and ``message``."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(FULL_INVENTORY)
        self._error = LanewayError(code, message)

    def discover(self) -> Inventory:
        raise self._error


class Owning(Driver):
    def __init__(self, *owners: PciAddress) -> None:
        super().__init__(FULL_INVENTORY)
        self._owners = owners

    def running_vms(self, functions: Sequence[PciFunction]) -> RunningVms:
        vms = [
            RunningVm(consumer=f"vm-{number}", uuid=None, pid=None, devices={address: Attach.VFIO}, source="made up")
            for number, address in enumerate(self._owners)
        ]
        return RunningVms(vms=tuple(vms))


class Events:
    """Gives ``batches``; then it hangs for ever, or ends when it is closed if ``ends``."""

    def __init__(self, *batches: Any, ends: bool = True) -> None:
        self._batches = iter(batches)
        self._ends = ends
        self._end = Event()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        for batch in self._batches:
            return batch
        self._end.wait()
        raise StopIteration

    def close(self) -> None:
        if self._ends:
            self._end.set()


class Watching(Driver):
    def __init__(self, *batches: Any, ends: bool = True) -> None:
        super().__init__(FULL_INVENTORY)
        self._events = Events(*batches, ends=ends)

    def watch(self) -> Events:
        return self._events


class Factory:
    """Is unavailable for these reasons, one after the other; else makes a driver."""

    def __init__(self, *reasons: str | None, makes: Callable[[], Driver] = lambda: Driver(FULL_INVENTORY)) -> None:
        self._reasons = list(reasons)
        self._makes = makes

    def unavailable(self) -> str | None:
        return self._reasons.pop(0) if len(self._reasons) > 1 else self._reasons[0]

    def __call__(self) -> Driver:
        return self._makes()


def host(*functions: PciFunction, **facts: Any) -> Driver:
    return Driver(replace(FULL_INVENTORY, functions=functions or FULL_INVENTORY.functions, **facts))


def describing(**told: Any) -> Driver:
    return Driver(FULL_INVENTORY, told=[replace(GOOD, **told)])


CLAUSES: list[tuple[Callable[..., None], dict[str, Any]]] = [
    (
        HostDriverConformance.test_it_says_what_it_is_and_always_the_same,
        {
            "another name each time": Driver(FULL_INVENTORY, told=[GOOD, replace(GOOD, name="another")]),
            "no name": describing(name=""),
            "no operating system": describing(os_family=""),
        },
    ),
    (
        HostDriverConformance.test_the_facts_that_it_claims_are_fields_of_a_function,
        {"a colour": describing(facts=FACTS | {"colour"})},
    ),
    (
        HostDriverConformance.test_it_reports_no_fact_that_it_does_not_claim,
        {"it knows bars, and does not say so": describing(facts=FACTS - {"bars"})},
    ),
    (
        HostDriverConformance.test_it_has_the_methods_of_the_abilities_that_it_claims,
        {"it cannot watch": describing(abilities=frozenset({Ability.WATCH}))},
    ),
    (HostDriverConformance.test_discovery_ends, {"it waits for what never comes": Hanging(FULL_INVENTORY)}),
    (HostDriverConformance.test_it_finds_functions, {"none": Driver(Inventory(functions=()))}),
    (
        HostDriverConformance.test_discovery_changes_nothing,
        {"another host each time": Driver(FULL_INVENTORY, Inventory(functions=()))},
    ),
    (
        HostDriverConformance.test_what_is_not_known_is_none,
        {
            "-1": host(replace(FULL_FUNCTION, numa_node=-1)),
            "no text": host(replace(FULL_FUNCTION, driver="")),
            "an id in upper case": host(replace(FULL_FUNCTION, vendor_id="10DE")),
            "an id with 0x": host(replace(FULL_FUNCTION, class_code="0x0200")),
        },
    ),
    (
        HostDriverConformance.test_the_inventory_is_the_same_after_it_was_written_and_read,
        {"a list in place of a tuple": host(replace(FULL_FUNCTION, reset_methods=["flr"]))},  # type: ignore[arg-type]
    ),
    (
        HostDriverConformance.test_functions_stand_in_the_order_of_the_bus,
        {"turned": host(OTHER, FULL_FUNCTION), "twice": host(FULL_FUNCTION, FULL_FUNCTION)},
    ),
    (
        HostDriverConformance.test_a_function_has_each_of_its_interfaces_once,
        {"twice": host(replace(FULL_FUNCTION, netdevs=(FULL_FUNCTION.netdevs or ()) * 2))},
    ),
    (
        HostDriverConformance.test_numa_nodes_stand_in_order,
        {
            "turned": host(numa_nodes=(NumaNode(id=1), NumaNode(id=0))),
            "twice": host(numa_nodes=(NumaNode(id=0), NumaNode(id=0))),
        },
    ),
    (
        HostDriverConformance.test_every_problem_says_what_is_wrong,
        {"an address alone": host(problems=(Problem(address="0000:86:02.1"),))},
    ),
    (
        HostDriverConformance.test_the_type_follows_from_the_facts,
        {
            "a vDPA device that is said to be a PF": host(replace(FULL_FUNCTION, dev_type=DevType.PF)),
            "a VF that is said to be a PF": host(replace(FULL_FUNCTION, vdpa=None, dev_type=DevType.PF)),
            "a PF that is said to be neither": host(
                replace(FULL_FUNCTION, vdpa=None, parent_addr=None, vf_index=None, dev_type=DevType.PCI)
            ),
            "a function without VFs that is said to be a PF": host(
                replace(FULL_FUNCTION, vdpa=None, parent_addr=None, vf_index=None, sriov=None, dev_type=DevType.PF)
            ),
        },
    ),
    (
        HostDriverConformance.test_only_virtual_functions_have_a_place_among_those_of_a_parent,
        {
            "an index without a PF": host(replace(FULL_FUNCTION, parent_addr=None)),
            "its own PF": host(replace(FULL_FUNCTION, parent_addr=FULL_FUNCTION.address)),
        },
    ),
    (
        HostDriverConformance.test_no_two_virtual_functions_of_a_parent_have_one_index,
        {"two of index 1": host(FULL_FUNCTION, TWIN)},
    ),
    (
        HostDriverConformance.test_a_function_has_one_vm_at_most,
        {
            "two": Owning(FULL_FUNCTION.address, FULL_FUNCTION.address),
            "a function that is not there": Owning(TWIN.address),
        },
    ),
    (
        BrokenDeviceConformance.test_a_broken_device_is_noted_and_hides_no_other,
        {
            "not noted": host(problems=()),
            "noted without an address": host(problems=(Problem(message="something is wrong"),)),
            "a function all the same": host(problems=(Problem(address=str(FULL_FUNCTION.address), message="no ids"),)),
            "hides the others": Driver(Inventory(functions=(), problems=FULL_INVENTORY.problems)),
        },
    ),
    (
        VanishingDeviceConformance.test_a_device_that_vanishes_is_left_out_and_hides_no_other,
        {"still there": host(FULL_FUNCTION, TWIN), "hides the others": Driver(Inventory(functions=()))},
    ),
    (
        VanishingDeviceConformance.test_nothing_is_noted_of_a_device_that_vanishes,
        {"noted": host(problems=(Problem(address=str(TWIN.address), message="it has no ids"),))},
    ),
    (
        UnreachableHostConformance.test_a_host_that_cannot_be_reached_is_an_error_with_a_reason,
        {
            "a host without functions": Driver(Inventory(functions=())),
            "a fault of ours": Refusing(ErrorCode.INTERNAL_ERROR, "it broke"),
            "no reason": Refusing(ErrorCode.HOST_UNREACHABLE, ""),
        },
    ),
    (
        UnreachableHostConformance.test_what_a_driver_is_can_be_told_without_its_host,
        {"it does not know its name": describing(name="")},
    ),
    (
        WatchConformance.test_a_change_is_a_batch_of_events,
        {
            "no event": Watching(),
            "an empty batch": Watching(()),
            "an address in place of an event": Watching((TWIN.address,)),
        },
    ),
    (WatchConformance.test_whoever_waits_is_told_of_the_end, {"close() does nothing": Watching(ends=False)}),
    (
        WatchConformance.test_it_may_be_closed_again_and_has_no_more_events,
        {"it has": Watching((HotplugEvent(),))},
    ),
    (
        FactoryConformance.test_it_says_why_it_cannot_work_or_makes_a_driver,
        {
            "another reason each time": Factory("it rains", "it snows"),
            "a blank reason": Factory(" "),
            "a driver without a name": Factory(None, makes=lambda: describing(name="")),
        },
    ),
]
FIXTURES: dict[type[Any], str] = {
    HostDriverConformance: "driver",
    BrokenDeviceConformance: "driver_with_broken_device",
    VanishingDeviceConformance: "driver_with_vanishing_device",
    UnreachableHostConformance: "unreachable_driver",
    WatchConformance: "watching_driver",
    FactoryConformance: "factory",
}
MORE_FIXTURES: dict[str, dict[str, Any]] = {
    **{name: {"vanishing": TWIN.address} for name in vars(VanishingDeviceConformance) if name.startswith("test_")},
    WatchConformance.test_a_change_is_a_batch_of_events.__name__: {"plug": lambda: None},
}


def clauses(suite: type[Any]) -> set[str]:
    return {name for name in vars(suite) if name.startswith("test_")}


def suite_of(clause: Callable[..., None]) -> type[Any]:
    return next(suite for suite in FIXTURES if clause.__name__ in clauses(suite))


@pytest.mark.parametrize(
    ("clause", "wrong"),
    [
        pytest.param(clause, wrong, id=f"{clause.__name__.removeprefix('test_')}: {name}")
        for clause, drivers in CLAUSES
        for name, wrong in drivers.items()
    ],
)
def test_the_suite_finds(clause: Callable[..., None], wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = suite_of(clause)
    if hasattr(suite, "most_seconds"):
        monkeypatch.setattr(suite, "most_seconds", AT_ONCE)
    with pytest.raises(AssertionError):
        clause(suite(), **{FIXTURES[suite]: wrong}, **MORE_FIXTURES.get(clause.__name__, {}))


def test_every_clause_has_a_driver_that_breaks_it() -> None:
    suites = {value for value in vars(conformance).values() if isinstance(value, type) and clauses(value)}
    assert suites == set(FIXTURES)
    assert {clause.__name__ for clause, _ in CLAUSES} == set().union(*map(clauses, suites))


def test_a_discovery_that_fails_is_told_as_it_fails() -> None:
    with pytest.raises(LanewayError, match="no driver"):
        HostDriverConformance().test_discovery_ends(Refusing(ErrorCode.HOST_UNREACHABLE, "no driver"))
