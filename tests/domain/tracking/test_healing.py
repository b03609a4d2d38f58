"""Stored records that cannot be so."""

from dataclasses import replace

import pytest

from domain.devices import device
from laneway.domain.device import PciDevice, Status
from laneway.domain.tracking.healing import heal


def record(status: Status, consumer: str | None = None) -> PciDevice:
    return replace(device(), status=status, consumer=consumer)


@pytest.mark.parametrize(
    ("stored", "expected", "noted"),
    [
        pytest.param(record(Status.AVAILABLE), None, False, id="a free device needs no record"),
        pytest.param(record(Status.UNAVAILABLE), None, True, id="unavailable follows from others"),
        pytest.param(record(Status.UNCLAIMABLE), None, True, id="unclaimable follows from others"),
        pytest.param(record(Status.CLAIMED), None, True, id="claimed by nobody is free"),
        pytest.param(record(Status.ALLOCATED), None, True, id="allocated to nobody is free"),
        pytest.param(record(Status.REMOVED), None, True, id="removed is gone"),
        pytest.param(record(Status.CLAIMED, "vm1"), Status.CLAIMED, False, id="claimed stays"),
        pytest.param(record(Status.ALLOCATED, "vm1"), Status.ALLOCATED, False, id="allocated stays"),
        pytest.param(record(Status.RELEASING), Status.RELEASING, False, id="releasing stays"),
        pytest.param(record(Status.DIRTY), Status.DIRTY, False, id="dirty stays"),
        pytest.param(record(Status.AVAILABLE, "vm1"), Status.ALLOCATED, True, id="an owner is believed"),
        pytest.param(record(Status.UNAVAILABLE, "vm1"), Status.ALLOCATED, True, id="an owner is believed here too"),
        pytest.param(record(Status.DIRTY, "vm1"), Status.ALLOCATED, True, id="dirty with an owner"),
    ],
)
def test_a_record_is_healed(stored: PciDevice, expected: Status | None, noted: bool) -> None:
    """Rule C36."""
    healed = heal([stored])
    found = healed.state.held.get(stored.address)
    assert (found.status if found else None) is expected
    assert bool(healed.notes) is noted
    if found is not None:
        assert found.consumer == stored.consumer


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_records_of_one_address_the_owned_one_counts(turned: bool) -> None:
    """Rule D27."""
    records = [record(Status.DIRTY), record(Status.ALLOCATED, "vm1")]
    healed = heal(reversed(records) if turned else records)
    assert [found.consumer for found in healed.state.held.values()] == ["vm1"]
    assert len(healed.notes) == 1
