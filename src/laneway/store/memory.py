"""A store that lasts as long as the process: for simulations and for tests."""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import TypeVar

from laneway.domain.tracking.claim import HostState, Update
from laneway.interfaces.network import BindingRecord
from laneway.interfaces.store import AuditEntry
from laneway.store.rules import audit_detail, refuse_second_owner

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def updated(state: HostState, update: Update) -> HostState:
    """The state with the changes of an update."""
    return replace(
        state,
        held=_merged(state.held, update.held),
        claims=_merged(state.claims, update.claims),
        blocks=_merged(state.blocks, update.blocks),
        boot_id=update.boot_id or state.boot_id,
    )


def _merged(values: Mapping[Key, Value], changes: Mapping[Key, Value | None]) -> Mapping[Key, Value]:
    if not changes:
        return values
    return {key: value for key, value in {**values, **changes}.items() if value is not None}


class MemoryTransaction:
    """Works on a state of its own, which the store takes over when the block ends."""

    def __init__(self, host: str, state: HostState, actor: str | None) -> None:
        self._host = host
        self._actor = actor
        self._state = state
        self.log: list[AuditEntry] = []
        self.bindings: dict[str, BindingRecord | None] = {}

    def state(self) -> HostState:
        return self._state

    def write(self, update: Update, *, action: str, at: datetime) -> None:
        if update.is_empty:
            return
        refuse_second_owner({address: device.consumer for address, device in self._state.held.items()}, update)
        self._state = updated(self._state, update)
        self.log.append(
            AuditEntry(at=at, host=self._host, actor=self._actor, action=action, detail=audit_detail(update))
        )

    def record_bindings(self, changes: Mapping[str, BindingRecord | None]) -> None:
        self.bindings |= changes


class MemoryStore:
    """The state of hosts in this process. Safe between threads; hosts do not wait for each other."""

    def __init__(self, *, actor: str | None = None) -> None:
        self._actor = actor
        self._states: dict[str, HostState] = {}
        self._log: dict[str, list[AuditEntry]] = {}
        self._bindings: dict[str, Mapping[str, BindingRecord]] = {}
        self._locks: dict[str, Lock] = {}
        self._new_lock = Lock()

    @contextmanager
    def transaction(self, host: str) -> Iterator[MemoryTransaction]:
        with self.transactions((host,)) as open_on:
            yield open_on[host]

    @contextmanager
    def transactions(self, hosts: Collection[str]) -> Iterator[Mapping[str, MemoryTransaction]]:
        with ExitStack() as locks:
            for host in sorted(set(hosts)):
                locks.enter_context(self._lock_of(host))
            open_on = {host: MemoryTransaction(host, self.read(host), self._actor) for host in hosts}
            yield open_on
            for host, transaction in open_on.items():
                self._states[host] = transaction.state()
                self._log.setdefault(host, []).extend(transaction.log)
                self._bindings[host] = _merged(self.binding_records(host), transaction.bindings)

    def _lock_of(self, host: str) -> Lock:
        with self._new_lock:
            return self._locks.setdefault(host, Lock())

    def read(self, host: str) -> HostState:
        return self._states.get(host, HostState())

    def binding_records(self, host: str) -> Mapping[str, BindingRecord]:
        return self._bindings.get(host, {})

    def hosts(self) -> Sequence[str]:
        return sorted(self._states)

    def audit(self, host: str, *, last: int) -> Sequence[AuditEntry]:
        log = self._log.get(host, [])
        return log[max(0, len(log) - last) :]
