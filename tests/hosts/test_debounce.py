"""Which events are one batch."""

import pytest

from laneway.domain.address import PciAddress
from laneway.hosts.debounce import LONGEST, QUIET, next_batch
from laneway.interfaces.host_driver import HotplugEvent

ONE, OTHER = (HotplugEvent((PciAddress.parse(text),)) for text in ("81:00.0", "82:00.0"))


class Bus:
    """Events at known seconds. None at the end of time is a bus that is closed."""

    def __init__(self, *events: tuple[float, HotplugEvent]) -> None:
        self.now = 0.0
        self.events = list(events)

    def clock(self) -> float:
        return self.now

    def take(self, seconds: float | None) -> HotplugEvent | None:
        if not self.events:
            self.now += seconds or 0
            return None
        at, event = self.events[0]
        if seconds is not None and at - self.now > seconds:
            self.now += seconds
            return None
        self.now = max(self.now, at)
        del self.events[0]
        return event

    def batches(self) -> list[tuple[HotplugEvent, ...]]:
        return list(iter(lambda: next_batch(self.take, self.clock), None))


@pytest.mark.parametrize(
    ("events", "batches"),
    [
        pytest.param([], [], id="a bus that is closed at once"),
        pytest.param([(5, ONE)], [(ONE,)], id="one event"),
        pytest.param([(5, ONE), (5 + QUIET / 2, OTHER)], [(ONE, OTHER)], id="soon after each other"),
        pytest.param([(5, ONE), (5 + QUIET * 2, OTHER)], [(ONE,), (OTHER,)], id="far apart"),
        pytest.param([(5, OTHER), (5, ONE), (5, OTHER)], [(OTHER, ONE)], id="each once, in the order of the first"),
    ],
)
def test_batches(events: list[tuple[float, HotplugEvent]], batches: list[tuple[HotplugEvent, ...]]) -> None:
    assert Bus(*events).batches() == batches


def test_a_bus_that_never_rests_gives_a_batch_all_the_same() -> None:
    bus = Bus(*((QUIET / 2 * number, ONE) for number in range(1000)))
    assert next_batch(bus.take, bus.clock) == (ONE,)
    assert bus.now == pytest.approx(LONGEST, abs=QUIET)
