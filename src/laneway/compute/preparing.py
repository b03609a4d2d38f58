"""Taking devices from the host for the consumer that they are allocated to: all of them, or none."""

from collections.abc import Collection, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from laneway.compute.managed_host import ManagedHost
from laneway.compute.taken import is_taken, prepared_now, release_of, with_prepared
from laneway.contracts.changes import Change, Changes
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Binding, PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.tracking.displacement import refuse_displaced
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.host_changes import Prepare, VfSettings
from laneway.interfaces.host_driver import Ability
from laneway.interfaces.journal import JournalState, PreparedDevice

Settings = Mapping[PciAddress, VfSettings]


@dataclass(frozen=True, slots=True)
class Order:
    """A device and what is to be done to have it prepared."""

    device: PciDevice
    action: Prepare


def prepare(
    host: ManagedHost,
    consumer: str,
    addresses: Collection[PciAddress] = (),
    settings: Settings | None = None,
    *,
    dry_run: bool = False,
) -> Changes:
    """Prepares what is allocated to the consumer: all of it, or these devices of it.

    Where one cannot be prepared, those that were are released again. Raises LanewayError: no_claim,
    not_owner, invalid_status where they are not allocated to it, invalid_request for settings of a
    device that has none, host_busy, and what the facts of the host refuse.
    """
    if dry_run:
        planned = [
            Change(address=order.device.address, steps=host.changer.planned(order.action), note=_note(order.device))
            for order in orders(host, host.look(), consumer, addresses, settings or {})
        ]
        return Changes(host=host.name, consumer=consumer, of=tuple(planned), dry_run=True)
    with host.changing() as view:
        done = carry_out(host, view, orders(host, view, consumer, addresses, settings or {}))
        return Changes(host=host.name, consumer=consumer, of=done)


def orders(
    host: ManagedHost, view: HostView, consumer: str, addresses: Collection[PciAddress], settings: Settings
) -> list[Order]:
    """What has to be done for the allocated devices of a consumer, or for these of them. Raises as ``prepare``."""
    devices = _allocated(view, consumer, addresses)
    refuse_displaced(devices)
    without = sorted(settings.keys() - {device.address for device in devices if device.dev_type is DevType.VF})
    if without:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"{without[0]} is no VF that is prepared for {consumer} here, so it has no VF settings",
            {"address": str(without[0]), "consumer": consumer},
        )
    return [Order(device, _action(host, view, device, settings.get(device.address))) for device in devices]


def carry_out(host: ManagedHost, view: HostView, wanted: Sequence[Order]) -> tuple[Change, ...]:
    """Prepares devices of one owner, all or none; for whoever may change the host. Raises as ``prepare``."""
    done: list[Change] = []
    before = prepared_now(host.journal.state())
    try:
        for order in wanted:
            steps = host.changer.apply(order.action)
            done.append(Change(address=order.device.address, steps=steps, note=_note(order.device)))
    except BaseException:
        _take_back(host, [change.address for change in done if change.address not in before])
        raise
    state = host.journal.state()
    records = [_record(state, view, order) for order in wanted if is_taken(state, order.device.address)]
    host.journal.keep(with_prepared(state, records))
    try:
        for record in records:
            host.plane.prepared(host.name, record.address, record.placeholders)
    except LanewayError:
        host.settled()  # somebody freed a device meanwhile: the host has it back then
        raise
    host.remember_drivers([record.address for record in records])
    return tuple(done)


def _allocated(view: HostView, consumer: str, addresses: Collection[PciAddress]) -> list[PciDevice]:
    owned = {device.address: device for device in view.owned_by(consumer)}
    for address in addresses:
        if address not in owned:
            raise _not_owned(view, consumer, address)
    wanted = [owned[address] for address in sorted(set(addresses) or owned.keys())]
    allocated = [device for device in wanted if device.status is Status.ALLOCATED]
    if not wanted:
        raise LanewayError(
            ErrorCode.NO_CLAIM,
            f"{consumer} holds no device on this host; claim some first: laneway claim {consumer} --alias NAME:COUNT",
            {"consumer": consumer},
        )
    claimed = [device.address for device in wanted if device.status is not Status.ALLOCATED]
    if not allocated or (addresses and claimed):
        raise LanewayError(
            ErrorCode.INVALID_STATUS,
            f"{', '.join(map(str, claimed))} is claimed, and only what is allocated is taken from the host; first: "
            f"laneway allocate {consumer}",
            {"consumer": consumer, "addresses": [str(address) for address in claimed]},
        )
    return allocated


def _not_owned(view: HostView, consumer: str, address: PciAddress) -> LanewayError:
    device = view.held.get(address)
    if device is not None and device.is_owned:
        return LanewayError(
            ErrorCode.NOT_OWNER,
            f"{address} is held by {device.consumer}, not by {consumer}",
            {"address": str(address), "owner": device.consumer, "consumer": consumer},
        )
    return LanewayError(
        ErrorCode.NO_CLAIM,
        f"{address} is not held by {consumer}; `laneway claims` lists who holds what",
        {"address": str(address), "consumer": consumer},
    )


def _action(host: ManagedHost, view: HostView, device: PciDevice, settings: VfSettings | None) -> Prepare:
    return Prepare(
        recorded=view.stored(device.address).function,
        attach=device.attach,
        binding=device.extra_info.binding,
        siblings=_siblings(view, device, host.journal.state().taken),
        live_migratable=device.tags.get("live_migratable") is True,
        may_be_in_use=device.extra_info.allow_in_use,
        vf_settings=_with_trust(host, device, settings),
    )


def _siblings(view: HostView, device: PciDevice, taken: Container[PciAddress]) -> frozenset[PciAddress]:
    """The admitted members of its IOMMU group, but for what another consumer has on a driver of the host."""
    group = device.function.iommu_group
    if group is None:
        return frozenset()
    return frozenset(
        function.address
        for function in view.report.inventory.functions
        if function.iommu_group == group
        and function.address != device.address
        and view.is_admitted(function.address)
        and (function.address in taken or not _is_anothers(view.held.get(function.address), device))
    )


def _is_anothers(held: PciDevice | None, device: PciDevice) -> bool:
    return held is not None and held.is_owned and held.consumer != device.consumer


def _with_trust(host: ManagedHost, device: PciDevice, settings: VfSettings | None) -> VfSettings | None:
    """The settings, with trust where the tag ``trusted`` says so and they do not say otherwise."""
    is_network_vf = device.dev_type is DevType.VF and (device.function.class_code or "").startswith("02")
    sets_vfs = Ability.SET_VF_COUNT in host.changer.driver.describe().abilities
    if not (is_network_vf and sets_vfs and device.tags.get("trusted") is True):
        return settings
    wanted = settings or VfSettings()
    return wanted if wanted.trust is not None else replace(wanted, trust=True)


def _note(device: PciDevice) -> str | None:
    if device.attach is Attach.VFIO and device.extra_info.binding is Binding.LIBVIRT:
        return "libvirt takes it from the host when the VM starts (managed='yes'), as its device spec says"
    return None


def _record(state: JournalState, view: HostView, order: Order) -> PreparedDevice:
    device, before = order.device, state.prepared.get(order.device.address)
    assert device.consumer is not None
    again = before if before is not None and before.consumer == device.consumer else None
    return PreparedDevice(
        recorded=order.action.recorded,
        consumer=device.consumer,
        boot_id=state.boot_id,
        vf_settings=order.action.vf_settings or (again.vf_settings if again else None),
        placeholders=view.report.inventory.vfs_of(device.address) or (again.placeholders if again else ()),
    )


def _take_back(host: ManagedHost, addresses: Sequence[PciAddress]) -> None:
    """Releases what was prepared before one could not be. What that leaves, the next change of the host ends."""
    with suppress(LanewayError):
        host.changer.recover()
        for address in reversed(addresses):
            host.changer.apply(release_of(host.journal.state(), address))
