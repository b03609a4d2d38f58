"""Which VM holds which function: what VMs say of themselves, held against the host's facts. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.inventory import PciFunction, Problem
from laneway.hosts.observed_vm import ObservedVm
from laneway.interfaces.running_vms import RunningVm, RunningVms

_KINDS = {"libvirt": "the libvirt domain", "qemu": "the QEMU process", "hyperv": "the virtual machine"}


def assign_functions(
    observed: Sequence[ObservedVm], functions: Sequence[PciFunction], problems: Iterable[Problem] = ()
) -> RunningVms:
    """Holds what VMs say of themselves against the host's facts. Pure."""
    noted = list(problems)
    by_address = {function.address: function for function in functions}
    holdings = [(vm, _devices_of(vm, by_address, noted)) for vm in observed]
    holders = Counter(address for _, devices in holdings for address in devices)
    contested = {address for address, count in holders.items() if count > 1}
    noted.extend(_contested_notes(contested, holdings))
    noted.extend(_stranger_notes(functions, {vm.pid for vm in observed}))
    vms = [
        RunningVm(consumer=consumer, uuid=vm.uuid, pid=vm.pid, devices=owned, source=vm.source)
        for (vm, devices), consumer in zip(holdings, _consumers(observed), strict=True)
        if (owned := {address: attach for address, attach in sorted(devices.items()) if address not in contested})
    ]
    return RunningVms(vms=tuple(vms), problems=tuple(noted))


def _devices_of(
    vm: ObservedVm, functions: Mapping[PciAddress, PciFunction], problems: list[Problem]
) -> dict[PciAddress, Attach]:
    """What the VM says that it has, and what its process holds besides.

    A command line is believed only as far as the process holds the function, or that is not known. A
    handle on a group tells of no single function, so it adds only functions of groups that nothing
    that the VM says is in.
    """
    found = dict.fromkeys(vm.addresses, Attach.VFIO)
    for function in functions.values():
        if function.vdpa is not None and function.vdpa.vhost_node in vm.vhost_nodes:
            found[function.address] = Attach.VDPA
        if any(netdev.name in vm.macvtap_parents for netdev in function.netdevs or ()):
            found[function.address] = Attach.MACVTAP
    for address in sorted(found.keys() - functions.keys()):
        del found[address]
        problems.append(
            Problem(address=str(address), message=f"{_title(vm)} has this function, which the host does not list")
        )
    if vm.source == "qemu":
        found = {address: attach for address, attach in found.items() if _may_hold(functions[address], vm.pid)}
    groups = {functions[address].iommu_group for address in found}
    for function in functions.values():
        if function.address not in found and function.iommu_group not in groups - {None} and _holds(function, vm.pid):
            found[function.address] = Attach.VFIO if function.vdpa is None else Attach.VDPA
    return found


def _holds(function: PciFunction, pid: int | None) -> bool:
    return pid is not None and any(opener.pid == pid for opener in function.opened_by or ())


def _may_hold(function: PciFunction, pid: int | None) -> bool:
    return function.opened_by is None or _holds(function, pid)


def _contested_notes(
    contested: set[PciAddress], holdings: Sequence[tuple[ObservedVm, Mapping[PciAddress, Attach]]]
) -> Iterator[Problem]:
    for address in sorted(contested):
        names = " and ".join(_title(vm) for vm, devices in holdings if address in devices)
        yield Problem(address=str(address), message=f"{names} both have this function; it is given to neither")


def _stranger_notes(functions: Iterable[PciFunction], known: set[int | None]) -> Iterator[Problem]:
    for function in functions:
        for opener in function.opened_by or ():
            if opener.pid is not None and opener.pid not in known:
                yield Problem(
                    address=str(function.address),
                    attribute="opened_by",
                    message=f"process {opener.pid} ({opener.name or 'ended meanwhile'}) holds this function and is "
                    "neither a libvirt domain nor QEMU: stop it, or claim the function for it by hand",
                )


def _consumers(observed: Sequence[ObservedVm]) -> list[str]:
    """The name of each VM, made unique by its uuid or process where several have it."""
    names = [vm.name or vm.uuid or f"{vm.source}-{vm.pid}" for vm in observed]
    count = Counter(names)
    return [
        name if count[name] == 1 else vm.uuid or f"{name}-{vm.pid}" for vm, name in zip(observed, names, strict=True)
    ]


def _title(vm: ObservedVm) -> str:
    return f"{_KINDS[vm.source]} {vm.name or vm.uuid or vm.pid}"
