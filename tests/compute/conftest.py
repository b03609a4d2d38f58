"""What tests of the service share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from laneway.compute.process_lock import ProcessLock

if TYPE_CHECKING:
    from compute.changing_host import ChangingHost


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


@pytest.fixture
def changing_host(tmp_path: Path, quick_folder: Path) -> Iterator[Callable[..., "ChangingHost"]]:
    """Makes hosts on fake kernels, with their state in memory; what they hold open is closed in the end."""
    from compute.changing_host import ChangingHost  # noqa: PLC0415 - not where there is no Linux tree

    made: list[ChangingHost] = []

    def make(**more: Any) -> ChangingHost:
        folder = quick_folder / tmp_path.name / str(len(made))
        made.append(ChangingHost(folder, **more))
        return made[-1]

    yield make
    for host in made:
        host.close()


@pytest.fixture
def host(changing_host: Callable[..., "ChangingHost"]) -> "ChangingHost":
    """One whose functions are all admitted."""
    return changing_host()
