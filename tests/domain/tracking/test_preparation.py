"""What the host reports of devices that it gives out of its hands and gets back, and what a new boot makes of that."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from domain.hosts import (
    A_PF,
    A_VF,
    allocate,
    at,
    blocks,
    claim,
    function,
    give_back,
    inventory,
    offered,
    pf,
    report,
    statuses,
    take,
    tracker,
    vf,
    wants,
)
from domain.tracking.test_tracker import refused
from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode
from laneway.domain.inventory import NetDevice, PciFunction
from laneway.domain.tracking.blocking import CLEANING_FAILED, FATAL_ERRORS
from laneway.domain.tracking.claim import HostState, Update
from laneway.domain.tracking.tracker import PciDeviceTracker

PF, VF0, VF1 = "0000:81:00.0", "0000:81:02.0", "0000:81:02.1"
VFS = (vf(VF0, PF, vf_index=0), vf(VF1, PF, vf_index=1))
NIC = (pf(PF), *VFS)
CARD, OTHER = "0000:3b:00.0", "0000:3d:00.0"
GPU, SOUND = "0000:0a:00.0", "0000:0a:00.1"
GROUPED = (
    function(GPU, product_id="1e07", iommu_group=20, driver="vfio-pci"),
    function(SOUND, product_id="10f7", iommu_group=20, driver="vfio-pci"),
)
ONCE: list[object] = [{"address": "*", "one_time_use": True}]

Change = Callable[[PciDeviceTracker], Update]


def do(host: PciDeviceTracker, *changes: Change) -> None:
    for change in changes:
        host.apply(change(host))


def prepared(address: str, *placeholders: PciFunction) -> Change:
    return lambda host: host.prepared(at(address), placeholders)


def released(address: str) -> Change:
    return lambda host: host.released(at(address))


def seen(host: PciDeviceTracker, *functions: PciFunction, boot: str | None = None, **rest: object) -> PciDeviceTracker:
    """The host after a report, with what follows from it."""
    new = report(*functions, **rest)  # type: ignore[arg-type]
    host = host.sync(replace(new, inventory=inventory(*functions, boot_id=boot))).tracker
    do(host, PciDeviceTracker.settle)
    return host


def is_prepared(host: PciDeviceTracker, address: str) -> bool:
    device = host.view.device(at(address))
    return device is not None and device.prepared


# prepare and release


def test_a_prepared_device_is_releasing_when_it_is_freed_and_available_when_it_is_released() -> None:
    host = tracker(function(CARD))
    allocate(host, "vm1")
    do(host, prepared(CARD))
    assert (statuses(host), is_prepared(host, CARD)) == ({CARD: Status.ALLOCATED}, True)
    give_back(host, "vm1")
    assert (statuses(host), offered(host)) == ({CARD: Status.RELEASING}, 0)
    assert host.view.held[at(CARD)].consumer is None
    assert host.view.claims == {}
    do(host, released(CARD))
    assert (statuses(host), offered(host), host.state) == ({CARD: Status.AVAILABLE}, 1, HostState())


def test_what_is_releasing_keeps_every_conflict() -> None:
    host = tracker(*NIC, *GROUPED)
    allocate(host, "vm1", A_VF, replace(wants(product_id="1e07"), name="gpu"))
    do(host, prepared(VF0), prepared(GPU))
    give_back(host, "vm1")
    assert statuses(host) == {
        GPU: Status.RELEASING,
        SOUND: Status.UNAVAILABLE,
        PF: Status.UNAVAILABLE,
        VF0: Status.RELEASING,
        VF1: Status.AVAILABLE,
    }
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm1", wants(product_id="10f7")))


def test_a_device_that_needs_cleaning_is_dirty_once_it_is_released() -> None:
    host = tracker(function(CARD), specs=ONCE)
    allocate(host, "vm1")
    do(host, prepared(CARD))
    give_back(host, "vm1")
    do(host, released(CARD))
    assert (statuses(host), is_prepared(host, CARD)) == ({CARD: Status.DIRTY}, False)
    do(host, lambda tracked: tracked.cleaned(at(CARD)))
    assert host.state == HostState()


def test_the_host_may_have_a_device_back_while_its_claim_stays() -> None:
    host = tracker(function(CARD), specs=ONCE)
    allocate(host, "vm1")
    do(host, prepared(CARD), released(CARD))
    assert (statuses(host), is_prepared(host, CARD)) == ({CARD: Status.ALLOCATED}, False)
    assert host.view.held[at(CARD)].consumer == "vm1"
    do(host, prepared(CARD))
    assert is_prepared(host, CARD)


def test_preparing_again_changes_nothing() -> None:
    host = tracker(*NIC)
    allocate(host, "vm1", A_PF)
    do(host, prepared(PF, *VFS))
    assert host.prepared(at(PF)) == Update()


def nothing(host: PciDeviceTracker) -> None:
    """It stays available."""


def free_it_prepared(host: PciDeviceTracker) -> None:
    allocate(host, "vm1")
    do(host, prepared(CARD))
    give_back(host, "vm1")


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(nothing, id="a device that is available"),
        pytest.param(lambda host: take(host, "vm1"), id="a device that is only claimed"),
        pytest.param(free_it_prepared, id="a device that is freed"),
    ],
)
def test_nothing_else_than_an_allocated_device_is_prepared(before: Callable[[PciDeviceTracker], object]) -> None:
    host = tracker(function(CARD))
    before(host)
    state = host.state
    with refused(ErrorCode.INVALID_STATUS):
        host.prepared(at(CARD))
    assert host.state == state


@pytest.mark.parametrize("operation", [PciDeviceTracker.prepared, PciDeviceTracker.released, PciDeviceTracker.cleaned])
def test_what_no_spec_admits_is_unknown(operation: Callable[[PciDeviceTracker, PciAddress], Update]) -> None:
    with refused(ErrorCode.UNKNOWN_DEVICE):
        operation(tracker(function(CARD)), at(OTHER))


def test_a_device_that_was_never_prepared_cannot_be_released() -> None:
    host = tracker(function(CARD))
    allocate(host, "vm1")
    with refused(ErrorCode.INVALID_STATUS):
        host.released(at(CARD))
    give_back(host, "vm1")
    with refused(ErrorCode.INVALID_STATUS):
        host.released(at(CARD))


# placeholders


def test_the_vfs_of_a_prepared_pf_are_unavailable_while_they_are_gone() -> None:
    host = tracker(*NIC)
    allocate(host, "vm1", A_PF)
    do(host, prepared(PF, *VFS))
    host = seen(host, pf(PF, driver="vfio-pci"))
    assert statuses(host) == {PF: Status.ALLOCATED, VF0: Status.UNAVAILABLE, VF1: Status.UNAVAILABLE}
    assert set(host.view.placeholders) == {at(VF0), at(VF1)}
    assert offered(host) == 0
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm2", A_VF))
    give_back(host, "vm1")
    assert statuses(host) == {PF: Status.RELEASING, VF0: Status.UNAVAILABLE, VF1: Status.UNAVAILABLE}
    do(host, released(PF))
    assert statuses(host) == {PF: Status.AVAILABLE}
    host = seen(host, *NIC)
    assert statuses(host) == dict.fromkeys((PF, VF0, VF1), Status.AVAILABLE)


def test_a_vf_that_comes_back_at_another_address_takes_the_place_of_its_placeholder() -> None:
    host = tracker(*NIC)
    allocate(host, "vm1", A_PF)
    do(host, prepared(PF, *VFS))
    host = seen(host, pf(PF))
    moved = "0000:81:10.1"
    host = seen(host, pf(PF), vf(moved, PF, vf_index=1))
    assert statuses(host) == {PF: Status.ALLOCATED, VF0: Status.UNAVAILABLE, moved: Status.UNAVAILABLE}


def test_a_placeholder_is_admitted_by_the_interface_that_its_pf_had() -> None:
    by_name: list[object] = [{"devname": "ens1f0", "physical_network": "p1"}]
    named = pf(PF, netdevs=(NetDevice(name="ens1f0"),))
    host = tracker(named, *VFS, specs=by_name)
    allocate(host, "vm1", A_PF)
    do(host, prepared(PF, *VFS))
    host = seen(host, pf(PF, netdevs=()), specs=by_name)
    assert statuses(host) == {PF: Status.ALLOCATED, VF0: Status.UNAVAILABLE, VF1: Status.UNAVAILABLE}
    assert host.view.placeholders[at(VF0)].tags == {"physical_network": "p1"}


def test_a_placeholder_that_no_spec_admits_is_not_tracked() -> None:
    host = tracker(*NIC, specs=[{"product_id": "1572"}])
    allocate(host, "vm1", A_PF)
    do(host, prepared(PF, *VFS))
    assert statuses(seen(host, pf(PF), specs=[{"product_id": "1572"}])) == {PF: Status.ALLOCATED}


def test_a_placeholder_can_be_cordoned() -> None:
    host = tracker(*NIC)
    allocate(host, "vm1", A_PF)
    do(host, prepared(PF, *VFS))
    host = seen(host, pf(PF))
    do(host, lambda tracked: tracked.cordon(at(VF0)))
    give_back(host, "vm1")
    do(host, released(PF))
    assert blocks(seen(host, *NIC)) == {VF0: ["cordoned"]}


# boots


def booted(boot: str | None, *functions: PciFunction, **rest: object) -> PciDeviceTracker:
    return seen(tracker(*functions, **rest), *functions, boot=boot, **rest)  # type: ignore[arg-type]


def test_after_another_boot_nothing_is_prepared_and_what_was_releasing_still_is() -> None:
    host = booted("b1", *NIC, function(CARD), function(OTHER))
    allocate(host, "vm1", A_PF)
    allocate(host, "vm2", wants(product_id="37c8"))
    allocate(host, "vm3", wants(product_id="37c8"))
    do(host, prepared(PF, *VFS), prepared(CARD), prepared(OTHER))
    give_back(host, "vm3")
    host = seen(host, pf(PF), function(CARD), function(OTHER), boot="b1")
    assert [is_prepared(host, address) for address in (PF, CARD, OTHER)] == [True, True, True]
    host = seen(host, pf(PF), function(CARD), function(OTHER), boot="b2")
    assert [is_prepared(host, address) for address in (PF, CARD, OTHER)] == [False, False, False]
    assert statuses(host) == {CARD: Status.ALLOCATED, OTHER: Status.RELEASING, PF: Status.ALLOCATED}
    assert host.state.boot_id == "b2"
    do(host, released(OTHER))
    assert statuses(host)[OTHER] is Status.AVAILABLE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("b1", "b1", id="the same boot"),
        pytest.param("b1", None, id="a report that does not know its boot"),
        pytest.param(None, "b1", id="the first report that knows its boot"),
    ],
)
def test_what_is_prepared_stays_so(before: str | None, after: str | None) -> None:
    host = booted(before, function(CARD))
    allocate(host, "vm1")
    do(host, prepared(CARD))
    assert is_prepared(seen(host, function(CARD), boot=after), CARD)


def test_a_report_that_does_not_know_its_boot_does_not_hide_that_another_begins_after_it() -> None:
    host = booted("b1", function(CARD))
    allocate(host, "vm1")
    do(host, prepared(CARD))
    host = seen(host, function(CARD), boot=None)
    assert not is_prepared(seen(host, function(CARD), boot="b2"), CARD)


def test_a_second_look_at_the_same_report_finds_nothing_new() -> None:
    host = booted("b2", *GROUPED)
    assert host.settle().is_empty


# IOMMU groups of what is gone


def test_a_held_device_that_is_gone_keeps_the_members_of_its_iommu_group() -> None:
    host = booted("b1", *GROUPED)
    allocate(host, "vm1", wants(product_id="1e07"))
    host = seen(host, GROUPED[1], boot="b1")
    assert statuses(host) == {GPU: Status.ALLOCATED, SOUND: Status.UNAVAILABLE}
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm2", wants(product_id="10f7")))
    assert take(host, "vm1", wants(product_id="10f7"), claim_id="later") == [SOUND]


def test_the_last_group_counts_which_need_not_be_that_of_the_claim() -> None:
    host = booted("b1", function(GPU, product_id="1e07"), GROUPED[1])
    allocate(host, "vm1", wants(product_id="1e07"))
    host = seen(host, *GROUPED, boot="b1")
    assert statuses(seen(host, GROUPED[1], boot="b1"))[SOUND] is Status.UNAVAILABLE


def test_after_another_boot_the_group_of_what_is_gone_binds_no_more() -> None:
    """The kernel numbers groups anew."""
    host = booted("b1", *GROUPED)
    allocate(host, "vm1", wants(product_id="1e07"))
    host = seen(host, GROUPED[1], boot="b2")
    assert statuses(host) == {GPU: Status.ALLOCATED, SOUND: Status.AVAILABLE}
    assert statuses(seen(host, GROUPED[1], boot="b2"))[SOUND] is Status.AVAILABLE
    assert statuses(seen(host, *GROUPED, boot="b2"))[SOUND] is Status.UNAVAILABLE


# cordons by Laneway itself


def test_laneway_blocks_a_device_itself_and_an_operator_lifts_it() -> None:
    host = tracker(function(CARD))
    do(host, lambda tracked: tracked.block(at(CARD), FATAL_ERRORS, "its fatal errors rose from 0 to 2", "2"))
    reason = host.view.blocked_by(at(CARD))[0]
    assert (reason.code, reason.message, reason.detail) == (FATAL_ERRORS, "its fatal errors rose from 0 to 2", "2")
    assert offered(host) == 0
    assert host.block(at(CARD), FATAL_ERRORS, "its fatal errors rose from 0 to 2", "2") == Update()
    do(host, lambda tracked: tracked.uncordon(at(CARD)))
    assert (blocks(host), offered(host)) == ({}, 1)


def test_a_device_whose_cleaning_failed_stays_dirty_also_when_its_block_is_lifted() -> None:
    host = tracker(function(CARD), specs=ONCE)
    allocate(host, "vm1")
    give_back(host, "vm1")
    do(host, lambda tracked: tracked.block(at(CARD), CLEANING_FAILED, "nvme format ended with 1"))
    assert (statuses(host), blocks(host)) == ({CARD: Status.DIRTY}, {CARD: [CLEANING_FAILED]})
    do(host, lambda tracked: tracked.uncordon(at(CARD)))
    assert (statuses(host), blocks(host), offered(host)) == ({CARD: Status.DIRTY}, {}, 0)
    do(host, lambda tracked: tracked.cleaned(at(CARD)))
    assert statuses(host) == {CARD: Status.AVAILABLE}


def test_an_owner_keeps_a_device_that_laneway_blocks() -> None:
    host = tracker(function(CARD))
    allocate(host, "vm1")
    do(host, lambda tracked: tracked.block(at(CARD), FATAL_ERRORS, "its fatal errors rose"))
    assert (statuses(host), blocks(host)) == ({CARD: Status.ALLOCATED}, {CARD: [FATAL_ERRORS]})


def test_only_what_is_tracked_is_blocked() -> None:
    with refused(ErrorCode.UNKNOWN_DEVICE):
        tracker(function(CARD)).block(at(OTHER), FATAL_ERRORS, "its fatal errors rose")
