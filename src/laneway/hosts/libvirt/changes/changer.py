"""Does what was planned, by libvirt, step by step; and takes it back where a step fails."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.hosts.libvirt.changes.facts import read_facts
from laneway.hosts.libvirt.changes.planning import VFIO, StepKind, plan_steps
from laneway.hosts.libvirt.connection import ChangingLibvirtHost, connected_to_change
from laneway.interfaces.host_changes import (
    Clean,
    Ending,
    HostChangeError,
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
            begun: list[Step] = []
            try:
                for step in steps:
                    journal(step)
                    begun.append(step)
                    progress(step.summary)
                    self._do(host, step, plan, progress)
            except Exception as error:
                raise self._taken_back(host, begun, error) from error
            return Outcome(ending=Ending.DONE, taken=_standing(plan, steps))

    def recover(self, unfinished: Unfinished) -> Outcome:
        """See ``ChangingHostDriver``. libvirt tells no boot: what a new one made void is found to be as before."""
        plan = unfinished.plan
        with self._connect(self._uri) as host:
            if isinstance(plan.action, Release):
                steps = plan_steps(plan.action, read_facts(host))
                try:
                    for step in steps:
                        self._do(host, step, plan, _say_nothing)
                except LanewayError as error:
                    raise HostChangeError(
                        f"the release of {plan.action.address} cannot be finished: {error.message}",
                        {"address": str(plan.action.address)},
                        undone=False,
                    ) from error
                return Outcome(ending=Ending.DONE, taken=_standing(plan, steps))
            problem = self._undo(host, unfinished.begun)
            if problem is not None:
                raise HostChangeError(problem, {"address": str(plan.action.address)}, undone=False)
            return Outcome(ending=Ending.UNDONE)

    def _do(self, host: ChangingLibvirtHost, step: Step, plan: Plan, progress: Progress) -> None:
        match step.kind:
            case StepKind.DETACH:
                host.detach(step.target, VFIO)
                self._await(host, step, lambda driver: driver is not None and is_vfio_driver(driver), "a VFIO driver")
            case StepKind.REATTACH:
                host.reattach(step.target)
                self._await(host, step, lambda driver: driver == step.value, _named(step.value))
            case StepKind.RESET:
                self._reset(host, step, plan, progress)

    def _reset(self, host: ChangingLibvirtHost, step: Step, plan: Plan, progress: Progress) -> None:
        """A device that cannot be reset is given back all the same; as a cleaning its failure counts."""
        try:
            host.reset(step.target)
        except LanewayError as error:
            if isinstance(plan.action, Clean):
                raise
            progress(f"{step.address} was not reset: {error.message}")

    def _taken_back(self, host: ChangingLibvirtHost, begun: Sequence[Step], error: Exception) -> HostChangeError:
        said = error.message if isinstance(error, LanewayError) else f"{type(error).__name__}: {error}"
        detail = {"code": str(error.code)} if isinstance(error, LanewayError) else {}
        problem = self._undo(host, begun)
        if problem is None:
            return HostChangeError(f"{said}; the host is as before", detail, undone=True)
        return HostChangeError(f"{said}; and it could not be taken back: {problem}", detail, undone=False)

    def _undo(self, host: ChangingLibvirtHost, begun: Sequence[Step]) -> str | None:
        """Takes back what stands of these steps, the last first. Says what could not be; the others are taken back."""
        problems = []
        for step in reversed(begun):
            try:
                self._undo_one(host, step)
            except LanewayError as error:
                problems.append(error.message)
        return "; ".join(problems) or None

    def _undo_one(self, host: ChangingLibvirtHost, step: Step) -> None:
        functions = read_facts(host).functions
        if step.address not in functions or step.undo is None:
            return  # it was pulled out, or nothing is to be taken back
        now = functions[step.address].driver
        if step.undo == StepKind.REATTACH and now != step.found:
            host.reattach(step.target)
            self._await(host, step, lambda driver: driver == step.found, _named(step.found))
        elif step.undo == StepKind.DETACH and (now is None or not is_vfio_driver(now)):
            host.detach(step.target, VFIO)
            self._await(host, step, lambda driver: driver is not None and is_vfio_driver(driver), "a VFIO driver")

    def _await(
        self, host: ChangingLibvirtHost, step: Step, is_right: Callable[[str | None], bool], expected: str
    ) -> None:
        """Waits, for a bounded time, until the right driver has the device: libvirt's calls succeed without, too."""
        until = self._clock() + _DRIVER_SECONDS
        while not is_right(driver := _driver_of(host, step.address)):
            if self._clock() >= until:
                raise LanewayError(
                    ErrorCode.HOST_CHANGE_FAILED,
                    f"{step.address} is on {_named(driver)} after libvirt's {step.kind}, not on {expected}; see the "
                    f"kernel's messages (journalctl -k | grep {step.address}), and bind it by hand",
                    {"address": str(step.address), "driver": driver},
                )
            self._sleep(_LOOK_AGAIN_SECONDS)


def _driver_of(host: ChangingLibvirtHost, address: PciAddress) -> str | None:
    return read_facts(host).function(address).driver


def _standing(plan: Plan, steps: Sequence[Step]) -> tuple[Step, ...]:
    """What is to be undone at a later release."""
    if isinstance(plan.action, Release):
        return plan.action.taken if plan.action.keep else ()
    return tuple(step for step in steps if step.undo is not None)


def _named(driver: str | None) -> str:
    return "no driver" if driver is None else f"driver {driver}"


def _say_nothing(_what: str) -> None:
    return None
