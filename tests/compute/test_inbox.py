"""Wishes: left from anywhere, taken together."""

from threading import Thread

import pytest

from laneway.compute.inbox import Inbox, Wish


def test_without_wishes_it_waits_for_as_long_as_it_may() -> None:
    assert Inbox().take(0.001) == frozenset()


def test_a_time_that_is_over_is_no_error() -> None:
    assert Inbox().take(-1) == frozenset()


def test_all_that_is_there_is_taken_at_once_and_each_wish_counts_once() -> None:
    inbox = Inbox()
    for wish in (Wish.UPDATE, Wish.UPDATE, Wish.STOP, Wish.UPDATE):
        inbox.put(wish)
    assert inbox.take(0) == {Wish.UPDATE, Wish.STOP}
    assert inbox.take(0) == frozenset()


@pytest.mark.parametrize("wish", Wish)
def test_a_wish_of_another_thread_ends_the_wait(wish: Wish) -> None:
    inbox = Inbox()
    other = Thread(target=inbox.put, args=(wish,))
    other.start()
    assert inbox.take(30) == {wish}
    other.join()
