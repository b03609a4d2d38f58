"""Signals become wishes, and only while the service runs."""

import signal

import pytest

from laneway.compute.inbox import Inbox, Wish
from laneway.compute.signals import WISHES, signals_into

KNOWN = {getattr(signal, name): wish for name, wish in WISHES.items() if hasattr(signal, name)}


@pytest.mark.parametrize("number", KNOWN, ids=lambda number: number.name)
def test_a_signal_is_a_wish(number: signal.Signals) -> None:
    inbox = Inbox()
    with signals_into(inbox):
        signal.raise_signal(number)
        assert inbox.take(0) == {KNOWN[number]}


def test_the_signals_that_end_it_are_those_of_service_managers_and_of_a_terminal() -> None:
    assert WISHES["SIGTERM"] is WISHES["SIGINT"] is Wish.STOP


def test_afterwards_signals_mean_what_they_meant_before() -> None:
    before = {number: signal.getsignal(number) for number in KNOWN}
    with signals_into(Inbox()):
        assert all(signal.getsignal(number) != handler for number, handler in before.items())
    assert {number: signal.getsignal(number) for number in KNOWN} == before
