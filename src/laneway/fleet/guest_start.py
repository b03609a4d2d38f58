"""Whether a virtual machine may start with the devices of the host that its definition names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Binding, PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.guest_definition import GuestDefinition, WantedDevice
from laneway.interfaces.journal import PreparedDevice

Prepared = Mapping[PciAddress, PreparedDevice]


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a guest may not start with a device of the host."""

    address: PciAddress
    code: ErrorCode
    message: str


def require_start(view: HostView, guest: GuestDefinition, prepared: Prepared, *, allow_untracked: bool = False) -> None:
    """Raises LanewayError with every objection, and the code of the first (not_owner, not_bound, ...)."""
    objections = tuple(_objections(view, guest, prepared, allow_untracked=allow_untracked))
    if objections:
        raise LanewayError(
            objections[0].code,
            "\n".join(
                (
                    f"{guest.name} may not start with the devices that it is defined with:",
                    *(f"{objection.address}: {objection.message}" for objection in objections),
                )
            ),
            {
                "consumer": guest.name,
                "devices": [
                    {"address": str(one.address), "code": str(one.code), "message": one.message} for one in objections
                ],
            },
        )


def _objections(
    view: HostView, guest: GuestDefinition, prepared: Prepared, *, allow_untracked: bool
) -> Iterator[Objection]:
    functions = view.report.inventory.by_address
    boot_id = view.report.inventory.boot_id
    for wanted in guest.devices:
        function, held = functions.get(wanted.address), view.held.get(wanted.address)
        if function is None:
            found: tuple[ErrorCode, str] | None = (
                ErrorCode.UNKNOWN_DEVICE,
                "there is no such PCI function on this host; correct the definition",
            )
        elif held is None:
            found = _not_held(view, guest, function, allow_untracked=allow_untracked)
        else:
            found = (
                _ownership(view, guest, held)
                or _displacement(held)
                or _binding(guest, wanted, held, prepared.get(wanted.address), boot_id=boot_id)
            )
        if found is not None:
            yield Objection(wanted.address, *found)


def _displacement(held: PciDevice) -> tuple[ErrorCode, str] | None:
    return None if held.displaced is None else (ErrorCode.WRONG_DEVICE, held.displaced)


def _not_held(
    view: HostView, guest: GuestDefinition, function: PciFunction, *, allow_untracked: bool
) -> tuple[ErrorCode, str] | None:
    if view.is_admitted(function.address):
        return (
            ErrorCode.NOT_OWNER,
            f"nobody holds it; claim and allocate it for {guest.name} before the machine starts",
        )
    rival = _rival(view, guest, function)
    if rival is not None:
        return (
            ErrorCode.NOT_OWNER,
            f"no device spec admits it, and to take it would take {rival.address} away from {_holder(rival)}",
        )
    if not allow_untracked:
        return (
            ErrorCode.UNKNOWN_DEVICE,
            "no device spec admits it; add one, or let such devices through with --allow-untracked",
        )
    return None


def _rival(view: HostView, guest: GuestDefinition, function: PciFunction) -> PciDevice | None:
    """A device of somebody else's that goes where this function goes: a VF of it, its PF, or one of its group."""
    for device in view.held.values():
        other = device.function
        related = function.address == other.parent_addr or function.parent_addr == other.address
        related = related or (function.iommu_group is not None and function.iommu_group == other.iommu_group)
        if related and device.consumer not in guest.consumers:
            return device
    return None


def _ownership(view: HostView, guest: GuestDefinition, held: PciDevice) -> tuple[ErrorCode, str] | None:
    if held.consumer is None:
        return ErrorCode.INVALID_STATUS, f"it is {held.status}, and nobody's until that is over"
    if held.consumer not in guest.consumers:
        return ErrorCode.NOT_OWNER, f"it belongs to {held.consumer}"
    if held.attach is not Attach.VFIO:
        return (
            ErrorCode.INVALID_STATUS,
            f"it was claimed to be attached by {held.attach}, and the definition takes the whole function; "
            f"print what is right with: laneway hostdev {held.consumer} --format libvirt",
        )
    if held.status is not Status.ALLOCATED and not _is_moving_here(view, held):
        return (
            ErrorCode.INVALID_STATUS,
            f"it is {held.status}, not allocated; run: laneway allocate {held.consumer}",
        )
    return None


def _is_moving_here(view: HostView, held: PciDevice) -> bool:
    """Until its move is confirmed, a machine runs with what is only claimed for it."""
    claim = view.claims.get(held.claim or "")
    return claim is not None and claim.move is not None


def _binding(
    guest: GuestDefinition,
    wanted: WantedDevice,
    held: PciDevice,
    prepared: PreparedDevice | None,
    *,
    boot_id: str | None,
) -> tuple[ErrorCode, str] | None:
    """Exactly one party takes a device from its driver: the one that its device spec names."""
    binding, driver = held.extra_info.binding, held.function.driver
    is_bound = driver is not None and is_vfio_driver(driver)
    on = "no driver" if driver is None else f"driver {driver}"
    if binding is Binding.LIBVIRT:
        if wanted.managed or is_bound:
            return None
        return (
            ErrorCode.NOT_BOUND,
            f"its device spec leaves it to libvirt, so the definition has to say managed='yes' ({on})",
        )
    if wanted.managed:
        return (
            ErrorCode.NOT_BOUND,
            f"the definition says managed='yes', but its device spec says binding = \"{binding}\": two parties would "
            f"bind it; print what is right with: laneway hostdev {held.consumer} --format libvirt",
        )
    if binding is Binding.OPERATOR:
        return None if is_bound else (ErrorCode.NOT_BOUND, f"it is on {on}; its operator has to bind it to vfio-pci")
    is_of_this_boot = prepared is not None and (None in (prepared.boot_id, boot_id) or prepared.boot_id == boot_id)
    if prepared is None or prepared.consumer not in guest.consumers or not is_of_this_boot:
        return ErrorCode.NOT_BOUND, f"it is not prepared since this boot ({on}); run: laneway prepare {held.consumer}"
    if not is_bound:
        return (
            ErrorCode.NOT_BOUND,
            f"it was prepared, and is on {on} now: something else took it; run: laneway release {held.consumer}, then "
            f"laneway prepare {held.consumer}",
        )
    return None


def _holder(device: PciDevice) -> str:
    return device.consumer or f"nobody yet, as it is {device.status}"
