"""How long computing takes. Standard library only: nova's environment runs this too.

Seconds are those of the processor: the same as those of the clock where nothing else runs, and
far steadier where something does. Nothing that is measured here waits for anything.
"""

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from math import ceil
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def seconds(work: Callable[[], object], *, repeat: int = 5) -> float:
    """The median of several runs."""
    return seconds_on(lambda: None, lambda _: work(), repeat=repeat)


def seconds_on(prepare: Callable[[], T], work: Callable[[T], object], *, repeat: int = 5) -> float:
    """The median of several runs, each on something prepared anew, which is not counted.

    The garbage of what came before is not counted either; that of the work itself is.
    """
    found = []
    for _ in range(repeat):
        given = prepare()
        gc.collect()
        start = time.process_time()
        work(given)
        found.append(time.process_time() - start)
    return median(found)


def seconds_each(work: Callable[[], object], *, times: int, repeat: int = 5) -> float:
    """Of a work that is too short for one look at the clock: the median of several runs of ``times`` of it, for one."""

    def many() -> None:
        for _ in range(times):
            work()

    return seconds(many, repeat=repeat) / times


def seconds_of_command(command: Sequence[str], *, given: bytes = b"") -> float:
    """What a command takes from its start to its end; ``given`` is its stdin."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, input=given, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, Python's and C's: a measure of work that no other process disturbs."""
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count - 1


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that this share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]
