"""Ports of a host are bound by one process at a time: a command and the agent would undo each other's work."""

from pathlib import Path

from laneway.compute.host_lock import HostLock
from laneway.domain.errors import LanewayError
from laneway.interfaces.host_changes import Progress
from laneway.interfaces.network import KeptPorts, PortKeeper

PATIENCE = 20.0
"""Seconds to wait for another process: each port takes a fraction of one."""


def ports_lock(database: Path, *, patience: float = PATIENCE) -> HostLock:
    """The lock on the ports of the host whose state is in this database."""
    path = database.with_name(f"{database.stem}.ports.lock")
    return HostLock(path, what="binding ports", patience=patience)


class ExclusivePortKeeper:
    """A keeper that waits for its turn."""

    def __init__(self, keeper: PortKeeper, lock: HostLock, progress: Progress) -> None:
        self._keeper = keeper
        self._lock = lock
        self._progress = progress

    def keep(self, host: str) -> KeptPorts:
        """As ``PortKeeper`` says; not to get its turn is a failure, too."""
        try:
            with self._lock.held(self._progress):
                return self._keeper.keep(host)
        except LanewayError as error:
            return KeptPorts(error=error)
