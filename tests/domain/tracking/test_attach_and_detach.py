"""One device comes to a running guest, or leaves it (rule C46)."""

import pytest

from domain.hosts import allocate, at, claim, function, statuses, take, tracker, wants
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.tracker import PciDeviceTracker

FIRST, SECOND, THIRD = "0000:05:00.0", "0000:06:00.0", "0000:07:00.0"
NIC = wants("port", vendor_id="15b3")


@pytest.fixture
def host() -> PciDeviceTracker:
    """A guest runs with the first device."""
    made = tracker(function(FIRST), function(SECOND, vendor_id="15b3"), function(THIRD))
    allocate(made, "vm1", wants(vendor_id="8086"))
    return made


def test_attaching_adds_one_device(host: PciDeviceTracker) -> None:
    """Rule C46: by a claim of its own."""
    assert take(host, "vm1", NIC, claim_id="port-1") == [SECOND]
    host.apply(host.allocate(claim="port-1"))
    assert statuses(host) == {FIRST: Status.ALLOCATED, SECOND: Status.ALLOCATED, THIRD: Status.AVAILABLE}


def test_a_failed_attach_leaves_the_guest_as_it_was(host: PciDeviceTracker) -> None:
    """Rule C46: no device is there, or the guest did not take it."""
    before = host.state
    with pytest.raises(LanewayError) as refusal:
        host.claim(claim("vm1", wants(count=2, vendor_id="15b3"), claim_id="port-1"))
    assert (refusal.value.code, host.state) == (ErrorCode.DOES_NOT_FIT, before)
    take(host, "vm1", NIC, claim_id="port-1")
    host.apply(host.free(claim="port-1"))
    assert host.state == before


def test_detaching_frees_exactly_the_device(host: PciDeviceTracker) -> None:
    """Rule C46."""
    before = host.state
    take(host, "vm1", NIC, claim_id="port-1")
    host.apply(host.allocate(claim="port-1"))
    host.apply(host.free(consumer="vm1", addresses=[at(SECOND)]))
    assert host.state == before


def test_the_first_device_can_leave_too(host: PciDeviceTracker) -> None:
    """Rule C46: also one that the guest was started with."""
    take(host, "vm1", NIC, claim_id="port-1")
    host.apply(host.free(consumer="vm1", addresses=[at(FIRST)]))
    assert statuses(host) == {FIRST: Status.AVAILABLE, SECOND: Status.CLAIMED, THIRD: Status.AVAILABLE}
