"""By what a host is changed: tests replace it."""

import errno
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from laneway.hosts.linux.changes.partitions import forget_partition
from laneway.hosts.linux.changes.programs import Programs, RunningPrograms
from laneway.hosts.linux.changes.vf_kernel import RunningVfKernel, VfKernel
from laneway.hosts.linux.changes.writer import SysfsWriter, Writer

_MODPROBE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """``clock`` gives seconds from some moment on, ``pause`` lets them pass."""

    writer: Writer
    programs: Programs = field(default_factory=RunningPrograms)
    vf_kernel: VfKernel = field(default_factory=RunningVfKernel)
    forget_partition: Callable[[str, int], None] = forget_partition
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep

    def load_module(self, module: str) -> None:
        """Loads a module as the system's settings say (modprobe(8)). Raises OSError."""
        ended = self.programs.run(["modprobe", module], _MODPROBE_SECONDS)
        if ended.status != 0:
            raise OSError(errno.ENOENT, ended.said("modprobe"), module)


def means_of(root: Path) -> Means:
    """Of the running system, whose files are below ``root``."""
    return Means(writer=SysfsWriter(root))
