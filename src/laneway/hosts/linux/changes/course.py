"""Steps that follow one another, and how the functions stand after them. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes import steps, storage_guard, vf_settings
from laneway.hosts.linux.changes.standing import Standing
from laneway.hosts.linux.changes.steps import Kind, driver_before, function_of
from laneway.interfaces.host_changes import Step


class Course:
    """Collects steps. What stands already as it is wanted needs no step, and gets none.

    ``owner`` is the function that a step is done for. A function that is not there is left alone.
    """

    def __init__(self, standings: Mapping[PciAddress, Standing]) -> None:
        self._standings = dict(standings)
        self._steps: list[Step] = []

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    def standing(self, function: PciAddress, owner: PciAddress | None = None) -> Standing | None:
        """How the function stands after the steps so far.

        One that is not there and is changed for another is a VF: it is there again, without a
        driver, once its PF has VFs.
        """
        found = self._standings.get(function)
        if found is None and owner is not None and owner != function:
            pf = self._standings.get(owner)
            return Standing() if pf is not None and pf.vf_count else None
        return found

    def add(self, step: Step) -> None:
        """A step that changes nothing of what a standing tells."""
        self._steps.append(step)

    def override(self, owner: PciAddress, function: PciAddress, value: str | None) -> None:
        last = self._steps[-1] if self._steps else None
        if last is not None and last.kind == Kind.OVERRIDE and function_of(last) == function:
            # Nothing happened between the two writes, so the first has no use.
            self._steps.pop()
            self._change(function, owner, lambda standing: replace(standing, override=last.found))
        standing = self.standing(function, owner)
        if standing is not None and standing.override != value:
            self._steps.append(steps.set_override(owner, function, value, standing.override))
            self._change(function, owner, lambda standing: replace(standing, override=value))

    def unbind(self, owner: PciAddress, function: PciAddress) -> None:
        standing = self.standing(function, owner)
        if standing is not None and standing.driver is not None:
            self._steps.append(steps.unbind(owner, function, standing.driver, standing.override))
            self._change(function, owner, lambda standing: replace(standing, driver=None))

    def bind(self, owner: PciAddress, function: PciAddress, driver: str) -> None:
        """To the driver that its override names by now."""
        standing = self.standing(function, owner)
        if standing is not None and standing.driver != driver:
            self._steps.append(steps.bind(owner, function, driver))
            self._change(function, owner, lambda standing: replace(standing, driver=driver))

    def autoprobe(self, pf: PciAddress, value: bool) -> None:
        standing = self.standing(pf)
        if standing is not None and standing.autoprobe not in (None, value):
            self._steps.append(steps.set_autoprobe(pf, value=value, found=not value))
            self._change(pf, pf, lambda standing: replace(standing, autoprobe=value))

    def vf_count(self, pf: PciAddress, count: int) -> None:
        """From one number to another by way of none: the kernel answers EBUSY otherwise."""
        standing = self.standing(pf)
        if standing is None or standing.vf_count in (None, count):
            return
        for wanted in dict.fromkeys((0, count)):
            self._set_vf_count(pf, wanted)

    def _set_vf_count(self, pf: PciAddress, count: int) -> None:
        standing = self._standings[pf]
        if standing.vf_count is not None and standing.vf_count != count:
            self._steps.append(steps.set_vf_count(pf, count, standing.vf_count))
            for vf in standing.vfs:
                self._standings.pop(vf, None)
            self._standings[pf] = standing.with_vfs(count)

    def _change(self, function: PciAddress, owner: PciAddress, change: Callable[[Standing], Standing]) -> None:
        standing = self.standing(function, owner)
        if standing is not None:
            self._standings[function] = change(standing)


def take_back(step: Step, course: Course) -> None:
    """Adds what takes a step back, as far as it is not so already.

    A function that somebody else gave to a driver of the host meanwhile stays there.
    """
    if step.undo is None:
        return
    if step.kind in (vf_settings.VF_SETTINGS, vf_settings.KEPT_SETTINGS):
        if course.standing(step.address) is not None:
            course.add(vf_settings.restoring(step))
        return
    if step.kind == storage_guard.STORAGE_GUARD:
        course.add(storage_guard.restoring(step))
        return
    owner, function = step.address, function_of(step)
    match step.kind:
        case Kind.OVERRIDE:
            course.override(owner, function, step.undo or None)
        case Kind.BIND:
            standing = course.standing(function, owner)
            if standing is not None and standing.driver == step.value:
                course.unbind(owner, function)
        case Kind.UNBIND:
            _bind_again(step, course)
        case Kind.AUTOPROBE:
            course.autoprobe(function, step.undo == "1")
        case Kind.VF_COUNT:
            course.vf_count(function, int(step.undo))


def _bind_again(step: Step, course: Course) -> None:
    """By an override for the moment: others may match, and without autoprobe a VF binds by nothing else."""
    owner, function, (driver, override) = step.address, function_of(step), driver_before(step)
    standing = course.standing(function, owner)
    if standing is None or not (standing.driver in (None, driver) or standing.is_on_vfio):
        return
    if standing.driver != driver:
        course.unbind(owner, function)
        course.override(owner, function, driver)
        course.bind(owner, function, driver)
    course.override(owner, function, override)


def taking_back(taken: Iterable[Step], standings: Mapping[PciAddress, Standing]) -> tuple[Step, ...]:
    """The steps that take back others, the last first."""
    course = Course(standings)
    for step in reversed(tuple(taken)):
        take_back(step, course)
    return course.steps
