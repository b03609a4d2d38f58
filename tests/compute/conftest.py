"""What tests of the service share."""

from collections.abc import Iterator

import pytest

from laneway.compute.agent_lock import AgentLock


@pytest.fixture(autouse=True)
def _locks_are_given_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A service in a test does not end with its process, so what it holds has to be let go (a warning since 3.13)."""
    taken: list[AgentLock] = []
    take = AgentLock.take

    def remembered(lock: AgentLock) -> bool:
        taken.append(lock)
        return take(lock)

    monkeypatch.setattr(AgentLock, "take", remembered)
    yield
    for lock in taken:
        lock.free()
