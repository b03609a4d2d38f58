"""What a journal remembers after a change: which functions are taken, by which steps, for whom. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Binding
from laneway.interfaces.host_changes import Action, Ending, Outcome, Prepare, Release, Step
from laneway.interfaces.journal import Hold, JournalState, PreparedDevice


def remembered(state: JournalState, action: Action, outcome: Outcome) -> JournalState:
    """What is remembered once a plan for the action has ended so. Cleaning and numbers of VFs take nothing."""
    if outcome.ending is not Ending.DONE:
        return state
    if isinstance(action, Prepare):
        return _after_prepare(state, action, outcome.taken)
    if isinstance(action, Release):
        return _after_release(state, action, outcome.taken)
    return state


def release_of(state: JournalState, address: PciAddress, *, keep: bool = False) -> Release:
    """What gives a device back: itself and all that was taken for it alone.

    Where another device still needs it (both are of one IOMMU group) it stays as it is, but for
    what concerns itself alone.
    """
    if _others(state, address):
        return Release(address=address, taken=state.steps_of({address}), keep=True)
    return Release(address=address, taken=state.steps_of(_taken_for(state, address)), keep=keep)


def is_taken(state: JournalState, address: PciAddress) -> bool:
    """Whether something was taken for the device."""
    return any(address in hold.holders for hold in state.taken.values())


def prepared_now(state: JournalState) -> Mapping[PciAddress, PreparedDevice]:
    """The devices that are prepared in the boot in which the journal is."""
    return {address: device for address, device in state.prepared.items() if device.boot_id == state.boot_id}


def half_taken(state: JournalState) -> frozenset[PciAddress]:
    """Devices for which something was taken, but that never got prepared: whoever took them was interrupted."""
    holders = frozenset(holder for hold in state.taken.values() for holder in hold.holders)
    return holders - prepared_now(state).keys() - state.kept


def with_prepared(state: JournalState, devices: Iterable[PreparedDevice]) -> JournalState:
    """The devices are prepared by now."""
    new = {device.address: device for device in devices}
    return replace(state, prepared={**state.prepared, **new}, kept=state.kept - new.keys())


def without_prepared(state: JournalState, addresses: Collection[PciAddress]) -> JournalState:
    """Nothing has to be done any more for these devices, in this boot or a later one."""
    return replace(state, prepared={a: device for a, device in state.prepared.items() if a not in addresses})


def without_taken(state: JournalState, gone: Collection[PciAddress]) -> JournalState:
    """Functions that are gone from the host are given back by that: what stands at their addresses next is another."""
    return replace(
        state,
        steps=tuple(step for step in state.steps if step.address not in gone),
        taken={address: hold for address, hold in state.taken.items() if address not in gone},
        kept=state.kept - frozenset(gone),
    )


def with_drivers(state: JournalState, drivers: Mapping[PciAddress, str | None]) -> JournalState:
    """With the drivers that the taken functions are on."""
    return replace(
        state,
        taken={a: replace(hold, driver=drivers.get(a, hold.driver)) for a, hold in state.taken.items()},
    )


def in_boot(state: JournalState, boot_id: str | None) -> JournalState:
    """The state in this boot: what was taken in another is with the drivers that the kernel chose.

    An id that cannot be read says nothing: what was taken stays known.
    """
    if boot_id in (None, state.boot_id):
        return state
    return JournalState(boot_id=boot_id, prepared=state.prepared, vf_counts=state.vf_counts)


def _after_prepare(state: JournalState, action: Prepare, done: tuple[Step, ...]) -> JournalState:
    if not (done or _is_for_us(action)):
        return state
    functions = {action.address, *(step.address for step in done), *(action.siblings & state.taken.keys())}
    taken = dict(state.taken)
    for function in functions:
        hold = taken.get(function, Hold())
        taken[function] = replace(hold, holders=hold.holders | {action.address})
    return replace(state, steps=(*state.steps, *done), taken=taken)


def _is_for_us(action: Prepare) -> bool:
    """Whether the device is with a driver for guests by our doing, also where it was there before."""
    return action.attach is Attach.VFIO and action.binding is not Binding.LIBVIRT


def _after_release(state: JournalState, action: Release, standing: tuple[Step, ...]) -> JournalState:
    address = action.address
    concerned = {address} if _others(state, address) else _taken_for(state, address)
    steps = (*(step for step in state.steps if step.address not in concerned), *standing)
    state = replace(without_prepared(state, {address}), steps=steps)
    if action.keep and not _others(state, address):
        return replace(state, kept=state.kept | {address})
    taken = {function: replace(hold, holders=hold.holders - {address}) for function, hold in state.taken.items()}
    return replace(
        state, taken={function: hold for function, hold in taken.items() if hold.holders}, kept=state.kept - {address}
    )


def _taken_for(state: JournalState, address: PciAddress) -> set[PciAddress]:
    """The device, and the functions that no other device needs."""
    return {address, *(function for function, hold in state.taken.items() if hold.holders == {address})}


def _others(state: JournalState, address: PciAddress) -> frozenset[PciAddress]:
    """The other devices for which this function is taken as well."""
    hold = state.taken.get(address)
    return frozenset() if hold is None else hold.holders - {address}
