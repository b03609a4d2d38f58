"""What tests of the service share."""

from collections.abc import Iterator

import pytest

from laneway.compute.process_lock import ProcessLock


@pytest.fixture(autouse=True)
def _locks_are_given_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A service in a test does not end with its process, so what it holds has to be let go (a warning since 3.13)."""
    taken: list[ProcessLock] = []
    take = ProcessLock.take

    def remembered(lock: ProcessLock) -> bool:
        taken.append(lock)
        return take(lock)

    monkeypatch.setattr(ProcessLock, "take", remembered)
    yield
    for lock in taken:
        lock.free()
