"""Which resource providers the devices of a host make, and what each of them has to say (rules P1 to P6)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import ConfigProblem, ErrorCode
from laneway.domain.requests.placement_terms import is_reported, official_resource_class, official_traits
from laneway.domain.tracking.host_view import HostView
from laneway.domain.tracking.reported_changes import entry_problem
from laneway.interfaces.placement import StandardNames

OWNER_TRAIT = "OWNER_NOVA"
"""What tells nova's providers from those that Cyborg reports of the same host (rules P5, P12 and P18)."""

_BURNED = (Status.ALLOCATED, Status.RELEASING, Status.DIRTY)
"""The statuses in which a device for one use is used up, until it is cleaned (rules P9 and D19)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProvider:
    """The provider of one device, or of all VFs of one PF; ``address`` is the device's or the PF's.

    ``resource_class`` and ``traits`` are those of today's config; ``held_over`` says that no entry
    admits any of its devices any more, so that they are those of the time when they were claimed;
    ``traits_changed`` that a device of it was claimed with others. ``size`` is the number of its
    devices, ``entry`` that of one of them, ``owned`` how many each consumer has, ``withheld`` how many
    have no owner and are not on offer. ``burned``: used up by its one use.
    """

    address: PciAddress
    resource_class: str
    traits: frozenset[str]
    size: int
    entry: int | None
    owned: Mapping[str, int]
    withheld: int = 0
    held_over: bool = False
    traits_changed: bool = False
    one_time_use: bool = False
    burned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedHost:
    """What a host has for Placement.

    ``faulty`` are the addresses of providers of which nothing can be said, ``moving`` consumers
    of which two sets of devices are on this host, until a move is decided.
    """

    providers: tuple[DeviceProvider, ...]
    faulty: frozenset[PciAddress] = frozenset()
    problems: tuple[ConfigProblem, ...] = ()
    moving: frozenset[str] = frozenset()


def reported_host(view: HostView, names: StandardNames) -> ReportedHost:
    """The providers that follow from a host's devices.

    Devices of a named physical network are not among them (rule P6): ports ask for those, which
    Placement does not know of (rule P14).
    """
    members, problems = _members(view)
    providers: list[DeviceProvider] = []
    faulty: set[PciAddress] = set()
    for address, devices in sorted(members.items()):
        problem = _fault(address, devices, view, names)
        if problem is not None:
            faulty.add(address)
            problems.append(problem)
        else:
            providers.append(_provider(address, devices, view, names))
    return ReportedHost(
        providers=tuple(providers), faulty=frozenset(faulty), problems=tuple(problems), moving=_moving(view)
    )


def _members(view: HostView) -> tuple[dict[PciAddress, list[PciDevice]], list[ConfigProblem]]:
    """The reported devices by the address of their provider, and those without one (rules P1 and P2)."""
    members: dict[PciAddress, list[PciDevice]] = defaultdict(list)
    problems: list[ConfigProblem] = []
    for address in sorted(view.addresses()):
        device = _as_of_today(address, view)
        if not is_reported(device.tags):
            continue
        if not device.dev_type.is_virtual:
            members[address].append(device)
        elif device.parent_addr is not None:
            members[device.parent_addr].append(device)
        else:
            fault = f"{address} has no known PF, to whose provider it would belong; find out why the host hides it"
            problems.append(ConfigProblem(ErrorCode.NOT_REPORTABLE, fault, value=str(address)))
    return members, problems


def _as_of_today(address: PciAddress, view: HostView) -> PciDevice:
    """A device with the tags of today's config, if that admits it: also where it was claimed with others."""
    device, today = view.device(address), view.admitted.get(address)
    assert device is not None
    return device if today is None else replace(device, extra_info=today.extra_info, entry=today.entry)


def _provider(
    address: PciAddress, devices: Sequence[PciDevice], view: HostView, names: StandardNames
) -> DeviceProvider:
    admitted = [device for device in devices if view.is_admitted(device.address)]
    sample = (admitted or devices)[0]
    owned = Counter(device.consumer for device in devices if device.consumer is not None)
    return DeviceProvider(
        address=address,
        resource_class=official_resource_class(sample, names.resource_classes),
        traits=_traits(sample, names) | ({OWNER_TRAIT} & names.traits),
        size=len(devices),
        entry=sample.entry,
        owned=owned,
        withheld=sum(1 for device in devices if not device.is_owned and not _is_on_offer(device, view)),
        held_over=not admitted,
        traits_changed=any(
            device.is_owned and _traits(view.stored(device.address), names) != _traits(device, names)
            for device in admitted
        ),
        one_time_use=sample.tags.get("one_time_use") is True,
        burned=any(device.tags.get("one_time_use") is True and device.status in _BURNED for device in devices),
    )


def _traits(device: PciDevice, names: StandardNames) -> frozenset[str]:
    return official_traits(device, names.traits)


def _is_on_offer(device: PciDevice, view: HostView) -> bool:
    return view.status_of(device.address) is Status.AVAILABLE and not view.blocked_by(device.address)


def _moving(view: HostView) -> frozenset[str]:
    moves = (claim for claim in view.claims.values() if claim.move is not None and not claim.move.confirmed)
    return frozenset(claim.request.consumer for claim in moves)


def _fault(
    address: PciAddress, devices: Sequence[PciDevice], view: HostView, names: StandardNames
) -> ConfigProblem | None:
    """Why one provider cannot stand for these devices. The config check knows most of this from the facts alone."""
    whole = [device for device in devices if not device.dev_type.is_virtual]
    virtual = [device for device in devices if device.dev_type.is_virtual]
    if whole and virtual:
        return _both(whole[0], virtual, view)
    admitted = [device for device in devices if view.is_admitted(device.address)]
    for device in admitted[1:]:
        if _terms(device, names) != _terms(admitted[0], names):
            fault = f"differs from {admitted[0].address} in resource_class or traits, and both are VFs of {address}"
            return _problem(device, fault, "write the same in both entries")
    for device in virtual:
        if device.tags.get("one_time_use") is True:
            fault = f"is a VF and one_time_use, but Placement knows all VFs of {address} as one"
            return _problem(device, fault, "set one_time_use for whole devices only")
    return None


def _terms(device: PciDevice, names: StandardNames) -> tuple[str, frozenset[str]]:
    return official_resource_class(device, names.resource_classes), _traits(device, names)


def _both(pf: PciDevice, vfs: Sequence[PciDevice], view: HostView) -> ConfigProblem:
    """A PF and VFs of it, both reported (rule C88), or the one allocated and the other in the config now (C91)."""
    left = next((device for device in (pf, *vfs) if not view.is_admitted(device.address)), None)
    if left is None:
        remedy = "keep one of the two, as report_in_placement is on"
        return _problem(pf, f"is reported to Placement, and so is {vfs[0].address}, a VF of it", remedy)
    other = vfs[0] if left is pf else pf
    return _problem(
        other,
        f"is let out now, but {left.address} is still {left.standing}, and Placement would offer both",
        "put the former entry back until it is free",
    )


def _problem(device: PciDevice, fault: str, remedy: str) -> ConfigProblem:
    return entry_problem(device, f"{device.address} {fault}; {remedy}", remedy)
