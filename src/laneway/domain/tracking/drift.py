"""Where a host does not stand as it is recorded: who has a device, and on which driver it is. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, PciDevice, Status
from laneway.domain.running_vms import RunningVm
from laneway.domain.tracking.host_view import HostView

NOT_IN_VM = "not_in_vm"
NOT_OWNED_BY_VM = "not_owned_by_vm"
OTHER_DRIVER = "other_driver"
NOT_RESTORED = "not_restored"
"""A service or command that knows what was prepared before a boot tells this one."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference between what is recorded and what is so."""

    code: str
    address: PciAddress
    message: str


def find_drift(
    view: HostView, vms: Iterable[RunningVm] = (), taken: Mapping[PciAddress, str | None] | None = None
) -> tuple[Drift, ...]:
    """All differences, by address.

    ``vms`` are those that run: of a VM that does not run nothing is said. ``taken`` has for each
    function that was taken from the host the driver on which it was then; None where that is not
    known. Devices that no spec admits are nobody's business here.
    """
    running = tuple(vms)
    found = (*_not_in_vm(view, running), *_not_owned(view, running), *_on_other_driver(view, taken or {}))
    return tuple(sorted(found, key=lambda drift: (drift.address, drift.code, drift.message)))


def _not_in_vm(view: HostView, vms: Iterable[RunningVm]) -> Iterator[Drift]:
    """A macvtap device stays with the host, so it is not looked for."""
    by_name = {name: vm for vm in vms for name in (vm.uuid, vm.consumer) if name is not None}
    for address, device in view.held.items():
        vm = by_name.get(device.consumer or "")
        if vm is None or device.status is not Status.ALLOCATED or device.attach is Attach.MACVTAP:
            continue
        if address not in vm.devices:
            message = f"it is allocated to {device.consumer}, which runs without it; attach it, or free it"
            yield Drift(NOT_IN_VM, address, message)


def _not_owned(view: HostView, vms: Iterable[RunningVm]) -> Iterator[Drift]:
    for vm in vms:
        for address in vm.devices:
            device = view.device(address)
            if device is not None and (device.consumer is None or device.consumer not in (vm.consumer, vm.uuid)):
                message = (
                    f"{vm.consumer} runs with it, and {_owner(device)}; take it from the VM, or 'laneway adopt' it"
                )
                yield Drift(NOT_OWNED_BY_VM, address, message)


def _on_other_driver(view: HostView, taken: Mapping[PciAddress, str | None]) -> Iterator[Drift]:
    functions = view.report.inventory.by_address
    for address, recorded in taken.items():
        function = functions.get(address)
        if function is not None and recorded is not None and function.driver != recorded:
            now = "no driver" if function.driver is None else f"driver {function.driver}"
            message = f"it was put on driver {recorded} for a guest and is on {now}; release it and prepare it again"
            yield Drift(OTHER_DRIVER, address, message)


def _owner(device: PciDevice) -> str:
    if device.consumer is not None:
        return f"it belongs to {device.consumer}"
    return "it belongs to nobody" if device.status is Status.AVAILABLE else f"it is {device.status}"
