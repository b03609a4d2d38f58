"""Planning to give a PF so many VFs. Pure: facts in, steps out."""

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.linux.changes.course import Course
from laneway.hosts.linux.changes.facts import HostFacts
from laneway.hosts.linux.changes.refusals import require_function
from laneway.hosts.linux.changes.virtual_functions import remove_vfs, require_removable_vfs
from laneway.interfaces.host_changes import SetVfCount, Step


def plan_vf_count(action: SetVfCount, facts: HostFacts) -> tuple[Step, ...]:
    """VFs that are there and have to go are taken away first: the kernel knows no way from one number to another."""
    pf = action.address
    require_function(facts, pf, ErrorCode.UNKNOWN_DEVICE)
    standing = facts.standings[pf]
    most = standing.total_vfs
    if standing.vf_count is None or not most:
        raise LanewayError(
            ErrorCode.NOT_SUPPORTED,
            f"{pf} cannot have VFs: it has no SR-IOV, or the firmware setup or the card's own has turned it off",
            {"address": str(pf)},
        )
    if not 0 <= action.count <= most:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"{pf} cannot have {action.count} VFs: it can have from 0 to {most}",
            {"address": str(pf), "count": action.count, "total_vfs": most},
        )
    course = Course(facts.standings)
    if standing.vf_count != action.count:
        if standing.driver is None or standing.is_on_vfio:
            raise LanewayError(
                ErrorCode.NOT_SUPPORTED,
                f"{pf} is {f'on {standing.driver}' if standing.driver else 'without a driver'}: only its own driver "
                f"makes VFs; 'laneway release --device {pf}' gives it back to that",
                {"address": str(pf), "driver": standing.driver},
            )
        require_removable_vfs(facts, pf, on_vfio=True)
        remove_vfs(pf, course)
    course.autoprobe(pf, value=action.autoprobe)
    course.vf_count(pf, action.count)
    return course.steps
