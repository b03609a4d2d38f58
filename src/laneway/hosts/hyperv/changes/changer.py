"""Does what was planned, by PowerShell, step by step; and takes it back where a step fails."""

import time
from collections.abc import Callable, Sequence

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.hyperv.changes.facts import DeviceState, Facts, facts_of
from laneway.hosts.hyperv.changes.planning import plan_steps
from laneway.hosts.hyperv.powershell_commands import Cmdlet
from laneway.hosts.hyperv.recording import Recording
from laneway.hosts.stepwise import carry_out, finish, take_back
from laneway.interfaces.host_changes import Ending, JournalStep, Outcome, Plan, Progress, Release, Step, Unfinished

RunCmdlet = Callable[[Cmdlet, str], None]
"""Runs a cmdlet on the device of an instance id or a location path. Raises LanewayError where it fails."""

_SECONDS = 30.0
"""How long a device is waited for: Windows takes its time to disable one, and to find its driver again."""
_LOOK_AGAIN_SECONDS = 1.0

_IS_DONE: dict[str, Callable[[DeviceState], bool]] = {
    Cmdlet.DISABLE: lambda state: state.is_disabled or state.is_dismounted,
    Cmdlet.DISMOUNT: lambda state: state.is_dismounted,
    Cmdlet.MOUNT: lambda state: not state.is_dismounted,
    Cmdlet.ENABLE: lambda state: not state.is_disabled,
}
_BY_INSTANCE_ID = frozenset({Cmdlet.DISABLE, Cmdlet.ENABLE})


class HyperVChanger:
    """``apply`` and ``recover`` of ``ChangingHostDriver``. ``clock`` and ``sleep`` count seconds."""

    def __init__(
        self,
        source: Callable[[], Recording],
        run: RunCmdlet,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._source = source
        self._run = run
        self._clock = clock
        self._sleep = sleep

    def apply(self, plan: Plan, journal: JournalStep, progress: Progress) -> Outcome:
        """See ``ChangingHostDriver``. The steps are planned anew on the facts of this moment."""
        steps = plan_steps(plan.action, self._facts())
        carry_out(steps, journal, progress, do=self._do, undo=self._undo)
        return Outcome(ending=Ending.DONE, taken=_standing(plan, steps))

    def recover(self, unfinished: Unfinished) -> Outcome:
        """See ``ChangingHostDriver``. A dismount outlives a boot of Windows, so no boot makes a plan void."""
        plan = unfinished.plan
        if isinstance(plan.action, Release):
            steps = plan_steps(plan.action, self._facts())
            finish(steps, self._do)
            return Outcome(ending=Ending.DONE, taken=_standing(plan, steps))
        take_back(unfinished.begun, self._undo)
        return Outcome(ending=Ending.UNDONE)

    def _facts(self) -> Facts:
        return facts_of(self._source())

    def _do(self, step: Step) -> None:
        self._bring_about(Cmdlet(step.kind), step)

    def _undo(self, step: Step) -> None:
        if step.undo is not None:
            self._bring_about(Cmdlet(step.undo), step)

    def _bring_about(self, cmdlet: Cmdlet, step: Step) -> None:
        """Runs the cmdlet unless the device is as it would be, and waits for that. A device that is gone is let be."""
        state = self._facts().state(step.target)
        is_done = _IS_DONE[cmdlet]
        if state is None or is_done(state):
            return
        self._run(cmdlet, state.instance_id if cmdlet in _BY_INSTANCE_ID else step.target)
        until = self._clock() + _SECONDS
        while (state := self._facts().state(step.target)) is not None and not is_done(state):
            if self._clock() >= until:
                raise LanewayError(
                    ErrorCode.HOST_CHANGE_FAILED,
                    f"{cmdlet} succeeded for {step.address}, and after {_SECONDS:.0f} seconds it shows no effect on "
                    f"{state.instance_id}; Windows may want to be restarted",
                    {"address": str(step.address), "instance_id": state.instance_id},
                )
            self._sleep(_LOOK_AGAIN_SECONDS)


def _standing(plan: Plan, steps: Sequence[Step]) -> tuple[Step, ...]:
    """What is to be undone at a later release."""
    if isinstance(plan.action, Release):
        return plan.action.taken if plan.action.keep else ()
    return tuple(steps)
