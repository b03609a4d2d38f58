"""Events of a driver become wishes for an update."""

import pytest

from compute.events import Events
from compute.fakes import FakeDriver, host
from laneway.compute.inbox import Inbox, Wish
from laneway.compute.watching import Watcher
from laneway.domain.errors import ErrorCode, LanewayError

LONG = 30.0


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def driver(events: Events) -> FakeDriver:
    driver = FakeDriver(host())
    driver.events = events
    return driver


def test_a_driver_that_cannot_watch_is_not_asked_to() -> None:
    inbox = Inbox()
    watcher = Watcher.start(FakeDriver(host()), inbox)
    assert (watcher.is_watching, watcher.error) == (False, None)
    assert inbox.take(0) == frozenset()
    watcher.close()


def test_what_happened_before_it_watched_is_looked_for_once(driver: FakeDriver) -> None:
    inbox = Inbox()
    watcher = Watcher.start(driver, inbox)
    assert inbox.take(LONG) == {Wish.UPDATE}
    assert watcher.is_watching
    watcher.close()


def test_each_batch_is_a_wish_for_an_update(driver: FakeDriver, events: Events) -> None:
    inbox = Inbox()
    watcher = Watcher.start(driver, inbox)
    inbox.take(LONG)
    for _ in range(2):
        events.give()
        assert inbox.take(LONG) == {Wish.UPDATE}
    watcher.close()


def test_closing_it_ends_the_thread(driver: FakeDriver) -> None:
    watcher = Watcher.start(driver, Inbox())
    watcher.close()
    assert not watcher.is_watching
    assert watcher.error is None


def test_a_driver_that_cannot_go_on_says_why(driver: FakeDriver, events: Events) -> None:
    error = LanewayError(ErrorCode.HOST_UNREACHABLE, "the connection broke")
    watcher = Watcher.start(driver, Inbox())
    events.give(error)
    watcher.wait(LONG)
    assert (watcher.is_watching, watcher.error) == (False, error)


def test_a_driver_that_cannot_begin_says_why_and_ends_nothing(driver: FakeDriver) -> None:
    driver.events = LanewayError(ErrorCode.NO_PERMISSION, "not for you")
    watcher = Watcher.start(driver, Inbox())
    assert (watcher.is_watching, watcher.error) == (False, driver.events)
    watcher.close()
