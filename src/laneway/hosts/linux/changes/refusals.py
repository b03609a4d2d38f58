"""What the facts of a host speak against. Pure: each function raises LanewayError, or does not."""

from collections.abc import Iterable, Iterator

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import HostUse, Inventory, Opener, PciFunction
from laneway.hosts.linux.changes.facts import HostFacts

_UNFIT_HOST = ("iommu_off", "interrupt_remapping_off", "vfio_pci_missing")
"""Notes of the host's readiness that no function gets over."""


def require_function(facts: HostFacts, address: PciAddress, code: ErrorCode) -> PciFunction:
    """The function at the address; refused with ``code`` where there is none."""
    found = facts.inventory.by_address.get(address)
    if found is None or address not in facts.standings:
        raise LanewayError(
            code,
            f"there is no function at {address} (any more); 'laneway devices' lists those of this host",
            {"address": str(address)},
        )
    return found


def require_fit_host(inventory: Inventory, function: PciFunction) -> None:
    """Refuses with not_assignable what no guest can have on this host, with the remedy."""
    for note in inventory.readiness:
        if note.code in _UNFIT_HOST:
            raise _not_assignable(function, note.code, note.message or note.code, note.remedy)
    if function.iommu_group is None:
        remedy = "see 'dmesg | grep -i iommu'; the firmware may leave it out, or the kernel line have iommu=off"
        raise _not_assignable(function, "no_iommu_group", "it is in no IOMMU group", remedy)
    for reason in function.not_assignable or ():
        raise _not_assignable(function, reason.code, reason.message or reason.code, None)


def _not_assignable(function: PciFunction, reason: str, message: str, remedy: str | None) -> LanewayError:
    return LanewayError(
        ErrorCode.NOT_ASSIGNABLE,
        f"{function.address} cannot be given to a guest: {message}{f'; {remedy}' if remedy else ''}",
        {"address": str(function.address), "reason": reason, "remedy": remedy},
    )


def require_unused(inventory: Inventory, function: PciFunction) -> None:
    """Refuses what the host uses, or may use: a use that cannot be looked at is not taken for none."""
    uses = function.in_use_by
    if uses == ():
        return
    if uses:
        reason = f"the host uses it: {', '.join(map(use_text, uses))}"
        remedy = "free the host of it, or set allow_in_use in its device spec"
    else:
        reason = f"it cannot be told whether the host uses it ({'; '.join(_unseen_uses(inventory, function))})"
        remedy = "root sees more; allow_in_use in its device spec lets it be taken all the same"
    raise LanewayError(
        ErrorCode.DEVICE_IN_USE,
        f"{function.address} is not taken from the host: {reason}; {remedy}",
        {"address": str(function.address), "in_use_by": None if uses is None else [use_text(use) for use in uses]},
    )


def _unseen_uses(inventory: Inventory, function: PciFunction) -> Iterator[str]:
    """What could not be looked at, of this function or of all."""
    for problem in inventory.problems:
        if problem.attribute == "in_use_by" and problem.address in (None, str(function.address)) and problem.message:
            yield problem.message


def require_closed(functions: Iterable[PciFunction]) -> None:
    """Refuses what a process has open, or may have open."""
    for function in functions:
        openers = function.opened_by
        if openers == ():
            continue
        if openers:
            who = f"{function.address} is open in {', '.join(map(opener_text, openers))}; stop it, and try again"
        else:
            who = f"who has {function.address} open cannot be told; root sees that"
        raise LanewayError(
            ErrorCode.DEVICE_OPEN,
            who,
            {
                "address": str(function.address),
                "opened_by": None if openers is None else [{"pid": one.pid, "name": one.name} for one in openers],
            },
        )


def use_text(use: HostUse) -> str:
    return f"{use.code} {use.detail}" if use.detail else use.code


def opener_text(opener: Opener) -> str:
    name = opener.name or "a process"
    return name if opener.pid is None else f"{name} ({opener.pid})"
