"""Planning to give functions back to the host as they were. Pure: facts in, steps out."""

from collections.abc import Iterator

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes import steps
from laneway.hosts.linux.changes.course import Course, take_back
from laneway.hosts.linux.changes.facts import HostFacts
from laneway.hosts.linux.changes.refusals import require_closed
from laneway.hosts.linux.changes.steps import Kind
from laneway.hosts.linux.changes.vf_settings import VF_SETTINGS
from laneway.hosts.linux.changes.virtual_functions import require_removable_vfs
from laneway.interfaces.host_changes import Release, Step


def touched_functions(action: Release) -> tuple[PciAddress, ...]:
    """The functions that the action is about: its own, and those that were taken along."""
    return tuple(dict.fromkeys((action.address, *(step.address for step in action.taken))))


def kept(action: Release) -> tuple[Step, ...]:
    """The steps that stand after the release, to be taken back at a later one: all but what was for one guest only."""
    return tuple(step for step in action.taken if step.kind != VF_SETTINGS) if action.keep else ()


def plan_release(action: Release, facts: HostFacts) -> tuple[Step, ...]:
    """First the resets, while the driver for guests still has the functions; then the way back.

    What is gone from the host needs nothing.
    """
    require_closed(
        facts.inventory.by_address[address]
        for address in touched_functions(action)
        if address in facts.inventory.by_address
    )
    for pf in _losing_vfs(action, facts):
        require_removable_vfs(facts, pf, on_vfio=False)
    course = Course(facts.standings)
    for address in _resettable(action, facts):
        course.add(steps.reset(address))
    stay = kept(action)
    for step in reversed(action.taken):
        if step not in stay:
            take_back(step, course)
    return course.steps


def _resettable(action: Release, facts: HostFacts) -> Iterator[PciAddress]:
    """A function that no driver for guests has was not with a guest by our doing, or is back already."""
    for address in touched_functions(action):
        standing = facts.standings.get(address)
        if standing is not None and standing.is_on_vfio and standing.can_reset:
            yield address


def _losing_vfs(action: Release, facts: HostFacts) -> Iterator[PciAddress]:
    """The PFs that somebody gave VFs meanwhile, other than those that they had before."""
    for step in action.taken:
        if step.kind == Kind.VF_COUNT and not action.keep:
            standing = facts.standings.get(step.address)
            if standing is not None and str(standing.vf_count) not in ("0", step.undo):
                yield step.address
