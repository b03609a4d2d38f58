"""Many events in a short time are one batch. Pure: time and events are given."""

from collections.abc import Callable

from laneway.interfaces.host_driver import HotplugEvent

QUIET = 0.2
"""Seconds without an event after which a batch is complete."""

LONGEST = 2.0
"""Seconds after which a batch is handed on though events keep coming."""


def next_batch(
    take: Callable[[float | None], HotplugEvent | None], clock: Callable[[], float]
) -> tuple[HotplugEvent, ...] | None:
    """The next events, each once, in the order in which they came first; None where there are no more.

    ``take`` waits for one event for so many seconds, or without end, and gives None where none came.
    ``clock`` gives seconds that never go back.
    """
    first = take(None)
    if first is None:
        return None
    batch = {first: None}
    end = clock() + LONGEST
    while (left := min(QUIET, end - clock())) > 0:
        event = take(left)
        if event is None:
            break
        batch[event] = None
    return tuple(batch)
