"""What a service does on its host by itself: it gives back what was freed, cleans it, and looks after its health."""

from dataclasses import dataclass

from laneway.compute.cleaning import clean_one, to_be_cleaned
from laneway.compute.health import examine, take_out_of_use
from laneway.compute.host_changer import HostChanger
from laneway.compute.managed_host import ManagedHost, disagreement
from laneway.compute.releasing import release_freed, to_be_released
from laneway.compute.vf_counts import restore_vf_counts, waiting_in
from laneway.contracts.changes import Change
from laneway.domain.errors import LanewayError
from laneway.domain.tracking.host_view import HostView

LONGEST_STEP_SECONDS = 300.0
"""Longer than any step of a driver waits for the kernel or for udev; a cleaning has a time of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What one round came to, by what was done. ``error``: why nothing was. ``more``: a next round has more to do."""

    vfs_restored: tuple[Change, ...] = ()
    released: tuple[Change, ...] = ()
    taken_out_of_use: tuple[Change, ...] = ()
    cleaned: tuple[Change, ...] = ()
    error: LanewayError | None = None
    more: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """All of them."""
        return (*self.vfs_restored, *self.released, *self.taken_out_of_use, *self.cleaned)

    @property
    def errors(self) -> tuple[LanewayError, ...]:
        """What did not work, each error once."""
        failures = [change.error for change in self.changes if change.error is not None]
        return (*((self.error,) if self.error is not None else ()), *failures)

    @property
    def has_changed_something(self) -> bool:
        """Whether the host or what is known of it is another by now."""
        return any(change.error is None for change in self.changes)


def begin(changer: HostChanger) -> Upkeep:
    """Before a service first looks at its host: ends what was interrupted, and gives PFs their VFs after a boot."""
    try:
        with changer.changing():
            return Upkeep(vfs_restored=restore_vf_counts(changer))
    except LanewayError as error:
        return Upkeep(error=error)


def keep_up(host: ManagedHost, view: HostView) -> Upkeep:
    """One round: all that was freed, one cleaning (which takes long), and the health of all.

    Where there is nothing to do, nobody is kept from changing the host.
    """
    try:
        return _round(host, view)
    except LanewayError as error:
        return Upkeep(error=error)


def longest_silence(view: HostView) -> float:
    """For how many seconds the next round may give no sign of life."""
    cleanings = (device.extra_info.cleaning for device in to_be_cleaned(view))
    return LONGEST_STEP_SECONDS + max((cleaning.seconds for cleaning in cleanings if cleaning is not None), default=0.0)


def _round(host: ManagedHost, view: HostView) -> Upkeep:
    found = examine(host, view)
    if not (found.ill or found.fatal_errors != host.journal.state().fatal_errors or _has_work(host, view)):
        return Upkeep()
    with host.changer.changing():
        vfs_restored = restore_vf_counts(host.changer)
        now = host.settled()
        released = release_freed(host, now)
        ill = take_out_of_use(host, found)
        now = host.look() if released or ill else now
        dirty = to_be_cleaned(now)
        cleaned = tuple(clean_one(host, now, device) for device in dirty[:1])
    return Upkeep(
        vfs_restored=vfs_restored, released=released, taken_out_of_use=ill, cleaned=cleaned, more=len(dirty) > 1
    )


def _has_work(host: ManagedHost, view: HostView) -> bool:
    state = host.journal.state()
    return bool(
        host.journal.unfinished()
        or waiting_in(state, view.report.inventory.boot_id)
        or not disagreement(state, view).is_none
        or to_be_released(view)
        or to_be_cleaned(view)
    )
