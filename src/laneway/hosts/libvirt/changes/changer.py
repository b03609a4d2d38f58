"""Does what was planned, by libvirt, step by step; and takes it back where a step fails."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.hosts.libvirt.changes.facts import read_facts
from laneway.hosts.libvirt.changes.planning import VFIO, StepKind, plan_steps
from laneway.hosts.libvirt.connection import ChangingLibvirtHost, connected_to_change
from laneway.hosts.stepwise import carry_out, finish, take_back
from laneway.interfaces.host_changes import (
    Clean,
    Ending,
    JournalStep,
    Outcome,
    Plan,
    Progress,
    Release,
    Step,
    Unfinished,
)

_DRIVER_SECONDS = 10.0
"""How long a driver is waited for: the kernel may probe it after the call that asked for it has returned."""
_LOOK_AGAIN_SECONDS = 0.2


class LibvirtChanger:
    """``apply`` and ``recover`` of ``ChangingHostDriver`` on one libvirt. ``clock`` and ``sleep`` count seconds."""

    def __init__(
        self,
        uri: str,
        connect: Callable[[str], AbstractContextManager[ChangingLibvirtHost]] = connected_to_change,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._uri = uri
        self._connect = connect
        self._clock = clock
        self._sleep = sleep

    def apply(self, plan: Plan, journal: JournalStep, progress: Progress) -> Outcome:
        """See ``ChangingHostDriver``. The steps are planned anew on the facts of this moment."""
        with self._connect(self._uri) as host:
            steps = plan_steps(plan.action, read_facts(host))
            work = self._work(host, plan, progress)
            carry_out(steps, journal, progress, do=work.do, undo=work.undo)
        return Outcome(ending=Ending.DONE, taken=_standing(plan, steps))

    def recover(self, unfinished: Unfinished) -> Outcome:
        """See ``ChangingHostDriver``. libvirt tells no boot: what a new one made void is found to be as before."""
        plan = unfinished.plan
        with self._connect(self._uri) as host:
            work = self._work(host, plan, _say_nothing)
            if isinstance(plan.action, Release):
                steps = plan_steps(plan.action, read_facts(host))
                finish(steps, work.do)
                return Outcome(ending=Ending.DONE, taken=_standing(plan, steps))
            take_back(unfinished.begun, work.undo)
            return Outcome(ending=Ending.UNDONE)

    def _work(self, host: ChangingLibvirtHost, plan: Plan, progress: Progress) -> "_Work":
        return _Work(host, plan, progress, self._clock, self._sleep)


class _Work:
    """The steps of one plan on one connection."""

    def __init__(
        self,
        host: ChangingLibvirtHost,
        plan: Plan,
        progress: Progress,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._host = host
        self._plan = plan
        self._progress = progress
        self._clock = clock
        self._sleep = sleep

    def do(self, step: Step) -> None:
        match step.kind:
            case StepKind.DETACH:
                self._detach(step)
            case StepKind.REATTACH:
                self._reattach(step, step.value)
            case StepKind.RESET:
                self._reset(step)

    def undo(self, step: Step) -> None:
        functions = read_facts(self._host).functions
        if step.address not in functions:
            return  # it was pulled out meanwhile
        now = functions[step.address].driver
        if step.undo == StepKind.REATTACH and now != step.found:
            self._reattach(step, step.found)
        elif step.undo == StepKind.DETACH and not _is_vfio(now):
            self._detach(step)

    def _detach(self, step: Step) -> None:
        self._host.detach(step.target, VFIO)
        self._await(step, _is_vfio, "a VFIO driver")

    def _reattach(self, step: Step, driver: str | None) -> None:
        self._host.reattach(step.target)
        self._await(step, lambda now: now == driver, _named(driver))

    def _reset(self, step: Step) -> None:
        """A device that cannot be reset is given back all the same; as a cleaning its failure counts."""
        try:
            self._host.reset(step.target)
        except LanewayError as error:
            if isinstance(self._plan.action, Clean):
                raise
            self._progress(f"{step.address} was not reset: {error.message}")

    def _await(self, step: Step, is_right: Callable[[str | None], bool], expected: str) -> None:
        """Waits, for a bounded time, until the right driver has the device: libvirt's calls succeed without, too."""
        until = self._clock() + _DRIVER_SECONDS
        while not is_right(driver := read_facts(self._host).function(step.address).driver):
            if self._clock() >= until:
                raise LanewayError(
                    ErrorCode.HOST_CHANGE_FAILED,
                    f"{step.address} is on {_named(driver)} after libvirt's {step.kind}, not on {expected}; see the "
                    f"kernel's messages (journalctl -k | grep {step.address}), and bind it by hand",
                    {"address": str(step.address), "driver": driver},
                )
            self._sleep(_LOOK_AGAIN_SECONDS)


def _standing(plan: Plan, steps: Sequence[Step]) -> tuple[Step, ...]:
    """What is to be undone at a later release."""
    if isinstance(plan.action, Release):
        return plan.action.taken if plan.action.keep else ()
    return tuple(step for step in steps if step.undo is not None)


def _is_vfio(driver: str | None) -> bool:
    return driver is not None and is_vfio_driver(driver)


def _named(driver: str | None) -> str:
    return "no driver" if driver is None else f"driver {driver}"


def _say_nothing(_what: str) -> None:
    return None
