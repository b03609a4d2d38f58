"""What the parts that look for host use have found so far."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from laneway.domain.address import PciAddress
from laneway.domain.inventory import HostUse, Problem


class UseCode(StrEnum):
    """Why the host itself needs a function. The texts are part of the inventory contract and never change."""

    MOUNTED = "mounted"
    SWAP = "swap"
    HELD_BY_LVM = "held_by_lvm"
    HELD_BY_MD = "held_by_md"
    HELD_BY_DM = "held_by_dm"
    HELD_BY_ZFS = "held_by_zfs"
    HELD_OPEN = "held_open"
    DEFAULT_ROUTE = "default_route"
    ADDRESS = "address"
    UPPER_DEVICE = "upper_device"
    DEVICE_NODE_OPEN = "device_node_open"
    BOOT_CONSOLE = "boot_console"


_ORDER = {code.value: rank for rank, code in enumerate(UseCode)}


@dataclass(slots=True)
class UseFindings:
    """Collects uses, and for which functions a kind of use could not be looked at."""

    uses: dict[PciAddress, set[HostUse]] = field(default_factory=dict)
    unknown: set[PciAddress] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def add(self, functions: Iterable[PciAddress], code: UseCode, detail: str) -> None:
        use = HostUse(code=code.value, detail=detail)
        for address in functions:
            self.uses.setdefault(address, set()).add(use)

    def not_known(self, functions: Iterable[PciAddress], message: str, *, address: PciAddress | None = None) -> None:
        """Some kind of use cannot be known of these functions; noted only if there are any."""
        affected = set(functions)
        if affected:
            self.unknown |= affected
            self.problems.append(
                Problem(address=None if address is None else str(address), attribute="in_use_by", message=message)
            )

    def conclude(self, functions: Iterable[PciAddress]) -> Iterator[tuple[PciAddress, tuple[HostUse, ...] | None]]:
        """For each function its uses; None where none was found but not all kinds could be looked at."""
        for address in functions:
            found = self.uses.get(address)
            if found:
                yield address, tuple(sorted(found, key=lambda use: (_ORDER[use.code], use.detail or "")))
            else:
                yield address, None if address in self.unknown else ()
