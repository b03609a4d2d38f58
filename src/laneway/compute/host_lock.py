"""Who changes a host: one process at a time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from laneway.compute.process_lock import ProcessLock
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import Progress

PATIENCE = 60.0
"""Seconds that a command waits for another to be done: binding takes a few, cleaning a large disk longer than that."""


def host_lock_path(database: Path) -> Path:
    """Where the lock stands of the host whose state is in this database."""
    return database.with_name(f"{database.stem}.host.lock")


class HostLock:
    """The right to change a host, or to do ``what`` else. It ends with its process, however that ends."""

    def __init__(
        self,
        path: Path,
        *,
        what: str = "changing this host",
        patience: float = PATIENCE,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._what = what
        self._patience = patience
        self._monotonic = monotonic

    @contextmanager
    def held(self, progress: Progress) -> Iterator[None]:
        """Holds the right while the block runs; another process that has it is waited for, which is told.

        Raises LanewayError(host_busy) where that takes too long, no_permission or database_unreachable
        where the file cannot be used.
        """
        lock = ProcessLock(self._path)
        self._take(lock, progress)
        try:
            yield
        finally:
            lock.free()

    def _take(self, lock: ProcessLock, progress: Progress) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if lock.take():
                return
            if self._patience:
                progress(f"another process is {self._what}; waiting for it, at most {self._patience:g} seconds")
            end = self._monotonic() + self._patience
            while self._monotonic() < end:
                if lock.take():
                    return
        except OSError as error:
            code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.DATABASE_UNREACHABLE
            message = (
                f"the lock {self._path} cannot be used: {error.strerror or error}; run it as the owner of the file"
            )
            raise LanewayError(code, message, {"lock": str(self._path)}) from error
        raise LanewayError(
            ErrorCode.HOST_BUSY,
            f"another process is {self._what} and is not done yet; try again when it is (a cleaning takes"
            " minutes). `laneway status` tells what is under way",
            {"seconds": self._patience},
        )
