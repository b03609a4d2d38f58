"""What a host's newest report makes of what is stored: another boot has begun."""

from dataclasses import replace

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.tracking.claim import Update
from laneway.domain.tracking.host_view import HostView


def settle(view: HostView) -> Update:
    """The changes of stored records that follow from the report. Nothing where it is like the one before.

    After another boot nothing counts as prepared, as that boot prepared nothing; what was releasing
    stays so until the release is reported. The IOMMU group of a held device is kept up to date:
    while the device is gone its last one binds, and after another boot none does.
    """
    held: dict[PciAddress, PciDevice | None] = {}
    for address, device in view.state.held.items():
        today = _as_of_today(view, device)
        if today != device:
            held[address] = today
    now = view.report.inventory.boot_id
    return Update(held=held, boot_id=now if now != view.state.boot_id else None)


def _as_of_today(view: HostView, device: PciDevice) -> PciDevice:
    found = view.report.inventory.by_address.get(device.address)
    group = None if found is None else found.iommu_group
    if view.is_another_boot:
        device = replace(device, prepared=False, placeholders=())
    elif group is None:
        return device
    return replace(device, function=replace(device.function, iommu_group=group))
