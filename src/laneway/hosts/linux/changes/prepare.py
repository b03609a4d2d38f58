"""Planning to take a function from the host for a guest. Pure: facts in, steps out."""

from collections.abc import Collection, Iterator, Mapping

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.hosts.linux.changes import steps
from laneway.hosts.linux.changes.course import Course
from laneway.hosts.linux.changes.facts import HostFacts
from laneway.hosts.linux.changes.refusals import (
    require_closed,
    require_fit_host,
    require_function,
    require_unused,
)
from laneway.hosts.linux.changes.vfio_drivers import VFIO_PCI, VfioDriver
from laneway.hosts.linux.changes.virtual_functions import remove_vfs, require_removable_vfs
from laneway.hosts.recorded_function import require_recorded
from laneway.interfaces.host_changes import Prepare, Step


def plan_prepare(action: Prepare, facts: HostFacts, own: VfioDriver, plain: VfioDriver) -> tuple[Step, ...]:
    """The steps to the driver for guests: ``own`` for the device, ``plain`` (vfio-pci) for its siblings.

    What is not to be touched is not looked at either: a device that is taken already may be open in its guest.
    """
    function = require_function(facts, action.address, ErrorCode.WRONG_DEVICE)
    require_recorded(action.recorded, function)
    if action.attach is not Attach.VFIO:
        return ()
    require_fit_host(facts.inventory, function)
    if action.binding is not Binding.LANEWAY:
        _require_bound_by_others(action, facts, function)
        return ()
    _require_viable(facts, action.address, movable=action.siblings)
    wanted = {action.address: own} if _is_to_be_taken(facts, action.address, own) else {}
    for sibling in _on_host_drivers(facts, action.address):
        wanted[sibling] = plain
    for member in wanted:
        _require_takeable(action, facts, member)
    return _steps(action, facts, wanted)


def _steps(action: Prepare, facts: HostFacts, wanted: Mapping[PciAddress, VfioDriver]) -> tuple[Step, ...]:
    course = Course(facts.standings)
    for driver in dict.fromkeys(wanted.values()):
        if not driver.is_loaded:
            course.add(steps.load_module(action.address, driver.module))
    for member, driver in wanted.items():
        remove_vfs(member, course)
        course.override(member, member, driver.name)
        course.unbind(member, member)
        course.bind(member, member, driver.name)
    return course.steps


def _is_to_be_taken(facts: HostFacts, address: PciAddress, own: VfioDriver) -> bool:
    """A device that is with some driver for guests stays there, unless a variant of it is wanted."""
    standing = facts.standings[address]
    return not standing.is_on_vfio or own.name not in (VFIO_PCI, standing.driver)


def _on_host_drivers(facts: HostFacts, address: PciAddress) -> Iterator[PciAddress]:
    """The other endpoints of its IOMMU group that a driver of the host has; one without a driver is in no way."""
    for member in facts.standings[address].group or ():
        function, standing = facts.inventory.by_address.get(member), facts.standings.get(member)
        is_bridge = function is not None and function.is_bridge
        if member != address and not is_bridge and standing is not None and standing.driver and not standing.is_on_vfio:
            yield member


def _require_viable(facts: HostFacts, address: PciAddress, *, movable: Collection[PciAddress]) -> None:
    """Documentation/driver-api/vfio.rst: a group is opened only if no member of it is with a driver of the host."""
    hindrances = [member for member in _on_host_drivers(facts, address) if member not in movable]
    if hindrances:
        named = ", ".join(f"{member} on {facts.standings[member].driver}" for member in hindrances)
        raise LanewayError(
            ErrorCode.GROUP_NOT_VIABLE,
            f"{address} shares its IOMMU group with {named}, which may not be taken along: admit it by a device spec, "
            "or unbind it from its driver",
            {"address": str(address), "members": [str(member) for member in hindrances]},
        )


def _require_takeable(action: Prepare, facts: HostFacts, member: PciAddress) -> None:
    function = require_function(facts, member, ErrorCode.HOST_CHANGE_FAILED)
    if not action.may_be_in_use:
        require_unused(facts.inventory, function)
    require_closed([function])
    require_removable_vfs(facts, member, on_vfio=False)


def _require_bound_by_others(action: Prepare, facts: HostFacts, function: PciFunction) -> None:
    """``libvirt`` binds the device when its domain starts, and the operator has done so."""
    standing = facts.standings[action.address]
    if action.binding is Binding.OPERATOR:
        if not standing.is_on_vfio:
            raise LanewayError(
                ErrorCode.NOT_BOUND,
                f"{action.address} is {f'on {standing.driver}' if standing.driver else 'without a driver'}, and its "
                "device spec has binding operator: bind it to vfio-pci (driverctl set-override "
                f"{action.address} vfio-pci), or set binding to laneway",
                {"address": str(action.address), "driver": standing.driver},
            )
        _require_viable(facts, action.address, movable=())
        return
    _require_viable(facts, action.address, movable=action.siblings)
    if not standing.is_on_vfio:
        _require_takeable(action, facts, function.address)
