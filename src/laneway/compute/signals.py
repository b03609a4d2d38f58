"""Signals of the operating system as wishes to the service."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from laneway.compute.inbox import Inbox, Wish

WISHES = {"SIGTERM": Wish.STOP, "SIGINT": Wish.STOP, "SIGBREAK": Wish.STOP, "SIGHUP": Wish.RELOAD}
"""By the signal's name: SIGHUP is POSIX's alone, SIGBREAK Windows'."""


@contextmanager
def signals_into(inbox: Inbox) -> Iterator[None]:
    """While this lasts, signals end nothing: they are put into the inbox. For the main thread only."""
    known = {getattr(signal, name): wish for name, wish in WISHES.items() if hasattr(signal, name)}

    def leave_wish(number: int, _frame: FrameType | None) -> None:
        inbox.put(known[number])

    before = {number: signal.signal(number, leave_wish) for number in known}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
