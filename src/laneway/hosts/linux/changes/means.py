"""By what a host is changed: tests replace it."""

import errno
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from laneway.hosts.linux.changes.writer import SysfsWriter, Writer

_MODPROBE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """``load_module`` loads a module by its name and raises OSError; ``clock`` gives seconds from some moment on."""

    writer: Writer
    load_module: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


def means_of(root: Path) -> Means:
    """Of the running system, whose files are below ``root``."""
    return Means(writer=SysfsWriter(root), load_module=modprobe)


def modprobe(module: str) -> None:
    """Loads a module as the system's settings say (modprobe(8)). Raises OSError."""
    try:
        subprocess.run(
            ["modprobe", module],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_MODPROBE_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(errno.ETIMEDOUT, f"modprobe did not end within {_MODPROBE_SECONDS:g} s", module) from None
    except subprocess.CalledProcessError as failure:
        reason = failure.stderr.strip() or f"modprobe ended with status {failure.returncode}"
        raise OSError(errno.ENOENT, reason, module) from failure
