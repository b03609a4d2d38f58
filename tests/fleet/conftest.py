"""The use cases over each store, with a clock that a test sets."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from laneway.domain.report import HostReport
from laneway.domain.tracking.claim import HostState
from laneway.fleet.control_plane import ControlPlane
from laneway.interfaces.network import BindingRecord
from laneway.interfaces.store import AuditEntry, HostTransaction, Store
from laneway.store.memory import MemoryStore
from laneway.store.sqlite import open_store

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@dataclass
class CountingStore:
    """A store that counts the transactions, each of which may write."""

    inner: Store
    begun: int = 0

    def transaction(self, host: str) -> AbstractContextManager[HostTransaction]:
        self.begun += 1
        return self.inner.transaction(host)

    def transactions(self, hosts: Collection[str]) -> AbstractContextManager[Mapping[str, HostTransaction]]:
        self.begun += 1
        return self.inner.transactions(hosts)

    def read(self, host: str) -> HostState:
        return self.inner.read(host)

    def binding_records(self, host: str) -> Mapping[str, BindingRecord]:
        return self.inner.binding_records(host)

    def hosts(self) -> Sequence[str]:
        return self.inner.hosts()

    def audit(self, host: str, *, last: int) -> Sequence[AuditEntry]:
        return self.inner.audit(host, last=last)


@dataclass
class Fleet:
    """One control plane, its store, and the time that it has."""

    store: CountingStore
    time: datetime = NOON
    plane: ControlPlane = field(init=False)

    def __post_init__(self) -> None:
        self.plane = self.another_plane()

    def another_plane(self) -> ControlPlane:
        """Another process over the same store, which knows no host yet."""
        return ControlPlane(self.store, lambda: self.time)

    def another_plane_over(self, report: HostReport) -> ControlPlane:
        """Another process, to which h1 has reported."""
        plane = self.another_plane()
        plane.sync("h1", report)
        return plane

    def later(self, **by: int) -> None:
        self.time += timedelta(**by)

    def log(self, host: str = "h1") -> list[tuple[str, Mapping[str, object]]]:
        """What the audit log says: actions with their details, the newest last."""
        return [(entry.action, entry.detail) for entry in self.store.audit(host, last=99)]


@contextmanager
def store_of(kind: str, folder: Path) -> Iterator[Store]:
    if kind == "memory":
        yield MemoryStore(actor="ada")
        return
    with open_store(folder / "state.db", actor="ada") as store:
        yield store


@pytest.fixture(params=["memory", "sqlite"])
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fleet]:
    with store_of(request.param, tmp_path) as store:
        yield Fleet(CountingStore(store))
