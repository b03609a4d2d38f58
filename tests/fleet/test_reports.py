"""What a host reports of its devices, through the use cases and every store."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from domain.hosts import A_PF, at, claim, function, inventory, pf, report, statuses, vf, wants
from domain.tracking.test_tracker import refused
from fleet.conftest import Fleet
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode
from laneway.domain.inventory import PciFunction, Vpd
from laneway.domain.report import HostReport
from laneway.domain.tracking.blocking import FATAL_ERRORS
from laneway.domain.tracking.claim import HostState
from laneway.fleet.control_plane import ControlPlane
from laneway.fleet.profiles import binding_profiles

PF, VF0 = "0000:81:00.0", "0000:81:02.0"
CARD, OTHER = "0000:3b:00.0", "0000:3c:00.0"
VF = vf(VF0, PF, vf_index=0)


def booted(boot: str, *functions: PciFunction) -> HostReport:
    specs: list[object] = [{"product_id": "37c8", "one_time_use": True}, {"address": "*"}]
    return replace(report(specs=specs), inventory=inventory(*functions, boot_id=boot))


def card(address: str, serial: str) -> PciFunction:
    return function(address, vpd=Vpd(card_serial_number=serial))


@pytest.fixture
def allocated(fleet: Fleet) -> Fleet:
    """A host, h1, whose card and PF are allocated to vm1."""
    fleet.plane.sync("h1", booted("b1", card(CARD, "S1"), pf(PF), VF))
    fleet.plane.claim("h1", claim("vm1", wants(product_id="37c8"), replace(A_PF, name="pf")))
    fleet.plane.allocate("h1", consumer="vm1")
    return fleet


def test_a_device_goes_through_its_life_and_another_process_sees_each_step(allocated: Fleet) -> None:
    steps: dict[str, Callable[[ControlPlane], object]] = {
        "prepare": lambda plane: plane.prepared("h1", at(CARD)),
        "free": lambda plane: plane.free("h1", consumer="vm1"),
        "release": lambda plane: plane.released("h1", at(CARD)),
        "clean": lambda plane: plane.cleaned("h1", at(CARD)),
    }
    after = {"prepare": "allocated", "free": "releasing", "release": "dirty", "clean": "available"}
    another = allocated.another_plane()
    another.sync("h1", booted("b1", card(CARD, "S1"), pf(PF), VF))
    for action, step in steps.items():
        step(allocated.plane)
        assert statuses(another.look("h1"))[CARD] == after[action]
        assert allocated.log()[-1][0] == action
    assert allocated.store.read("h1") == HostState(boot_id="b1")


def test_the_vfs_of_a_prepared_pf_are_stored_with_it(allocated: Fleet) -> None:
    allocated.plane.prepared("h1", at(PF), [VF])
    another = allocated.another_plane()
    another.sync("h1", booted("b1", card(CARD, "S1"), pf(PF)))
    assert statuses(another.look("h1")) == {
        CARD: Status.ALLOCATED,
        PF: Status.ALLOCATED,
        VF0: Status.UNAVAILABLE,
    }


def test_a_new_boot_has_prepared_nothing_in_one_line_of_the_log(allocated: Fleet) -> None:
    allocated.plane.prepared("h1", at(CARD))
    allocated.plane.prepared("h1", at(PF), [VF])
    lines = len(allocated.log())
    outcome = allocated.plane.sync("h1", booted("b2", card(CARD, "S1"), pf(PF)))
    assert outcome.changed == (), "no claim has ended"
    held = allocated.store.read("h1").held
    assert [(device.prepared, device.placeholders, device.consumer) for device in held.values()] == [
        (False, (), "vm1"),
        (False, (), "vm1"),
    ]
    ((action, detail),) = allocated.log()[lines:]
    assert (action, detail["boot_id"]) == ("sync", "b2")


def test_what_laneway_blocks_is_stored_once(allocated: Fleet) -> None:
    for _ in range(3):
        allocated.plane.block("h1", at(CARD), FATAL_ERRORS, "its fatal errors rose from 0 to 2", "2")
    assert [detail for action, detail in allocated.log() if action == "block"] == [{"blocks": {CARD: [FATAL_ERRORS]}}]
    (reason,) = allocated.another_plane_over(booted("b1", card(CARD, "S1"))).look("h1").view.blocked_by(at(CARD))
    assert (reason.code, reason.detail) == (FATAL_ERRORS, "2")


def test_what_is_refused_is_not_stored(allocated: Fleet) -> None:
    lines = len(allocated.log())
    with refused(ErrorCode.INVALID_STATUS):
        allocated.plane.cleaned("h1", at(CARD))
    with refused(ErrorCode.UNKNOWN_DEVICE):
        allocated.plane.block("h1", at("0000:99:00.0"), FATAL_ERRORS, "its fatal errors rose")
    assert len(allocated.log()) == lines


def test_no_binding_profile_is_made_of_a_device_that_is_not_where_it_was(allocated: Fleet) -> None:
    """Also where the host cannot be seen: the last sync has stored it."""
    assert binding_profiles(allocated.store, "vm1")
    allocated.plane.sync("h1", booted("b2", card(OTHER, "S1"), card(CARD, "S0"), pf(PF), VF))
    with refused(ErrorCode.WRONG_DEVICE):
        binding_profiles(allocated.store, "vm1")
    allocated.plane.sync("h1", booted("b3", card(CARD, "S1"), pf(PF), VF))
    assert binding_profiles(allocated.store, "vm1")


def test_a_cordon_and_a_dirty_device_are_stored_at_their_new_addresses(fleet: Fleet) -> None:
    fleet.plane.sync("h1", booted("b1", card(CARD, "S1")))
    fleet.plane.claim("h1", claim("vm1", wants(product_id="37c8")))
    fleet.plane.allocate("h1", consumer="vm1")
    fleet.plane.free("h1", consumer="vm1")
    fleet.plane.cordon("h1", at(CARD), "fan is loud")
    fleet.plane.sync("h1", booted("b2", card(OTHER, "S1")))
    state = fleet.store.read("h1")
    assert (set(state.held), set(state.blocks)) == ({at(OTHER)}, {at(OTHER)})
    assert state.held[at(OTHER)].function.address == at(OTHER)
