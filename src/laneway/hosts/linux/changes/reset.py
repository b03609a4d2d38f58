"""Resetting a function, so that nothing of its last guest is left in it."""

import errno
from typing import TYPE_CHECKING

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.steps import DEVICES
from laneway.hosts.linux.health import reads_all_ones

if TYPE_CHECKING:
    from laneway.hosts.linux.changes.doing import Workbench

RESET_SECONDS = 90.0
"""The kernel gives a function 60 s to come back from its reset (drivers/pci/pci.c, PCIE_RESET_READY_POLL_MS)."""

_ANSWER_SECONDS = 5.0

_REASONS = {
    errno.ENOTTY: "no method of the kernel's works for it",
    errno.ENOENT: "the kernel knows no method for it",
    errno.EAGAIN: "somebody else resets it, or another function of its bus, just now",
}


def reset_function(function: PciAddress, bench: "Workbench") -> None:
    """By the first method of ``reset_method`` that works (Documentation/ABI/testing/sysfs-bus-pci).

    The function has to answer afterwards. Raises OSError.
    """
    target = f"{DEVICES}/{function}/reset"
    try:
        bench.means.writer.write_bounded(target, "1", RESET_SECONDS)
    except OSError as error:
        reason = _REASONS.get(error.errno or 0)
        if reason is None:
            raise
        methods = (bench.files.tree.text(f"{DEVICES}/{function}/reset_method") or "").split()
        tried = f" ({', '.join(methods)})" if methods else ""
        raise OSError(error.errno, f"{function} cannot be reset{tried}: {reason}") from error
    if not bench.wait(lambda: _answers(function, bench), f"{function} to answer after its reset", _ANSWER_SECONDS):
        raise OSError(errno.EIO, f"{function} does not answer after its reset: it reads as all ones")


def _answers(function: PciAddress, bench: "Workbench") -> bool:
    return reads_all_ones(bench.files.tree, function) is not True
