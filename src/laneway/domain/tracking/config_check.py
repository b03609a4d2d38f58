"""What a config does on a host, entry by entry, and what of it is dangerous."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, PciDevice, Status
from laneway.domain.errors import ConfigProblem
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.requests.alias import Alias, Aliases
from laneway.domain.requests.matching import serves
from laneway.domain.requests.placement_terms import resource_class_by, resource_class_of
from laneway.domain.requests.request import DeviceRequest
from laneway.domain.specs.address_pattern import AddressGlob
from laneway.domain.specs.device_spec import DeviceSpecs, PciDeviceSpec
from laneway.domain.specs.refusal import Refusal, why_not
from laneway.domain.tracking.blocking import group_blocks, shared_groups
from laneway.domain.tracking.config_changes import Changes, Orphan, Retagged, changes_from, deferred, orphans
from laneway.domain.tracking.host_view import HostView, IommuGroups


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCheck:
    """What one device spec does. ``passed_over`` are functions that it fits and does not admit, with why."""

    spec: PciDeviceSpec
    admitted: tuple[PciAddress, ...]
    blocked: Mapping[PciAddress, tuple[BlockReason, ...]]
    passed_over: Mapping[PciAddress, Refusal]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasCheck:
    """How many devices an alias can be served by, at all and now; ``hint`` where there are none."""

    name: str
    devices: int
    available: int
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Danger:
    """Something that is allowed, and can do harm."""

    code: str
    message: str
    address: PciAddress | None = None
    entry: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigCheck:
    """``orphans`` and ``deferred`` are of the devices in use; ``changes`` is None where no config is known to be in
    force, with which this one could be compared.
    """

    entries: tuple[EntryCheck, ...]
    aliases: tuple[AliasCheck, ...]
    dangers: tuple[Danger, ...]
    warnings: tuple[ConfigProblem, ...]
    orphans: tuple[Orphan, ...] = ()
    deferred: tuple[Retagged, ...] = ()
    changes: Changes | None = None


def check_config(
    host: HostView,
    aliases: Aliases,
    warnings: Sequence[ConfigProblem] = (),
    in_force: DeviceSpecs | None = None,
    *,
    pci_in_placement: bool = False,
) -> ConfigCheck:
    """What the host's specs and aliases do on it. ``warnings`` are those of reading the config, ``in_force`` the specs
    that a service works by meanwhile. ``pci_in_placement``: Placement is asked first for what an alias wants.
    """
    return ConfigCheck(
        entries=_entries(host),
        aliases=tuple(_alias(alias, host, pci_in_placement=pci_in_placement) for alias in aliases.by_name.values()),
        dangers=tuple(_dangers(host)),
        warnings=tuple(warnings),
        orphans=orphans(host),
        deferred=deferred(host),
        changes=None if in_force is None else changes_from(in_force, host),
    )


def _entries(host: HostView) -> tuple[EntryCheck, ...]:
    functions, specs = host.report.inventory.by_address, host.report.specs
    admitted: dict[int, list[PciAddress]] = defaultdict(list)
    passed_over: dict[int, dict[PciAddress, Refusal]] = defaultdict(dict)
    for address, function in sorted(functions.items()):
        parent = functions.get(function.parent_addr) if function.parent_addr is not None else None
        device = host.admitted.get(address)
        if device is not None and device.entry is not None:
            admitted[device.entry].append(address)
        for spec in specs.fitting(function, parent):
            if device is None or spec.entry != device.entry:
                passed_over[spec.entry][address] = _why_passed_over(function, parent, spec, device, host)
    return tuple(
        EntryCheck(
            spec=spec,
            admitted=tuple(admitted[spec.entry]),
            blocked={address: reasons for address in admitted[spec.entry] if (reasons := host.blocked_by(address))},
            passed_over=passed_over[spec.entry],
        )
        for spec in specs
    )


def _why_passed_over(
    function: PciFunction, parent: PciFunction | None, spec: PciDeviceSpec, device: PciDevice | None, host: HostView
) -> Refusal:
    refusals = why_not(function, parent, type(host.report.specs)((spec,)))
    if refusals:
        return refusals[0]
    entry = None if device is None else device.entry
    return Refusal("admitted_by_another", f"entry {entry} admits it first")


def _alias(alias: Alias, host: HostView, *, pci_in_placement: bool) -> AliasCheck:
    request = DeviceRequest(name=alias.name, alternatives=alias.alternatives)
    serving = [address for address, device in host.admitted.items() if serves(device, request) is not None]
    hint = None if serving else _why_nothing_serves(alias, host)
    if pci_in_placement and serving:
        known_as = resource_class_of(host.admitted[serving[0]])
        serving = [address for address in serving if _is_asked_of_placement(alias, host.admitted[address])]
        if not serving:
            hint = f'Placement knows these devices by another class; ask for resource_class = "{known_as}"'
    free = [a for a in serving if host.status_of(a) is Status.AVAILABLE and not host.blocked_by(a)]
    return AliasCheck(name=alias.name, devices=len(serving), available=len(free), hint=hint)


def _is_asked_of_placement(alias: Alias, device: PciDevice) -> bool:
    """Whether the class that Placement is asked for is the device's (rules P3 and P11)."""
    asked = {resource_class_by(way.tags, way.vendor_id or "", way.product_id or "") for way in alias.alternatives}
    return resource_class_of(device) in asked


def _why_nothing_serves(alias: Alias, host: HostView) -> str:
    """The commonest reasons: the type has to be asked for, or no spec admits what is there (rule C53)."""
    wanted = {(way.vendor_id, way.product_id) for way in alias.alternatives}
    asked = {way.dev_type for way in alias.alternatives}
    alike = [device for device in host.admitted.values() if (device.vendor_id, device.product_id) in wanted]
    other_type = next((device.dev_type for device in alike if device.dev_type not in asked), None)
    if other_type is DevType.VDPA:
        return "the devices with these ids are vDPA devices, which no alias asks for"
    if other_type is not None:
        return f'the devices with these ids are of another type; ask for device_type = "{other_type}"'
    if any((function.vendor_id, function.product_id) in wanted for function in host.report.inventory.functions):
        return "the host has such functions, but no device spec admits them as the alias wants them"
    return "the host has no such function"


def _dangers(host: HostView) -> Iterator[Danger]:
    for spec in host.report.specs:
        if _fits_everything(spec):
            yield Danger("admits_everything", f"entry {spec.entry} fits every function of the host", entry=spec.entry)
    for address, device in sorted(host.admitted.items()):
        uses = ", ".join(f"{use.code} {use.detail or ''}".rstrip() for use in device.function.in_use_by or ())
        if uses and device.extra_info.allow_in_use:
            message = f"{address} may be taken from the host, which uses it ({uses}): the entry says allow_in_use"
            yield Danger("allow_in_use", message, address, device.entry)
    unknown = sorted(address for address, device in host.admitted.items() if device.function.in_use_by is None)
    if unknown:
        message = f"it is not known whether the host uses {_some(unknown)}; only root can tell"
        yield Danger("host_use_unknown", message)
    if host.iommu_groups is IommuGroups.IGNORE:
        yield from _ignored_groups(host)


def _some(addresses: Sequence[PciAddress]) -> str:
    more = f" and {len(addresses) - 1} more" if len(addresses) > 1 else ""
    return f"{addresses[0]}{more}"


def _fits_everything(spec: PciDeviceSpec) -> bool:
    address = spec.address
    anywhere = address is None or (isinstance(address, AddressGlob) and address.mask == 0)
    return anywhere and spec.vendor_id is None and spec.product_id is None and spec.devname is None


def _ignored_groups(host: HostView) -> Iterator[Danger]:
    """What would be refused if IOMMU groups counted, as they do for VFIO."""
    blocks = group_blocks(shared_groups(host.report.inventory.functions), host.admitted)
    for address, reasons in sorted(blocks.items()):
        message = f"{address} is offered although {reasons[0].message}: iommu_groups is ignore"
        yield Danger("group_ignored", message, address, host.admitted[address].entry)
