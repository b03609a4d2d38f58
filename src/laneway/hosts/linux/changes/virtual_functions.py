"""Taking the VFs of a PF away, so that they come back as they were. Pure."""

from collections.abc import Iterator

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Inventory
from laneway.hosts.linux.changes.course import Course
from laneway.hosts.linux.changes.facts import HostFacts
from laneway.hosts.linux.changes.refusals import opener_text, use_text


def remove_vfs(pf: PciAddress, course: Course) -> None:
    """Adds the steps to a PF without VFs; taken back they give the VFs their drivers and overrides again.

    Autoprobe is off before anything else, so that it is off, too, when the VFs come back: a VF that had
    no driver gets none.
    """
    standing = course.standing(pf)
    if standing is None or not standing.vf_count:
        return
    course.autoprobe(pf, value=False)
    for vf in standing.vfs:
        course.override(pf, vf, None)
        course.unbind(pf, vf)
    course.vf_count(pf, 0)


def require_removable_vfs(facts: HostFacts, pf: PciAddress, *, on_vfio: bool) -> None:
    """Refuses with vfs_in_the_way where somebody uses VFs. ``on_vfio``: VFs on vfio-pci do not refuse it."""
    standing = facts.standings.get(pf)
    if standing is None or not standing.vf_count:
        return
    reasons = dict(_in_the_way(facts, standing.vfs, on_vfio=on_vfio))
    if reasons:
        named = "; ".join(f"{vf} {why}" for vf, why in reasons.items())
        raise LanewayError(
            ErrorCode.VFS_IN_THE_WAY,
            f"the VFs of {pf} would go away, and are needed: {named}; free them first",
            {"address": str(pf), "vfs": [str(vf) for vf in reasons]},
        )


def _in_the_way(facts: HostFacts, vfs: tuple[PciAddress, ...], *, on_vfio: bool) -> Iterator[tuple[PciAddress, str]]:
    for vf in vfs:
        reason = _reason(facts.inventory, facts, vf, on_vfio=on_vfio)
        if reason is not None:
            yield vf, reason


def _reason(inventory: Inventory, facts: HostFacts, vf: PciAddress, *, on_vfio: bool) -> str | None:
    function, standing = inventory.by_address.get(vf), facts.standings.get(vf)
    if function is None or standing is None:
        return "cannot be read"
    if function.opened_by:
        return f"is open in {', '.join(map(opener_text, function.opened_by))}"
    if function.opened_by is None:
        return "may be open: only root sees that"
    if function.in_use_by:
        return f"is in use by the host ({', '.join(map(use_text, function.in_use_by))})"
    if function.in_use_by is None:
        return "may be in use by the host"
    if standing.is_on_vfio and not on_vfio:
        return f"is on {standing.driver}, for a guest or after one (laneway release --device {vf})"
    return None
