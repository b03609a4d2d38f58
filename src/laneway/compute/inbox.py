"""What the service is asked to do next: by signals, by events of the host, by the clock."""

from enum import Enum, auto
from queue import Empty, SimpleQueue


class Wish(Enum):
    """One thing that the service can be asked for."""

    UPDATE = auto()
    RELOAD = auto()
    STOP = auto()


class Inbox:
    """Wishes from other threads and from signal handlers, taken by the service when it has time.

    What comes while it has none is waiting for it, however often it is wished for, as one wish.
    A ``SimpleQueue`` is used because its ``put`` may interrupt itself and ``take`` in one thread,
    as signal handlers do.
    """

    def __init__(self) -> None:
        self._wishes: SimpleQueue[Wish] = SimpleQueue()

    def put(self, wish: Wish) -> None:
        """Leaves a wish; from anywhere, without waiting."""
        self._wishes.put(wish)

    def take(self, seconds: float) -> frozenset[Wish]:
        """All wishes that are there. With none it waits for the first, at most so long; then there may be none."""
        wishes: set[Wish] = set()
        try:
            wishes.add(self._wishes.get(timeout=max(seconds, 0)))
            while True:
                wishes.add(self._wishes.get_nowait())
        except Empty:
            return frozenset(wishes)
