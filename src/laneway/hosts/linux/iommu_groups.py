"""IOMMU groups whose functions the firmware keeps for itself."""

from laneway.domain.inventory import NotAssignable
from laneway.hosts.linux.device_directory import read_attribute
from laneway.hosts.linux.tree import HostTree

_DIRECT = "direct"
"""A region that must stay mapped one to one. ``direct-relaxable`` ones need not once a guest has the function."""


class ReservedMemory:
    """Why groups cannot be assigned; each is read once."""

    def __init__(self, tree: HostTree) -> None:
        self._tree = tree
        self._known: dict[int, tuple[NotAssignable, ...] | None] = {}

    def of_group(self, group: int | None) -> tuple[NotAssignable, ...] | None:
        """What stands in the way of the group's functions; None where there is no group, or no word of it.

        Documentation/ABI/testing/sysfs-kernel-iommu_groups; VFIO refuses a device with a direct
        region (an RMRR in Intel's tables, a unity map in AMD's).
        """
        if group is None:
            return None
        if group not in self._known:
            self._known[group] = self._read(group)
        return self._known[group]

    def _read(self, group: int) -> tuple[NotAssignable, ...] | None:
        try:
            text = read_attribute(f"{self._tree.root}sys/kernel/iommu_groups/{group}/reserved_regions").decode()
        except (OSError, UnicodeDecodeError):
            return None
        if _DIRECT not in text:
            return ()
        regions = (line.split() for line in text.splitlines())
        return tuple(
            NotAssignable(
                code="reserved_memory",
                message=f"the firmware keeps the memory {region[0]}-{region[1]} mapped for it; "
                "an option of the firmware setup may end that",
            )
            for region in regions
            if region[2:] == [_DIRECT]
        )
