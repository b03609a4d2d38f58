"""Processes that change the host and are killed at one point after the other: at each write to the journal."""

import itertools
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from laneway.store.journal import SqliteJournal
from vm.commands import Answer

_WRITES = ("begin", "step", "keep")


def before_step(number: int) -> int:
    """The point at which a step is in the journal, and not done; the first has the number 0."""
    return 2 * number + 3


def kill_everywhere(act: Callable[[], Answer], points: Iterable[int] | None = None) -> Iterator[int]:
    """Lets a process of its own act again and again, killed each time at a later point; gives the number of the point.

    They are before and after each write to the journal: when the step before is done, and when this one
    is not yet. It ends when a process has come to its end.
    """
    for point in itertools.count() if points is None else points:
        child = os.fork()
        if child == 0:
            _act(act, point)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        yield point


def at_once(*acts: Callable[[], Answer]) -> list[int]:
    """Processes that begin together; the exit status of each."""
    children = []
    for act in acts:
        child = os.fork()
        if child == 0:
            _act(act, None)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _act(act: Callable[[], Answer], point: int | None) -> None:
    """What a child does: it never returns to what its parent would do."""
    status = 70
    try:
        with _killed_at(point):
            status = act().status
    finally:
        os._exit(status)


@contextmanager
def _killed_at(point: int | None) -> Iterator[None]:
    """SIGKILL to this process at the point of this number."""
    points = itertools.count()

    def come_by() -> None:
        if next(points) == point:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in _WRITES:
        setattr(SqliteJournal, name, _between(getattr(SqliteJournal, name), come_by))
    yield


def _between(write: Callable[..., None], come_by: Callable[[], None]) -> Callable[..., None]:
    def written(*arguments: Any) -> None:
        come_by()
        write(*arguments)
        come_by()

    return written
