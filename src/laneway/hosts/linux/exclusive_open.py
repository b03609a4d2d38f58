"""Asking the kernel who holds disks for himself: ZFS, DRBD, a mount in a container leave no trace in sysfs."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping

from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.udev import is_at_work

ExclusiveProbe = Callable[[Iterable[str]], Mapping[str, bool | None]]
"""Whether someone holds each block device, by its kernel name, for himself alone; None if that cannot be told."""

_MOMENT_SECONDS = 0.02
_MOST_MOMENTS = 25


def nobody_can_be_asked(_disks: Iterable[str]) -> Mapping[str, bool | None]:
    """Of a captured tree."""
    return {}


def ask_the_kernel(
    disks: Iterable[str], tree: HostTree, pause: Callable[[float], None] = time.sleep
) -> Mapping[str, bool | None]:
    """An ``ExclusiveProbe`` for the running system, whose files are ``tree``.

    Who holds a disk for a moment, as the programs that udev runs, or another Laneway that asks the same, is no holder:
    of a disk that is busy the kernel is asked again after a moment, and as long as udev is at work for half a second.
    """
    answers = {disk: open_exclusively(disk) for disk in disks}
    for _ in range(_MOST_MOMENTS):
        busy = [disk for disk, held in answers.items() if held]
        if not busy:
            break
        udev_is_at_work = is_at_work(tree)
        pause(_MOMENT_SECONDS)
        answers.update((disk, open_exclusively(disk)) for disk in busy)
        if not udev_is_at_work:
            break
    return answers


def open_exclusively(name: str) -> bool | None:
    """Asks the kernel whether the block device is held: open(2) with O_EXCL fails with EBUSY then.

    Nothing is read or written, and the device is let go at once. A drive without a medium is not
    held. None where the node is missing or may not be opened.
    """
    try:
        descriptor = os.open(f"/dev/{name.replace('!', '/')}", os.O_RDONLY | os.O_EXCL | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as failure:
        if failure.errno == errno.EBUSY:
            return True
        return False if failure.errno == errno.ENOMEDIUM else None
    try:
        return False if stat.S_ISBLK(os.fstat(descriptor).st_mode) else None
    finally:
        os.close(descriptor)
