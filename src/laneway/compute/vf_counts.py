"""How many VFs a PF has: set by an operator, remembered, and set again after a boot."""

from dataclasses import replace

from laneway.compute.host_changer import HostChanger
from laneway.compute.managed_host import ManagedHost
from laneway.compute.taken import without_taken
from laneway.compute.withholding import withheld
from laneway.contracts.changes import Change
from laneway.contracts.vfs import PfVfs
from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.identity import Census, described, difference
from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.host_changes import SetVfCount
from laneway.interfaces.journal import JournalState, VfCount


def pfs_of(view: HostView, state: JournalState, only: PciAddress | None = None) -> list[PfVfs]:
    """Every PF of the host, by address, or one. Raises LanewayError(unknown_device) where that is none."""
    if only is not None:
        _pf(view, only)
    inventory = view.report.inventory
    return [
        PfVfs(
            pf=function,
            vfs=tuple(vf.address for vf in inventory.vfs_of(function.address)),
            kept=state.vf_counts.get(function.address),
        )
        for function in inventory.functions
        if function.dev_type is DevType.PF and only in (None, function.address)
    ]


def set_vf_count(
    host: ManagedHost, address: PciAddress, count: int, *, autoprobe: bool | None = None, dry_run: bool = False
) -> Change:
    """Gives a PF so many VFs, now and after each boot.

    ``autoprobe`` None: the host's driver takes the VFs unless a device spec admits them. Raises
    LanewayError: unknown_device where there is no such PF, vfs_in_the_way where a VF is held, in use or
    open, host_busy.
    """
    if dry_run:
        view = host.look()
        if not count and _is_of_another(host.journal.state(), view, address):
            return Change(address=address, note="the PF that had VFs there is gone, and would be forgotten")
        return Change(address=address, steps=host.changer.planned(_action(view, address, count, autoprobe)))
    with host.changing() as view:
        state = host.journal.state()
        if not count and _is_of_another(state, view, address):
            host.changer.remember(_without(state, address))
            return Change(address=address, note="the PF that had VFs there is gone, and is forgotten")
        _action(view, address, count, autoprobe)
        with withheld(host.plane, host.name, address, _offered(view, address, count)):
            change = _change(host, address, count, autoprobe)
        host.look()
        return change


def _change(host: ManagedHost, address: PciAddress, count: int, autoprobe: bool | None) -> Change:
    """Changes it, on the host as it is now that nobody claims its devices any more."""
    view = host.look()
    action = _action(view, address, count, autoprobe)
    pf = view.report.inventory.by_address[address]

    def with_count(state: JournalState) -> JournalState:
        if pf.sriov is not None and pf.sriov.num_vfs != count:
            state = without_taken(state, [vf.address for vf in view.report.inventory.vfs_of(address)])
        if not count:
            return _without(state, address)
        boot_id = view.report.inventory.boot_id
        kept = VfCount(recorded=pf, count=count, autoprobe=action.autoprobe, boot_id=boot_id)
        return replace(state, vf_counts={**state.vf_counts, address: kept})

    return Change(address=address, steps=host.changer.apply(action, with_count))


def _offered(view: HostView, address: PciAddress, count: int) -> list[PciAddress]:
    """The PF and its VFs, as far as they are offered and another number of VFs concerns them."""
    pf = view.report.inventory.by_address[address]
    if pf.sriov is None or pf.sriov.num_vfs == count:
        return []
    vfs = view.report.inventory.vfs_of(address)
    return [one.address for one in (pf, *vfs) if view.is_admitted(one.address)]


def _is_of_another(state: JournalState, view: HostView, address: PciAddress) -> bool:
    """Whether the number that is remembered is that of a PF that stands there no more: what does is not touched."""
    kept, there = state.vf_counts.get(address), view.report.inventory.by_address.get(address)
    return kept is not None and (there is None or difference(kept.recorded, there) is not None)


def _without(state: JournalState, address: PciAddress) -> JournalState:
    return replace(state, vf_counts={a: kept for a, kept in state.vf_counts.items() if a != address})


def waiting_in(state: JournalState, boot_id: str | None) -> list[VfCount]:
    """Those that have not been made again in this boot, by address; none where its id cannot be read."""
    return [kept for _, kept in sorted(state.vf_counts.items()) if boot_id not in (None, kept.boot_id)]


def restore_vf_counts(changer: HostChanger) -> tuple[Change, ...]:
    """After a boot, gives PFs the VFs that operators gave them, before the host is looked at for its devices.

    For whoever may change the host. A PF is known again by its identity, wherever it stands now.
    What cannot be done stands in the answer with its error.
    """
    state = changer.journal.state()
    if not state.vf_counts:
        return ()
    inventory = changer.driver.discover()
    return tuple(_restored(changer, inventory, kept) for kept in waiting_in(state, inventory.boot_id))


def _restored(changer: HostChanger, inventory: Inventory, kept: VfCount) -> Change:
    try:
        pf = _known_again(inventory, kept)

        def in_this_boot(state: JournalState) -> JournalState:
            others = {a: other for a, other in state.vf_counts.items() if a not in (kept.address, pf.address)}
            now = replace(kept, recorded=pf, boot_id=inventory.boot_id)
            return replace(state, vf_counts={**others, pf.address: now})

        if pf.sriov is not None and pf.sriov.num_vfs:
            changer.remember(in_this_boot(changer.journal.state()))
            return Change(address=pf.address, note=f"it has {pf.sriov.num_vfs} VFs already")
        action = SetVfCount(address=pf.address, count=kept.count, autoprobe=kept.autoprobe)
        return Change(address=pf.address, steps=changer.apply(action, in_this_boot))
    except LanewayError as error:
        return Change(address=kept.address, error=error)


def _known_again(inventory: Inventory, kept: VfCount) -> PciFunction:
    """The PF where it stands today. Raises LanewayError(unknown_device) where the host has it no more."""
    found = Census(inventory.by_address).whereabouts(kept.recorded)
    there = inventory.by_address.get(kept.address)
    if len(found) == 1:
        return found[0]
    if there is not None and difference(kept.recorded, there) is None:
        return there
    raise LanewayError(
        ErrorCode.UNKNOWN_DEVICE,
        f"the PF {kept.address} ({described(kept.recorded)}) that had {kept.count} VFs is not on this host any more;"
        f" laneway vfs {kept.address} 0 forgets it",
        {"address": str(kept.address)},
    )


def _action(view: HostView, address: PciAddress, count: int, autoprobe: bool | None) -> SetVfCount:
    pf = _pf(view, address)
    now = pf.sriov.num_vfs if pf.sriov is not None else None
    if now != count:
        _require_free(view, pf)
    passed_through = _admits_vfs(view, pf)
    return SetVfCount(address=address, count=count, autoprobe=not passed_through if autoprobe is None else autoprobe)


def _pf(view: HostView, address: PciAddress) -> PciFunction:
    pf = view.report.inventory.by_address.get(address)
    if pf is None or pf.dev_type is not DevType.PF:
        raise LanewayError(
            ErrorCode.UNKNOWN_DEVICE,
            f"{address} is no PF of this host; `laneway vfs` lists those",
            {"address": str(address)},
        )
    return pf


def _require_free(view: HostView, pf: PciFunction) -> None:
    for address, device in sorted(view.held.items()):
        if pf.address in (address, device.parent_addr):
            what = "it" if address == pf.address else f"its VF {address}"
            remedy = "free it first" if device.status is not Status.RELEASING else "laneway release gives it back"
            raise LanewayError(
                ErrorCode.VFS_IN_THE_WAY,
                f"the number of VFs of {pf.address} cannot be changed: {what} is {device.standing}; {remedy}",
                {"address": str(pf.address), "held": str(address), "consumer": device.consumer},
            )


def _admits_vfs(view: HostView, pf: PciFunction) -> bool:
    """Whether a device spec lets VFs of the PF out: one that is there, or one as they will be."""
    vfs = view.report.inventory.vfs_of(pf.address)
    if vfs:
        return any(view.is_admitted(vf.address) for vf in vfs)
    product = pf.sriov.vf_product_id if pf.sriov is not None else None
    likely = PciFunction(
        address=pf.address,
        vendor_id=pf.vendor_id,
        product_id=product or pf.product_id,
        dev_type=DevType.VF,
        class_code=pf.class_code,
        parent_addr=pf.address,
        vf_index=0,
    )
    return bool(view.report.specs.fitting(likely, pf))
