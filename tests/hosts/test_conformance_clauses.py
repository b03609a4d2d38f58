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
from laneway.hosts import changing_conformance, conformance
from laneway.hosts.changing_conformance import ChangingHostDriverConformance
from laneway.hosts.conformance import (
    BrokenDeviceConformance,
    FactoryConformance,
    HostDriverConformance,
    UnreachableHostConformance,
    VanishingDeviceConformance,
    WatchConformance,
)
from laneway.hosts.snapshot import FACTS
from laneway.interfaces.host_changes import (
    Action,
    Ending,
    HostChangeError,
    JournalStep,
    Outcome,
    Plan,
    Prepare,
    Progress,
    Release,
    Step,
    Unfinished,
)
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


GUESTS, HOSTS, ANOTHER = "vfio-pci", FULL_FUNCTION.driver, "another"
BOOT = "this boot"


class Changing(Driver):
    """Takes a function from its driver, and gives it back, in two steps. It has one fault, or none."""

    def __init__(self, fault: str | None = None) -> None:
        super().__init__(FULL_INVENTORY)
        self._fault = fault
        self._plans = 0
        self._is_open = False
        self.driver = HOSTS
        self.override: str | None = None

    def discover(self) -> Inventory:
        function = replace(FULL_FUNCTION, driver=self.driver, driver_override=self.override)
        return replace(FULL_INVENTORY, functions=(function,))

    def open(self, _address: PciAddress) -> None:
        self._is_open = True

    # plan()

    def plan(self, action: Action) -> Plan:
        self._plans += 1
        if self._fault == "plan writes":
            self.driver = GUESTS
        self._refuse(action)
        steps = () if self._fault == "plans nothing" else self._steps(action)
        planned = Release(address=action.address, taken=()) if self._fault == "plans another action" else action
        boot = f"{BOOT} {self._plans}" if self._fault == "plans differ" else BOOT
        return Plan(action=planned, steps=steps, boot_id=boot)

    def _refuse(self, action: Action) -> None:
        if isinstance(action, Prepare) and action.recorded.product_id != FULL_FUNCTION.product_id:
            if self._fault != "any device":
                raise LanewayError(ErrorCode.WRONG_DEVICE, "it is another device")
        elif isinstance(action, Release) and self._is_open and self._fault != "heeds no opener":
            if self._fault == "refuses late":
                self.driver = HOSTS
            raise LanewayError(ErrorCode.DEVICE_OPEN, "it is open")

    def _steps(self, action: Action) -> tuple[Step, ...]:
        if isinstance(action, Release):
            steps = [self._step(one.target, one.undo) for one in reversed(action.taken)]
            if self._fault == "gives to another":
                steps = [self._step("driver", ANOTHER)]
        else:
            steps = [self._step("override", GUESTS), self._step("driver", GUESTS)]
        left = [step for step in steps if step.value != step.found or self._fault == "plans always"]
        return tuple(replace(step, summary="") if self._fault == "no words" else step for step in left)

    def _step(self, target: str, value: str | None) -> Step:
        found = getattr(self, target)
        return Step(
            kind="set",
            address=FULL_FUNCTION.address,
            target=target,
            value=value,
            found=found,
            undo=found,
            summary=f"set {target} to {value}",
        )

    # apply()

    def apply(self, plan: Plan, journal: JournalStep, progress: Progress) -> Outcome:
        self._refuse(plan.action)
        steps = self._steps(plan.action)
        is_again = not steps and isinstance(plan.action, Prepare)
        if is_again and self._fault == "journals again":
            journal(plan.steps[0])
        if is_again and self._fault == "does it again":
            self.driver = ANOTHER
        try:
            for number, step in enumerate(steps):
                self._do_journalled(step, journal, number)
        except LanewayError as error:
            if self._fault == "heeds no journal":
                return Outcome(ending=Ending.DONE)
            if self._fault != "stops half-way":
                self.driver, self.override = HOSTS, None
            raise HostChangeError(error.message, undone=True) from error
        says_undone = self._fault == "says undone" or (is_again and self._fault == "says undone again")
        return Outcome(ending=Ending.UNDONE if says_undone else Ending.DONE, taken=self._taken(plan.action, steps))

    def _do_journalled(self, step: Step, journal: JournalStep, number: int) -> None:
        is_late = self._fault == "journals late" and number == 0
        if not is_late and self._fault != "journals nothing":
            journal(step)
        if self._fault != "does nothing":
            setattr(self, step.target, step.value)
        if is_late:
            journal(step)

    def _taken(self, action: Action, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        if isinstance(action, Release):
            return action.taken if self._fault == "keeps on release" else ()
        return () if self._fault == "tells no steps" else steps

    # recover()

    def recover(self, unfinished: Unfinished) -> Outcome:
        is_void = unfinished.plan.boot_id != BOOT and self._fault != "heeds no boot"
        is_release = isinstance(unfinished.plan.action, Release)
        ending = Ending.VOID if is_void else Ending.DONE if is_release else Ending.UNDONE
        if self._fault == "recovers nothing":
            return Outcome(ending=ending)
        if not is_void or self._fault == "undoes the void":
            self.driver, self.override = HOSTS, None
        if is_release and self._fault == "undoes a release":
            self.driver, ending = GUESTS, Ending.UNDONE
        return Outcome(ending=Ending.DONE if self._fault == "says done" else ending)


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
        {
            "it cannot watch": describing(abilities=frozenset({Ability.WATCH})),
            "it cannot plan": describing(abilities=frozenset({Ability.SET_VF_COUNT})),
        },
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
        ChangingHostDriverConformance.test_planning_changes_nothing,
        {"it takes the device as it plans": Changing("plan writes")},
    ),
    (
        ChangingHostDriverConformance.test_a_plan_is_the_same_as_long_as_the_host_is,
        {"another plan each time": Changing("plans differ")},
    ),
    (
        ChangingHostDriverConformance.test_a_plan_is_of_the_action_and_says_in_words_what_is_done,
        {
            "of another action": Changing("plans another action"),
            "without steps": Changing("plans nothing"),
            "without words": Changing("no words"),
        },
    ),
    (
        ChangingHostDriverConformance.test_another_device_at_the_address_is_refused,
        {"it takes any device": Changing("any device")},
    ),
    (
        ChangingHostDriverConformance.test_it_does_what_is_planned,
        {
            "nothing": Changing("does nothing"),
            "it does not say what it took": Changing("tells no steps"),
            "it says that it was undone": Changing("says undone"),
            "it plans what is done": Changing("plans always"),
        },
    ),
    (
        ChangingHostDriverConformance.test_every_step_is_journalled_before_it_is_done,
        {"afterwards": Changing("journals late"), "not at all": Changing("journals nothing")},
    ),
    (
        ChangingHostDriverConformance.test_the_second_time_nothing_is_done,
        {
            "it is done again": Changing("does it again"),
            "it is journalled again": Changing("journals again"),
            "it is undone": Changing("says undone again"),
        },
    ),
    (
        ChangingHostDriverConformance.test_a_release_gives_back_what_was_taken,
        {"another driver gets it": Changing("gives to another"), "it stays taken": Changing("keeps on release")},
    ),
    (
        ChangingHostDriverConformance.test_what_cannot_be_journalled_is_not_done,
        {"it goes on": Changing("heeds no journal"), "it stops half-way": Changing("stops half-way")},
    ),
    (
        ChangingHostDriverConformance.test_an_open_device_is_not_given_back,
        {"it is given back": Changing("heeds no opener"), "it is given back, and refused": Changing("refuses late")},
    ),
    (
        ChangingHostDriverConformance.test_an_interrupted_preparation_is_taken_back,
        {"it is finished": Changing("says done"), "it stays as it is": Changing("recovers nothing")},
    ),
    (
        ChangingHostDriverConformance.test_an_interrupted_release_is_finished,
        {"it is undone": Changing("undoes a release"), "it stays as it is": Changing("recovers nothing")},
    ),
    (
        ChangingHostDriverConformance.test_a_plan_of_another_boot_is_void,
        {"it is taken back": Changing("heeds no boot"), "so is what it says is void": Changing("undoes the void")},
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
    ChangingHostDriverConformance: "changing_driver",
}
MORE_FIXTURES: dict[str, dict[str, Any]] = {
    **{name: {"vanishing": TWIN.address} for name in vars(VanishingDeviceConformance) if name.startswith("test_")},
    WatchConformance.test_a_change_is_a_batch_of_events.__name__: {"plug": lambda: None},
    **{
        name: {"preparation": Prepare(recorded=FULL_FUNCTION)}
        for name in vars(ChangingHostDriverConformance)
        if name.startswith("test_")
    },
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
        clause(suite(), **{FIXTURES[suite]: wrong}, **more_fixtures(clause, wrong))


def more_fixtures(clause: Callable[..., None], driver: object) -> dict[str, Any]:
    found = MORE_FIXTURES.get(clause.__name__, {})
    if clause is ChangingHostDriverConformance.test_an_open_device_is_not_given_back and isinstance(driver, Changing):
        return {**found, "open_device": driver.open}
    return found


@pytest.mark.parametrize("name", sorted(vars(ChangingHostDriverConformance).keys() & MORE_FIXTURES.keys()))
def test_a_driver_without_a_fault_passes(name: str) -> None:
    """Else a driver with one might fail for another reason."""
    clause, driver = getattr(ChangingHostDriverConformance, name), Changing()
    clause(ChangingHostDriverConformance(), changing_driver=driver, **more_fixtures(clause, driver))


def test_every_clause_has_a_driver_that_breaks_it() -> None:
    modules = {**vars(conformance), **vars(changing_conformance)}
    suites = {value for value in modules.values() if isinstance(value, type) and clauses(value)}
    assert suites == set(FIXTURES)
    assert {clause.__name__ for clause, _ in CLAUSES} == set().union(*map(clauses, suites))


def test_a_discovery_that_fails_is_told_as_it_fails() -> None:
    with pytest.raises(LanewayError, match="no driver"):
        HostDriverConformance().test_discovery_ends(Refusing(ErrorCode.HOST_UNREACHABLE, "no driver"))
