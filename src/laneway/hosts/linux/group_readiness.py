"""IOMMU groups of which no function can be given away as things are, and groups that go as a whole."""

from collections.abc import Iterable, Iterator, Sequence

from laneway.domain.inventory import PciFunction, ReadinessNote
from laneway.domain.tracking.blocking import is_vfio_driver, shared_groups


def group_notes(functions: Iterable[PciFunction]) -> Iterator[ReadinessNote]:
    """Looks at every group of more than one function; bridges (class 06) do not count in a group.

    Of a group that the host needs all of, nobody is told: it goes to no VM, and keeps none from anything.
    """
    shared = []
    for group, members in sorted(shared_groups(functions).items()):
        if all(member.in_use_by for member in members):
            continue
        note = _not_viable(group, members)
        if note is None:
            shared.append(f"{group} ({_names(members)})")
        else:
            yield note
    if shared:
        yield ReadinessNote(
            code="group_shared",
            severity="info",
            message=f"IOMMU groups of several functions go to one VM as a whole: {'; '.join(shared)}",
            remedy="admit all functions of such a group, or bind those that nobody needs to vfio-pci",
        )


def _not_viable(group: int, members: Sequence[PciFunction]) -> ReadinessNote | None:
    in_use = [member for member in members if member.in_use_by]
    free = [member for member in members if not member.in_use_by]
    if in_use and free:
        return _note(
            f"IOMMU group {group} is not viable: the host needs {'; '.join(map(_with_use, in_use))}, "
            f"so {_names(free)} cannot go to a VM",
            "free the host of it, or put the card into a slot with an IOMMU group of its own (one with ACS, such as "
            "one of the processor's)",
        )
    bound = [member for member in members if _is_on_vfio(member)]
    on_host = [member for member in members if member.driver is not None and not _is_on_vfio(member)]
    if bound and on_host and not in_use:
        drivers = ", ".join(f"{member.address} on {member.driver}" for member in on_host)
        return _note(
            f"IOMMU group {group} is not viable: {_names(bound)} on vfio-pci shares it with {drivers}",
            f"bind {_names(on_host)} to vfio-pci too, or admit it, so that it is taken along",
        )
    return None


def _note(message: str, remedy: str) -> ReadinessNote:
    return ReadinessNote(code="group_not_viable", severity="warning", message=message, remedy=remedy)


def _is_on_vfio(function: PciFunction) -> bool:
    return function.driver is not None and is_vfio_driver(function.driver)


def _with_use(function: PciFunction) -> str:
    use = (function.in_use_by or ())[0]
    return f"{function.address} ({' '.join(filter(None, (use.code, use.detail)))})"


def _names(functions: Iterable[PciFunction]) -> str:
    return ", ".join(str(function.address) for function in functions)
