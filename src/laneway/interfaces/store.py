"""Where the state of hosts is kept."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from laneway.domain.claim import HostState, Update


class HostTransaction(Protocol):
    """The state of one host, locked: no other transaction on this host runs beside it."""

    def state(self) -> HostState:
        """What the store holds of the host now."""

    def write(self, update: Update, *, action: str, at: datetime) -> None:
        """Stores the changes, with a line in the audit log: ``action`` names what was done."""

    def set_boot_id(self, boot_id: str | None) -> None:
        """Stores the boot that the host is in."""


class Store(Protocol):
    """Claims and devices of hosts. Every implementation passes ``tests/store/contract.py``."""

    def transaction(self, host: str) -> AbstractContextManager[HostTransaction]:
        """One transaction on a host (made if it is new): all of it is stored, or nothing.

        It is committed when the block ends and rolled back when it raises. Another transaction
        on the same host waits. Raises LanewayError(database_unreachable).
        """

    def read(self, host: str) -> HostState:
        """The host's state without a lock; empty if the host is not known."""

    def hosts(self) -> Sequence[str]:
        """The names of all hosts known."""
