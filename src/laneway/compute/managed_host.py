"""A host that this process may change: what was left undone is put right before anything else."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from laneway.compute.host_changer import HostChanger
from laneway.compute.taken import half_taken, in_boot, prepared_now, release_of, with_drivers, without_prepared
from laneway.compute.withholding import end_withholding
from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import LanewayError
from laneway.domain.report import HostReport
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.control_plane import ControlPlane
from laneway.interfaces.journal import Journal, JournalState, PreparedDevice


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedHost:
    """A host with its control plane: who changes it, who owns its devices, which of its functions are devices."""

    name: str
    specs: DeviceSpecs
    plane: ControlPlane
    changer: HostChanger

    @property
    def journal(self) -> Journal:
        return self.changer.journal

    def look(self) -> HostView:
        """The host as it is now, and the control plane told of it."""
        return self.plane.sync(self.name, HostReport(self.changer.driver.discover(), self.specs)).tracker.view

    @contextmanager
    def changing(self) -> Iterator[HostView]:
        """Holds the right to change the host. What was interrupted has ended, and all agree on what is prepared.

        Raises LanewayError: host_busy; and what keeps the host from being read or an interrupted
        change from being ended.
        """
        with self.changer.changing():
            yield self.settled()

    def settled(self) -> HostView:
        """The host as it is, after journal and control plane were brought to agree on it."""
        view = self.look()
        if end_withholding(self.plane, self.name, view):
            view = self.look()
        self.changer.remember(in_boot(self.journal.state(), view.report.inventory.boot_id))
        self._give_back_to(view)
        found = disagreement(self.journal.state(), view)
        for device in found.untold:
            self.plane.prepared(self.name, device.address, device.placeholders)
        for address in found.unprepared:
            self.plane.released(self.name, address)
        self.changer.remember(without_prepared(self.journal.state(), found.over))
        return view if found.is_none else self.look()

    def tell_released(self, address: PciAddress) -> None:
        """Has the control plane know that the host has a device back, unless it does not count as away anyway."""
        held = self.plane.look(self.name).view.held.get(address)
        if held is not None and (held.prepared or held.status is Status.RELEASING):
            self.plane.released(self.name, address)

    def remember_drivers(self, devices: Collection[PciAddress]) -> None:
        """Remembers on which drivers the functions are that were just taken for these devices."""
        found = self.look().report.inventory.by_address
        state = self.journal.state()
        taken = (address for address, hold in state.taken.items() if not hold.holders.isdisjoint(devices))
        self.changer.remember(with_drivers(state, {a: found[a].driver for a in taken if a in found}))

    def _give_back_to(self, view: HostView) -> None:
        """Gives back what was taken for nobody: whoever did so was interrupted. What cannot be now, is next time."""
        state = self.journal.state()
        for address in sorted(disagreement(state, view).taken_for_nobody):
            keep = address in state.prepared and stays_taken(view, address)
            try:
                self.changer.apply(release_of(self.journal.state(), address, keep=keep))
            except LanewayError as error:
                self.changer.progress(f"{address} is taken for nobody and cannot be given back now: {error.message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Where journal and control plane differ since a process ended between two of them.

    The journal knows what is taken, the control plane who owns it. ``taken_for_nobody`` has no owner who has it
    prepared; of ``untold`` the control plane does not know that it is prepared, of ``unprepared`` that it is no
    more; ``over`` was prepared in an earlier boot for who does not own it any more.
    """

    taken_for_nobody: frozenset[PciAddress]
    untold: tuple[PreparedDevice, ...]
    unprepared: tuple[PciAddress, ...]
    over: tuple[PciAddress, ...]

    @property
    def is_none(self) -> bool:
        return not (self.taken_for_nobody or self.untold or self.unprepared or self.over)


def disagreement(state: JournalState, view: HostView) -> Disagreement:
    """Where what is remembered of the host and what the control plane knows of it differ."""
    prepared = prepared_now(state)
    theirs = {a: device for a, device in state.prepared.items() if is_allocated_to(view.held.get(a), device.consumer)}
    on_the_way = {a for a, device in view.held.items() if device.status is Status.RELEASING}
    return Disagreement(
        taken_for_nobody=half_taken(state) | (prepared.keys() - theirs.keys() - on_the_way),
        untold=tuple(device for a, device in prepared.items() if a in theirs and not view.held[a].prepared),
        unprepared=tuple(
            a for a, device in sorted(view.held.items()) if (device.prepared or a in on_the_way) and a not in prepared
        ),
        over=tuple(sorted(state.prepared.keys() - prepared.keys() - theirs.keys())),
    )


def stays_taken(view: HostView, address: PciAddress) -> bool:
    """Whether a device that a guest had is kept from the host's drivers: storage, and what is to be cleaned first.

    The host would read what the guest wrote: partition tables, volumes, file systems.
    """
    device = view.device(address)
    if device is None:
        return False
    is_storage = (device.function.class_code or "").startswith("01")
    return is_storage or device.extra_info.cleaning is not None or device.tags.get("one_time_use") is True


def is_allocated_to(device: PciDevice | None, consumer: str) -> bool:
    """Whether the consumer has the device, as a VM that runs or is to run with it."""
    return device is not None and device.consumer == consumer and device.status is Status.ALLOCATED
