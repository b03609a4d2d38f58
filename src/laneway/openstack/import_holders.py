"""Who holds what while an import is under way. The index of a host is too dear to change for each device."""

from collections import defaultdict

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.inventory import PciFunction
from laneway.domain.tracking.host_view import HostView, IommuGroups


class Holders:
    """The held devices, by what they are in conflict over (rules C36, C37 and D29)."""

    def __init__(self, host: HostView) -> None:
        self._groups_count = host.iommu_groups is IommuGroups.ENFORCE
        self._by_address: dict[PciAddress, PciDevice] = {}
        self._by_parent: defaultdict[PciAddress, list[PciDevice]] = defaultdict(list)
        self._by_group: defaultdict[int, list[PciDevice]] = defaultdict(list)
        for device in host.held.values():
            self.add(device)

    def add(self, device: PciDevice) -> None:
        """The device is held from now on."""
        self._by_address[device.address] = device
        if device.parent_addr is not None:
            self._by_parent[device.parent_addr].append(device)
        if device.function.iommu_group is not None:
            self._by_group[device.function.iommu_group].append(device)

    def rival(self, function: PciFunction, consumer: str) -> PciDevice | None:
        """The held device that keeps the consumer from this function: its PF, a VF of it, or of its IOMMU group."""
        found = list(self._by_parent.get(function.address, ()))
        if function.parent_addr in self._by_address:
            found.append(self._by_address[function.parent_addr])
        if self._groups_count and function.iommu_group is not None:
            group = self._by_group.get(function.iommu_group, ())
            found += [device for device in group if device.consumer != consumer]
        return min(found, key=lambda device: device.address, default=None)
