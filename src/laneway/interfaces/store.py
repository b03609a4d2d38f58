"""Where the state of hosts is kept."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from laneway.domain.tracking.claim import HostState, Update
from laneway.interfaces.network import BindingRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of the audit log: who did what to a host, and when.

    ``actor`` is the person or program that a store was opened for; None where that is not known.
    ``detail`` is what was stored, as plain JSON values: for ``devices`` and ``blocks`` by address
    and ``claims`` by id, null where the record was removed; ``boot_id`` where another boot began.
    """

    at: datetime
    host: str
    actor: str | None
    action: str
    detail: Mapping[str, object]


class HostTransaction(Protocol):
    """The state of one host, locked: no other transaction on this host runs beside it."""

    def state(self) -> HostState:
        """What the store holds of the host now, with what this transaction has written."""

    def write(self, update: Update, *, action: str, at: datetime) -> None:
        """Stores the changes, with a line in the audit log: ``action`` names what was done.

        ``at`` and the times in the update have a time zone. An empty update is not stored and
        not logged. Raises LanewayError(internal_error) where the update gives a device of one
        consumer to another without freeing it first: no caller that read ``state`` does.
        """

    def record_bindings(self, changes: Mapping[str, BindingRecord | None]) -> None:
        """Keeps what is known of the bindings of ports, by port; None forgets one. The host itself does not change."""


class Store(Protocol):
    """Claims and devices of hosts. Every implementation passes ``tests/store/contract.py``."""

    def transaction(self, host: str) -> AbstractContextManager[HostTransaction]:
        """One transaction on a host (made if it is new): all of it is stored, or nothing.

        It is committed when the block ends and rolled back when it raises. Another transaction
        on the same host waits. Raises LanewayError(database_unreachable).
        """

    def transactions(self, hosts: Collection[str]) -> AbstractContextManager[Mapping[str, HostTransaction]]:
        """One transaction on several hosts, by their names: all of it is stored on all of them, or nothing.

        The hosts are locked in the order of their names, so that two of these never wait for each
        other. Otherwise as ``transaction``.
        """

    def read(self, host: str) -> HostState:
        """The host's state without a lock; empty if the host is not known."""

    def binding_records(self, host: str) -> Mapping[str, BindingRecord]:
        """What is known of the bindings of a host's ports, by port, without a lock."""

    def hosts(self) -> Sequence[str]:
        """The names of all hosts known, ascending."""

    def audit(self, host: str, *, last: int) -> Sequence[AuditEntry]:
        """The newest ``last`` lines of the host's audit log, the oldest of them first."""
