"""Which steps an action takes on a host as libvirt tells it, and what the facts speak against. Pure."""

from collections.abc import Iterator
from enum import StrEnum

from laneway.domain.cleaning import CleaningKind
from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.hosts.libvirt.capabilities import IOMMU_OFF
from laneway.hosts.libvirt.changes.facts import Facts
from laneway.hosts.recorded_function import require_recorded
from laneway.interfaces.host_changes import Action, Clean, Prepare, Release, SetVfCount, Step

VFIO = "vfio"
"""Leaves the choice of a VFIO driver to libvirt: from 10.0 on a variant driver, where the kernel has one."""
_STORAGE_AND_NETWORK = ("01", "02")
_WITH_VARIANTS = 10_000_000
_NO_HINDRANCE = frozenset({"pci-stub"})
"""With these a member keeps no IOMMU group from being viable (kernel: drivers/vfio/vfio_main.c)."""


class StepKind(StrEnum):
    DETACH = "detach"
    REATTACH = "reattach"
    RESET = "reset"


def plan_steps(action: Action, facts: Facts) -> tuple[Step, ...]:
    """The steps, in order. Raises as ``ChangingHostDriver.plan``."""
    match action:
        case Prepare():
            return tuple(_prepare(action, facts))
        case Release():
            return tuple(_release(action, facts))
        case Clean():
            return tuple(_clean(action, facts))
        case SetVfCount():
            raise _unsupported(
                action,
                "libvirt has no call that makes or removes VFs; run laneway vfs on the host itself, with driver = "
                '"linux", or write the number into sriov_numvfs of the PF there',
            )


def _prepare(action: Prepare, facts: Facts) -> Iterator[Step]:
    function = facts.function(action.address)
    require_recorded(action.recorded, function)
    if action.vf_settings is not None:
        raise _unsupported(
            action,
            "libvirt sets MAC address and VLAN of a VF only as a VM starts, by <interface type='hostdev'>; write them "
            'into the VM\'s definition, or prepare with driver = "linux" on the host',
        )
    if action.attach is not Attach.VFIO:
        return
    _require_assignable(action, function, facts)
    members = _group(function, facts)
    _require_viable(action, function, members, facts)
    if action.binding is Binding.OPERATOR:
        _require_bound(function, members)
    if action.binding is Binding.LANEWAY:
        for member in members:
            if member.driver is None and member is not function:
                continue  # a member without a driver keeps no group from being viable
            if member.driver is None or not _is_out_of_the_way(member):
                yield _detach(member, facts)


def _require_assignable(action: Prepare, function: PciFunction, facts: Facts) -> None:
    address = function.address
    if function.is_bridge:
        raise _refused(ErrorCode.NOT_ASSIGNABLE, function, "it is a bridge, which no VM can be given")
    if facts.iommu == IOMMU_OFF:
        raise _refused(
            ErrorCode.NOT_ASSIGNABLE, function, "the host uses no IOMMU; turn it on (laneway check says how)"
        )
    if function.iommu_group is None:
        raise _refused(ErrorCode.NOT_ASSIGNABLE, function, "it is in no IOMMU group, so VFIO cannot open it")
    if address in facts.holders:
        raise _refused(
            ErrorCode.DEVICE_OPEN,
            function,
            f"the running libvirt domain {facts.holders[address]} has it; stop the domain, or take its devices over "
            "with 'laneway adopt'",
        )
    if not action.may_be_in_use:
        _require_unused(action.recorded, function)
    if action.live_migratable and action.binding is Binding.LANEWAY and facts.version < _WITH_VARIANTS:
        raise _unsupported(
            action,
            "a guest that migrates needs the VFIO variant driver of its device, which libvirt chooses from 10.0 on; "
            'update libvirt, or prepare with driver = "linux" on the host',
        )
    _require_no_vfs(function)


def _require_unused(recorded: PciFunction, function: PciFunction) -> None:
    """libvirt does not tell what the host uses, and a disk or an uplink that it does use is not to be tried out."""
    if recorded.in_use_by:
        uses = ", ".join(use.code for use in recorded.in_use_by)
        raise _refused(ErrorCode.DEVICE_IN_USE, function, f"the host itself used it when it was claimed ({uses})")
    is_critical = (function.class_code or "").startswith(_STORAGE_AND_NETWORK) and function.dev_type is not DevType.VF
    if is_critical and function.driver is not None and not _is_out_of_the_way(function):
        raise _refused(
            ErrorCode.DEVICE_IN_USE,
            function,
            f"it is on driver {function.driver}, and libvirt does not tell whether the host uses it; prepare with "
            'driver = "linux" on the host, which looks, or set allow_in_use = true in its device_spec if it is free',
        )


def _require_no_vfs(function: PciFunction) -> None:
    if function.sriov is not None and function.sriov.num_vfs:
        raise _refused(
            ErrorCode.VFS_IN_THE_WAY,
            function,
            f"it has {function.sriov.num_vfs} VFs, which libvirt cannot remove; run laneway vfs {function.address} 0 "
            "on the host itself first",
        )


def _group(function: PciFunction, facts: Facts) -> list[PciFunction]:
    """The endpoints of its IOMMU group, itself first."""
    others = (
        other
        for address, other in sorted(facts.functions.items())
        if other.iommu_group == function.iommu_group and address != function.address and not other.is_bridge
    )
    return [function, *others]


def _require_viable(action: Prepare, function: PciFunction, members: list[PciFunction], facts: Facts) -> None:
    for member in members[1:]:
        if member.driver is None or _is_out_of_the_way(member):
            continue
        if member.address not in action.siblings:
            why = f"is on driver {member.driver} and no device spec admits it; admit it, so that it is taken along"
        elif action.binding is Binding.OPERATOR:
            why = f'is on driver {member.driver}; bind it to vfio-pci as well, as binding = "operator" says'
        elif member.address in facts.holders:
            why = f"is used by the running libvirt domain {facts.holders[member.address]}"
        else:
            _require_no_vfs(member)
            if not action.may_be_in_use:
                _require_unused(member, member)
            continue
        raise LanewayError(
            ErrorCode.GROUP_NOT_VIABLE,
            f"{function.address} cannot be prepared: {member.address} of its IOMMU group {member.iommu_group} {why}",
            {"address": str(function.address), "member": str(member.address), "group": member.iommu_group},
        )


def _require_bound(function: PciFunction, members: list[PciFunction]) -> None:
    if function.driver is None or not is_vfio_driver(function.driver):
        raise _refused(
            ErrorCode.NOT_BOUND,
            function,
            f"it is on {_driver(function)}, and its device spec says that the operator binds it (binding = "
            f'"operator"): virsh nodedev-detach, or driverctl set-override {members[0].address} vfio-pci',
        )


def _release(action: Release, facts: Facts) -> Iterator[Step]:
    """Resets what is still with a driver for guests, then gives it back; what is gone or was given back is left."""
    taken = [step for step in reversed(action.taken) if step.kind == StepKind.DETACH]
    there = [function for step in taken if (function := facts.functions.get(step.address)) is not None]
    for function in there:
        if function.address in facts.holders:
            raise _refused(
                ErrorCode.DEVICE_OPEN,
                function,
                f"the running libvirt domain {facts.holders[function.address]} has it; stop the domain first",
                what="released",
            )
    for function in there:
        if _is_vfio(function):
            yield _reset(function, facts)
    if not action.keep:
        for function in there:
            _require_group_free(function, facts)
        for step in taken:
            now = facts.functions.get(step.address)
            if now is not None and _is_vfio(now):
                yield _reattach(now, step.found, facts)


def _require_group_free(function: PciFunction, facts: Facts) -> None:
    """A driver of the host's may not get a function while a guest has another of its IOMMU group."""
    for member in _group(function, facts)[1:]:
        if member.address in facts.holders:
            raise _refused(
                ErrorCode.GROUP_NOT_VIABLE,
                function,
                f"the running libvirt domain {facts.holders[member.address]} has {member.address} of its IOMMU group "
                f"{member.iommu_group}; stop the domain first",
                what="released",
            )


def _clean(action: Clean, facts: Facts) -> Iterator[Step]:
    function = facts.function(action.address)
    if action.cleaning.kind is not CleaningKind.RESET:
        raise _unsupported(
            action,
            f'libvirt runs no cleaning of the kind {action.cleaning.kind}; clean with driver = "linux" on the host, or '
            "by hand, and say so with laneway clean",
        )
    if function.address in facts.holders:
        raise _refused(
            ErrorCode.DEVICE_OPEN,
            function,
            f"the running libvirt domain {facts.holders[function.address]} has it; stop the domain first",
            what="cleaned",
        )
    if function.driver is not None and not is_vfio_driver(function.driver):
        raise _refused(
            ErrorCode.NOT_BOUND, function, f"it is on {_driver(function)}, which a reset would disturb", what="cleaned"
        )
    yield _reset(function, facts)


def _detach(function: PciFunction, facts: Facts) -> Step:
    return Step(
        kind=StepKind.DETACH,
        address=function.address,
        target=facts.names[function.address],
        value=VFIO,
        found=function.driver,
        undo=StepKind.REATTACH,
        summary=f"take {function.address} from {_driver(function)} (virsh nodedev-detach --driver vfio)",
    )


def _reattach(function: PciFunction, driver: str | None, facts: Facts) -> Step:
    expected = "without a driver, as before" if driver is None else f"to {driver}"
    return Step(
        kind=StepKind.REATTACH,
        address=function.address,
        target=facts.names[function.address],
        value=driver,
        found=function.driver,
        undo=StepKind.DETACH,
        summary=f"give {function.address} back {expected} (virsh nodedev-reattach)",
    )


def _reset(function: PciFunction, facts: Facts) -> Step:
    return Step(
        kind=StepKind.RESET,
        address=function.address,
        target=facts.names[function.address],
        summary=f"reset {function.address} (virsh nodedev-reset)",
    )


def _is_vfio(function: PciFunction) -> bool:
    return function.driver is not None and is_vfio_driver(function.driver)


def _is_out_of_the_way(function: PciFunction) -> bool:
    return _is_vfio(function) or function.driver in _NO_HINDRANCE


def _driver(function: PciFunction) -> str:
    return "no driver" if function.driver is None else f"driver {function.driver}"


def _refused(code: ErrorCode, function: PciFunction, why: str, *, what: str = "prepared") -> LanewayError:
    return LanewayError(
        code,
        f"{function.address} cannot be {what}: {why}",
        {"address": str(function.address), "driver": function.driver},
    )


def _unsupported(action: Prepare | Clean | SetVfCount, why: str) -> LanewayError:
    return LanewayError(
        ErrorCode.NOT_SUPPORTED, f"{action.address}: {why}", {"address": str(action.address), "driver": "libvirt"}
    )
