"""The storage guard: while a storage driver has a disk that a guest had, the host does not read what is on it.

Steps: the guard is raised (a udev rule, see ``guard_rule``), the driver bound, the partitions that the
kernel itself has found are forgotten, for no kernel can be told not to look for them, and the guard is lifted.
"""

import errno
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from laneway.domain.address import PciAddress
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.hosts.linux.changes.guard_rule import guard_rule, rule_file
from laneway.hosts.linux.changes.partitions import Partition, disks_of, partitions_of
from laneway.hosts.linux.changes.steps import DEVICES, Kind, function_of
from laneway.hosts.linux.tree import HostTree
from laneway.interfaces.host_changes import Step

if TYPE_CHECKING:
    from laneway.hosts.linux.changes.doing import Workbench

STORAGE_GUARD = "storage_guard"
FORGET_PARTITIONS = "forget_partitions"

_RAISED, _LIFTED = "raised", "lifted"
_UDEV_CONTROL = "run/udev/control"
"""The socket of a udev daemon that runs."""

_RELOAD = ("udevadm", "control", "--reload")
_SETTLE = ("udevadm", "settle", "--timeout=60")
_UDEVADM_SECONDS = 90.0
_APPEAR_SECONDS = 30.0
"""How long disks may take to appear once their driver has the function: a controller looks for them by itself."""

_FIRST_SECONDS = 10.0
_QUIET_SECONDS = 2.0
_MOMENT_SECONDS = 0.25
_BUSY_SECONDS = 10.0
"""How long udev, or whoever else looks at a new partition, may have it open."""


def raise_guard(function: PciAddress) -> Step:
    target = rule_file(function)
    return Step(
        kind=STORAGE_GUARD,
        address=function,
        target=target,
        value=_RAISED,
        undo=_LIFTED,
        summary=f"write {target}, so that udev passes the disks of {function} over, and have udev read it",
    )


def lift_guard(function: PciAddress) -> Step:
    target = rule_file(function)
    return Step(
        kind=STORAGE_GUARD,
        address=function,
        target=target,
        value=_LIFTED,
        found=_RAISED,
        summary=f"remove {target}, and have udev forget it",
    )


def forget_partitions(function: PciAddress) -> Step:
    return Step(
        kind=FORGET_PARTITIONS,
        address=function,
        target=f"{DEVICES}/{function}",
        summary=f"have the kernel forget the partitions that it finds on the disks of {function}",
    )


def is_guarded(tree: HostTree, function: PciAddress) -> bool:
    """Whether a guard stands, be it from a process that ended in the middle."""
    return tree.exists(rule_file(function))


def guarded(
    steps: Sequence[Step], storage: Collection[PciAddress], left: Collection[PciAddress] = ()
) -> tuple[Step, ...]:
    """The steps, with the guard around each that binds a function of ``storage``, or a VF of one, to the host's driver.

    ``left`` are functions whose guard was left by a process that ended: it is lifted in any case.
    """
    return tuple(_guarded(steps, storage, left))


def _guarded(steps: Sequence[Step], storage: Collection[PciAddress], left: Collection[PciAddress]) -> Iterator[Step]:
    lifted = set()
    for step in steps:
        if _gives_disk_to_host(step, storage):
            function = function_of(step)
            lifted.add(function)
            yield from (raise_guard(function), step, forget_partitions(function), lift_guard(function))
        else:
            yield step
    for function in left:
        if function not in lifted:
            yield from (forget_partitions(function), lift_guard(function))


def _gives_disk_to_host(step: Step, storage: Collection[PciAddress]) -> bool:
    """A VF that was taken away with its PF is not there to be asked what it is: it is what its PF is."""
    if step.kind != Kind.BIND or is_vfio_driver(step.value or ""):
        return False
    return step.address in storage or function_of(step) in storage


def restoring(step: Step) -> Step:
    """The step that takes a raised guard back."""
    return replace(lift_guard(step.address), found=step.value)


def set_guard(step: Step, bench: "Workbench") -> None:
    """Raises or lifts it. Raises OSError; where udev does not run, there is nothing to be done, which is told.

    A udev that does not read its rules again when the guard is lifted is told, and no failure: it
    looks for changed rules by itself, too.
    """
    if step.value == _RAISED:
        _raise(step, bench)
    elif bench.files.tree.exists(step.target):
        _settle(bench)
        bench.means.writer.remove(step.target)
        _tell_failure(_udevadm(_RELOAD, bench), bench)


def _raise(step: Step, bench: "Workbench") -> None:
    if not _udev_runs(bench):
        bench.progress("udev does not run here, so no rule is needed: nothing reads new disks but the kernel")
        return
    bench.means.writer.create(step.target, guard_rule(step.address))
    failure = _udevadm(_RELOAD, bench)
    if failure is not None:
        raise OSError(errno.EIO, failure)


def do_forget_partitions(step: Step, bench: "Workbench") -> None:
    """Waits until the disks are all there, and deletes their partitions in the kernel. Raises OSError."""
    _wait_for_disks(step.address, bench)
    _settle(bench)
    for partition in partitions_of(bench.files.tree, step.address):
        _forget(partition, bench)
    _settle(bench)


def _forget(partition: Partition, bench: "Workbench") -> None:
    """Raises OSError where somebody keeps it open."""
    disk, number = partition
    node = f"{bench.files.tree.root}dev/{disk.replace('!', '/')}"

    def is_forgotten() -> bool:
        try:
            bench.means.forget_partition(node, number)
        except OSError as error:
            if error.errno == errno.EBUSY:
                return False
            if error.errno not in (errno.ENXIO, errno.ENOENT):
                raise
        return True

    if not bench.wait(is_forgotten, f"partition {number} of {disk} to be closed", _BUSY_SECONDS):
        raise OSError(errno.EBUSY, f"somebody has partition {number} of {disk} open, so the kernel keeps it")


def _wait_for_disks(function: PciAddress, bench: "Workbench") -> None:
    """Until nothing has appeared for a while, or the time is over. A controller may have no disks."""
    bench.progress(f"waiting up to {_APPEAR_SECONDS:g} s for the disks of {function}")
    begin = changed = bench.means.clock()
    disks = disks_of(bench.files.tree, function)
    while (now := bench.means.clock()) < begin + _APPEAR_SECONDS:
        if now >= changed + (_QUIET_SECONDS if disks else _FIRST_SECONDS):
            return
        bench.means.pause(_MOMENT_SECONDS)
        found = disks_of(bench.files.tree, function)
        if found != disks:
            disks, changed = found, bench.means.clock()


def _settle(bench: "Workbench") -> None:
    """Until udev has dealt with all events so far. One that hangs on something else is no reason to fail."""
    _tell_failure(_udevadm(_SETTLE, bench), bench)


def _udevadm(command: tuple[str, ...], bench: "Workbench") -> str | None:
    """What went wrong, if anything did; without udev, nothing."""
    if not _udev_runs(bench):
        return None
    try:
        ended = bench.means.programs.run(command, _UDEVADM_SECONDS)
    except OSError as error:
        return f"udevadm cannot be run: {error.strerror}"
    return None if ended.status == 0 else ended.said(" ".join(command[:2]))


def _udev_runs(bench: "Workbench") -> bool:
    return bench.files.tree.exists(_UDEV_CONTROL)


def _tell_failure(failure: str | None, bench: "Workbench") -> None:
    if failure is not None:
        bench.progress(failure)
