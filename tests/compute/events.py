"""Hot-plug events that the test gives."""

from queue import SimpleQueue
from typing import Self

from laneway.domain.errors import LanewayError
from laneway.interfaces.host_driver import HotplugEvent


class Events:
    """Batches that the test gives, one after the other; None is the end, an error is raised."""

    def __init__(self) -> None:
        self._next: SimpleQueue[LanewayError | bool | None] = SimpleQueue()

    def give(self, what: LanewayError | bool | None = True) -> None:
        self._next.put(what)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[HotplugEvent, ...]:
        what = self._next.get()
        if isinstance(what, LanewayError):
            raise what
        if what is None:
            raise StopIteration
        return (HotplugEvent(),)

    def close(self) -> None:
        self._next.put(None)
