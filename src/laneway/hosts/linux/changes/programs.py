"""Running programs with a limit of time; of what they write, the end is kept."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import IO, Protocol

_KEPT_BYTES = 1 << 16
_BLOCK = 4096
_TOLD_LINES = 20
_LOOK_SECONDS = 0.05
_GRACE_SECONDS = 2.0
"""Between the signal that asks a program to end, and the one that ends it."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """``status`` is below 0 for a signal, None where its time was over; ``output`` the end of what it wrote."""

    status: int | None
    output: str = ""

    def said(self, program: str) -> str:
        """In a sentence for a person, with the last lines."""
        if self.status is None:
            how = f"{program} was stopped when its time was over"
        elif self.status < 0:
            how = f"{program} was ended by signal {-self.status}"
        else:
            how = f"{program} ended with status {self.status}"
        lines = [line.strip() for line in self.output.split("\n") if line.strip()]
        return f"{how}: {'; '.join(lines[-_TOLD_LINES:])}" if lines else how


class Programs(Protocol):
    """What runs programs."""

    def run(self, command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None) -> Ended:
        """Runs a program, without input, in a process group of its own, all of which is ended with it.

        Its environment is a search path and the language C, and what ``environment`` adds. Raises
        OSError where it cannot be started.
        """


class RunningPrograms:
    """Programs of the system that this runs on."""

    def run(self, command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None) -> Ended:
        end = time.monotonic() + seconds
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": _PATH, "LC_ALL": "C", **(environment or {})},
            cwd="/",
            start_new_session=True,
        )
        assert process.stdout is not None
        tail = _Tail(process.stdout)
        try:
            in_time = _ends_by(process, tail, end)
            if not in_time:
                _signal_group(process, signal.SIGTERM)
                _ends_by(process, tail, time.monotonic() + _GRACE_SECONDS)
        finally:
            # Also after it ended well: what it has left running would work on a device that is another's by then.
            _signal_group(process, signal.SIGKILL)
            _reap(process, tail)
        return Ended(status=process.returncode if in_time else None, output=tail.text())


class _Tail:
    """The end of what comes through a pipe."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._data = b""
        self._selector = selectors.DefaultSelector()
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, selectors.EVENT_READ)

    def read(self, seconds: float) -> None:
        """Takes what is there by then; without a writer any more, waits all the same."""
        if not self._selector.get_map():
            time.sleep(seconds)
        elif self._selector.select(seconds):
            data = os.read(self._pipe.fileno(), _BLOCK)
            if data:
                self._data = (self._data + data)[-_KEPT_BYTES:]
            else:
                self._selector.unregister(self._pipe)

    def close(self) -> None:
        while self._selector.get_map() and self._selector.select(0):
            self.read(0)
        self._selector.close()
        self._pipe.close()

    def text(self) -> str:
        return self._data.decode("utf-8", "replace").strip()


def _ends_by(process: "subprocess.Popen[bytes]", tail: _Tail, end: float) -> bool:
    """Whether it ended by then. It is not waited for yet, so that its number stays its group's."""
    while not _has_ended(process):
        left = end - time.monotonic()
        if left <= 0:
            return False
        tail.read(min(left, _LOOK_SECONDS))
    return True


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _signal_group(process: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _reap(process: "subprocess.Popen[bytes]", tail: _Tail) -> None:
    """Waits for the end; one that the kernel holds (state D) ends much later, and is waited for then."""
    if _ends_by(process, tail, time.monotonic() + _GRACE_SECONDS):
        process.wait()
    else:
        Thread(target=process.wait, daemon=True).start()
    tail.close()
