"""The table of statuses, tried whole: what is in it happens, everything else is refused."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.devices import device
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.transitions import TRANSITIONS, Event, shadow, step

OWNED = {Status.CLAIMED, Status.ALLOCATED}


@pytest.mark.parametrize(("status", "event"), list(product(Status, Event)))
def test_every_pair_is_in_the_table_or_refused(status: Status, event: Event) -> None:
    """Rules C34, C35, C38, C39 and C40."""
    if (status, event) in TRANSITIONS:
        assert step(status, event, "0000:3b:00.0") is TRANSITIONS[status, event]
        return
    with pytest.raises(LanewayError, match=rf"0000:3b:00\.0 is {status}; {event} needs a device that is") as refusal:
        step(status, event, "0000:3b:00.0")
    assert refusal.value.code is ErrorCode.INVALID_STATUS


def test_an_owned_device_cannot_be_claimed_or_removed() -> None:
    """Rules C35 and C40."""
    assert not {status for status, event in TRANSITIONS if event in (Event.CLAIM, Event.REMOVE)} & OWNED


def test_every_status_but_those_that_follow_from_relatives_is_reached() -> None:
    assert set(TRANSITIONS.values()) | {Status.RELEASING, Status.UNCLAIMABLE, Status.UNAVAILABLE} == set(Status)


def held(status: Status) -> PciDevice:
    return replace(device(), status=status, consumer="vm1" if status in OWNED else None)


@pytest.mark.parametrize(
    ("holders", "expected"),
    [
        pytest.param([], Status.AVAILABLE, id="nobody holds a relative"),
        pytest.param([Status.CLAIMED], Status.UNCLAIMABLE, id="a relative is claimed"),
        pytest.param([Status.ALLOCATED], Status.UNAVAILABLE, id="a relative is allocated"),
        pytest.param([Status.RELEASING], Status.UNAVAILABLE, id="a relative is not released yet"),
        pytest.param([Status.DIRTY], Status.UNAVAILABLE, id="a relative is to be cleaned"),
    ],
)
def test_a_free_device_shows_what_its_relatives_do(holders: list[Status], expected: Status) -> None:
    assert shadow(map(held, holders)) is expected


@given(st.lists(st.sampled_from([Status.CLAIMED, Status.ALLOCATED, Status.DIRTY])))
def test_the_order_of_the_holders_does_not_matter(holders: list[Status]) -> None:
    assert shadow(map(held, holders)) is shadow(map(held, reversed(holders)))
