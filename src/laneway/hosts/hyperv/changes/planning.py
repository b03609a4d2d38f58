"""Which steps an action takes on a Windows host, and what its facts speak against. Pure.

The order is Microsoft's ("Deploy devices by using Discrete Device Assignment"): disable, dismount; back:
mount, enable.
"""

from collections.abc import Iterator

from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.hosts.hyperv.changes.facts import DeviceState, Facts
from laneway.hosts.hyperv.powershell_commands import Cmdlet
from laneway.hosts.recorded_function import require_recorded
from laneway.interfaces.host_changes import Action, Clean, Prepare, Release, SetVfCount, Step


def plan_steps(action: Action, facts: Facts) -> tuple[Step, ...]:
    """The steps, in order. Raises as ``ChangingHostDriver.plan``."""
    match action:
        case Prepare():
            return tuple(_prepare(action, facts))
        case Release():
            return tuple(_release(action, facts))
        case Clean():
            raise _unsupported(
                action, "Hyper-V has no cmdlet that resets or cleans a device; clean it by hand, or in a VM of your own"
            )
        case SetVfCount():
            raise _unsupported(
                action,
                "Windows makes the VFs of a network card itself, as VMs start; see Set-VMNetworkAdapter -IovWeight",
            )


def _prepare(action: Prepare, facts: Facts) -> Iterator[Step]:
    function = facts.functions.get(action.address)
    if function is None:
        raise LanewayError(
            ErrorCode.UNKNOWN_DEVICE,
            f"Windows lists no PCI function {action.address}; see: Get-PnpDevice -PresentOnly",
            {"address": str(action.address)},
        )
    require_recorded(action.recorded, function)
    path, state = _place(action, function, facts)
    _require_unheld(function, path, facts, "prepared")
    if action.attach is not Attach.VFIO:
        raise _unsupported(action, f"Hyper-V has no attachment by {action.attach}; claim the device by vfio")
    if action.vf_settings is not None:
        raise _unsupported(action, "Hyper-V sets MAC address and VLAN on the VM's network adapter, not on a device")
    if state.is_dismounted:
        return
    _require_assignable(action, function)
    if action.binding is not Binding.LANEWAY:
        raise _refused(
            ErrorCode.NOT_BOUND,
            function,
            f'its device spec leaves it to others (binding = "{action.binding}"), and it is not dismounted; run: '
            f'Dismount-VMHostAssignableDevice -Force -LocationPath "{path}"',
        )
    if not state.is_disabled:
        yield _step(Cmdlet.DISABLE, function, path, state.instance_id, undo=Cmdlet.ENABLE)
    yield _step(Cmdlet.DISMOUNT, function, path, state.instance_id, undo=Cmdlet.MOUNT)


def _place(action: Prepare, function: PciFunction, facts: Facts) -> tuple[str, DeviceState]:
    path = function.location_path
    state = None if path is None else facts.state(path)
    if path is None or state is None:
        raise _unsupported(action, "Windows tells no location path of it, by which Hyper-V names devices")
    return path, state


def _require_assignable(action: Prepare, function: PciFunction) -> None:
    for reason in function.not_assignable or ():
        raise _refused(ErrorCode.NOT_ASSIGNABLE, function, reason.message or reason.code)
    if action.may_be_in_use:
        return
    if function.in_use_by:
        uses = ", ".join(f"{use.code} {use.detail}" if use.detail else use.code for use in function.in_use_by)
        raise _refused(ErrorCode.DEVICE_IN_USE, function, f"Windows itself uses it: {uses}")
    if function.in_use_by is None:
        raise _refused(
            ErrorCode.DEVICE_IN_USE,
            function,
            "it is not known whether Windows itself uses it, and a dismount asks nobody; run this as administrator, or "
            "set allow_in_use = true in its device_spec if it is free",
        )


def _require_unheld(function: PciFunction, path: str, facts: Facts, what: str) -> None:
    """Hyper-V itself knows who has a device: it is asked, and without an answer nothing is done."""
    if facts.holders is None:
        why = "; ".join(facts.failures) or "it was not asked"
        raise LanewayError(
            ErrorCode.HOST_UNREACHABLE,
            f"{function.address} cannot be {what}: Hyper-V does not tell which VM has which device ({why}); run this "
            "as a member of Administrators, on a host with the Hyper-V module of PowerShell",
            {"address": str(function.address)},
        )
    vm = facts.holders.get(path.upper())
    if vm is not None:
        raise _refused(
            ErrorCode.DEVICE_OPEN,
            function,
            f"the virtual machine {vm} has it; take it out first (Remove-VMAssignableDevice), or take its devices over "
            "with 'laneway adopt'",
            what=what,
        )


def _release(action: Release, facts: Facts) -> Iterator[Step]:
    """What is gone, or was given back meanwhile, needs no step."""
    taken = [one for one in reversed(action.taken) if one.kind in (Cmdlet.DISABLE, Cmdlet.DISMOUNT)]
    for one in taken:
        function = facts.functions.get(one.address)
        if function is not None:
            _require_unheld(function, one.target, facts, "released")
    if action.keep:
        return
    mounted = set[str]()
    for one in taken:
        state, function = facts.state(one.target), facts.functions.get(one.address)
        if state is None or function is None:
            continue
        if one.kind == Cmdlet.DISMOUNT and state.is_dismounted:
            mounted.add(one.target)
            yield _step(Cmdlet.MOUNT, function, one.target, one.value, undo=Cmdlet.DISMOUNT)
        elif one.kind == Cmdlet.DISABLE and (state.is_disabled or one.target in mounted):
            yield _step(Cmdlet.ENABLE, function, one.target, one.value, undo=Cmdlet.DISABLE)


def _step(cmdlet: Cmdlet, function: PciFunction, path: str, instance_id: str | None, *, undo: Cmdlet) -> Step:
    """Runs a cmdlet on the device at a location path; ``instance_id`` is what Windows called it when it was taken."""
    return Step(
        kind=cmdlet,
        address=function.address,
        target=path,
        value=instance_id,
        found=function.driver,
        undo=undo,
        summary=f"{cmdlet} {path}",
    )


def _refused(code: ErrorCode, function: PciFunction, why: str, *, what: str = "prepared") -> LanewayError:
    detail = {"address": str(function.address), "location_path": function.location_path}
    return LanewayError(code, f"{function.address} cannot be {what}: {why}", detail)


def _unsupported(action: Prepare | Clean | SetVfCount, why: str) -> LanewayError:
    return LanewayError(
        ErrorCode.NOT_SUPPORTED, f"{action.address}: {why}", {"address": str(action.address), "driver": "hyperv"}
    )
