"""Which devices are to be taken out of use by themselves: those that do not answer, and those whose link fails."""

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason

NOT_RESPONDING = "not_responding"
FATAL_ERRORS = "fatal_errors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a function does. ``reads_all_ones``: its configuration space does not answer any more.

    ``fatal_errors`` is the kernel's count of fatal AER errors since the boot (sysfs
    ``aer_dev_fatal``). None where that is not known.
    """

    reads_all_ones: bool | None = None
    fatal_errors: int | None = None


def unhealthy(earlier: Mapping[PciAddress, Health], now: Mapping[PciAddress, Health]) -> dict[PciAddress, BlockReason]:
    """The devices to be blocked, and why; ``earlier`` is how they did when they were last looked at.

    A count that was not known earlier, or is lower than then (a new boot), is where counting begins.
    """
    return {address: reason for address, health in now.items() if (reason := _reason(earlier.get(address), health))}


def _reason(earlier: Health | None, now: Health) -> BlockReason | None:
    if now.reads_all_ones:
        return BlockReason(
            NOT_RESPONDING,
            "it does not answer: its configuration space reads as all ones; see to it, then 'laneway uncordon'",
        )
    before = None if earlier is None else earlier.fatal_errors
    if before is None or now.fatal_errors is None or now.fatal_errors <= before:
        return None
    new = now.fatal_errors - before
    return BlockReason(
        FATAL_ERRORS,
        f"its link had {new} fatal error{'s' if new > 1 else ''} since it was last looked at (aer_dev_fatal:"
        f" {now.fatal_errors}); look at dmesg, then 'laneway uncordon'",
        str(now.fatal_errors),
    )
