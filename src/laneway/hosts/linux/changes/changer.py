"""Changing a running Linux host: plans, applies, recovers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Inventory
from laneway.hosts.linux.changes.applying import do_steps, reason, take_back_steps
from laneway.hosts.linux.changes.cleaning import NVME, plan_cleaning
from laneway.hosts.linux.changes.doing import StepError, Workbench
from laneway.hosts.linux.changes.facts import HostFacts, read_standings
from laneway.hosts.linux.changes.function_files import FunctionFiles
from laneway.hosts.linux.changes.means import Means
from laneway.hosts.linux.changes.prepare import plan_prepare
from laneway.hosts.linux.changes.release import kept, plan_release
from laneway.hosts.linux.changes.steps import Kind, functions_of
from laneway.hosts.linux.changes.storage_guard import guarded, is_guarded
from laneway.hosts.linux.changes.vf_count import plan_vf_count
from laneway.hosts.linux.changes.vf_settings import VfSettingsSteps
from laneway.hosts.linux.changes.vfio_drivers import plain_driver, variant_driver
from laneway.hosts.linux.system import read_boot_id
from laneway.hosts.linux.tree import HostTree
from laneway.interfaces.host_changes import (
    Action,
    Clean,
    Ending,
    HostChangeError,
    JournalStep,
    Outcome,
    Plan,
    Prepare,
    Progress,
    Release,
    SetVfCount,
    Step,
    Unfinished,
)

PLAN_PATIENCE_SECONDS = 2.0
"""What goes away when it is told to end, as QEMU, is mostly gone by then."""

APPLY_PATIENCE_SECONDS = 10.0
_MOMENT_SECONDS = 0.1


def _nothing(_: object) -> None:
    """Tells nobody, and keeps nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinuxChanger:
    """See ``ChangingHostDriver``. ``discover`` gives the facts of the host of ``tree`` as they are now."""

    tree: HostTree
    discover: Callable[[], Inventory]
    means: Means

    def plan(self, action: Action) -> Plan:
        return self._patient_plan(action, PLAN_PATIENCE_SECONDS, _nothing)

    def apply(self, plan: Plan, journal: JournalStep, progress: Progress) -> Outcome:
        now = self._patient_plan(plan.action, APPLY_PATIENCE_SECONDS, progress)
        standing = _standing(plan, now)
        do_steps(now.steps, journal, self._bench(progress), standing=standing)
        return Outcome(ending=Ending.DONE, taken=_taken(plan.action, (*standing, *now.steps)))

    def recover(self, unfinished: Unfinished) -> Outcome:
        boot_id = read_boot_id(self.tree)
        if boot_id is None:
            raise HostChangeError("the id of this boot cannot be read, so nothing is taken back", undone=False)
        if unfinished.plan.boot_id not in (None, boot_id):
            return Outcome(ending=Ending.VOID)
        action = unfinished.plan.action
        if isinstance(action, Release) and self._is_finished(action, unfinished.begun):
            return Outcome(ending=Ending.DONE, taken=kept(action))
        self._take_back(unfinished)
        return Outcome(ending=Ending.UNDONE, taken=action.taken if isinstance(action, Release) else ())

    def _is_finished(self, action: Release, begun: Sequence[Step]) -> bool:
        """Finishes a release. What cannot be finished (opened by now, a reset that fails) is to be taken back."""
        try:
            do_steps(self._plan(action).steps, _nothing, self._bench(_nothing), standing=begun)
        except HostChangeError as failure:
            if not failure.undone:
                raise
            return False
        except LanewayError as refusal:
            if refusal.code is ErrorCode.NO_PERMISSION:
                raise
            return False
        return True

    def _take_back(self, unfinished: Unfinished) -> None:
        try:
            take_back_steps(unfinished.begun, self._bench(_nothing))
        except (OSError, StepError, LanewayError) as failure:
            address = unfinished.plan.action.address
            raise HostChangeError(
                f"what was begun with {address} cannot be taken back: {reason(failure)}; it is not forgotten, and the "
                "next start tries again",
                {"address": str(address)},
                undone=False,
            ) from failure

    def _patient_plan(self, action: Action, seconds: float, progress: Progress) -> Plan:
        """The plan, waited for where a process has the device open that may be about to close it."""
        end = self.means.clock() + seconds
        is_told = False
        while True:
            try:
                return self._plan(action)
            except LanewayError as refusal:
                if refusal.code is not ErrorCode.DEVICE_OPEN or self.means.clock() >= end:
                    raise
                if not is_told:
                    progress(f"waiting up to {seconds:g} s: {refusal.message}")
                    is_told = True
            self.means.pause(_MOMENT_SECONDS)

    def _plan(self, action: Action) -> Plan:
        inventory = self.discover()
        try:
            steps = self._steps(action, inventory)
        except OSError as failure:
            raise _unreadable(action.address, failure) from failure
        return Plan(action=action, steps=steps, boot_id=inventory.boot_id)

    def _steps(self, action: Action, inventory: Inventory) -> tuple[Step, ...]:
        match action:
            case Prepare():
                facts = self._facts(inventory, (action.address,))
                plain = plain_driver(self.tree)
                own = variant_driver(self.tree, action.address) if action.live_migratable else plain
                steps = self._with_kept_settings(plan_prepare(action, facts, own, plain))
                return (*steps, *self._vf_settings(action, inventory))
            case Release():
                facts = self._facts(inventory, (action.address, *functions_of(action.taken)))
                return self._guarded(plan_release(action, facts), facts)
            case SetVfCount():
                return self._with_kept_settings(plan_vf_count(action, self._facts(inventory, (action.address,))))
            case Clean():
                facts = self._facts(inventory, (action.address,))
                return plan_cleaning(action, facts, nvme_is_loaded=self._files.has_driver(NVME))

    def _vf_settings(self, action: Prepare, inventory: Inventory) -> tuple[Step, ...]:
        """Set last: a VF that changes its driver may lose what its PF enforces for it."""
        if action.vf_settings is None:
            return ()
        made = VfSettingsSteps(self.tree, self.means.vf_kernel)
        step = made.plan(inventory.by_address[action.address], action.vf_settings)
        return () if step is None else (step,)

    def _with_kept_settings(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """VFs that come back get what their PF enforced for them when they went away."""
        made = VfSettingsSteps(self.tree, self.means.vf_kernel)
        found: list[Step] = []
        for step in steps:
            if step.kind == Kind.VF_COUNT and step.value == "0":
                found += made.keep(step.address, int(step.found or 0))
            found.append(step)
        return tuple(found)

    def _guarded(self, steps: tuple[Step, ...], facts: HostFacts) -> tuple[Step, ...]:
        """The host does not read the disks that it gets back."""
        storage = {address for address, standing in facts.standings.items() if standing.is_storage}
        return guarded(steps, storage, [address for address in sorted(storage) if is_guarded(self.tree, address)])

    def _facts(self, inventory: Inventory, addresses: Sequence[PciAddress]) -> HostFacts:
        return HostFacts(inventory=inventory, standings=read_standings(self._files, addresses))

    @property
    def _files(self) -> FunctionFiles:
        return FunctionFiles(self.tree)

    def _bench(self, progress: Progress) -> Workbench:
        return Workbench(files=self._files, means=self.means, progress=progress)


def _standing(plan: Plan, now: Plan) -> tuple[Step, ...]:
    """The steps of the plan that an earlier try has done: what is done already is planned no more."""
    if plan.boot_id != now.boot_id:
        return ()
    left = {(step.kind, step.target) for step in now.steps}
    return tuple(step for step in plan.steps if (step.kind, step.target) not in left)


def _taken(action: Action, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """What is to be kept until the release. A number of VFs is nothing that is given back."""
    match action:
        case Prepare():
            return steps
        case Release():
            return kept(action)
        case _:
            return ()


def _unreadable(address: PciAddress, failure: OSError) -> LanewayError:
    if isinstance(failure, PermissionError):
        return LanewayError(
            ErrorCode.NO_PERMISSION,
            f"{failure.filename} may not be read; root may",
            {"address": str(address), "path": failure.filename},
        )
    return HostChangeError(
        f"nothing was done: {failure.filename or address} cannot be read: {reason(failure)}",
        {"address": str(address)},
        undone=True,
    )
