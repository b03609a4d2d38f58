"""Taking over running VMs: what is recorded, what is left, and that nothing is recorded twice."""

from datetime import UTC, datetime

import pytest

from domain.hosts import A_PF, allocate, at, function, pf, report, take, tracker, vf
from laneway.contracts.codec import to_plain
from laneway.domain.device import Attach, Status
from laneway.domain.inventory import DevType, PciFunction, Problem
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.fleet.adoption import Adoption, adoption_document, plan_adoption
from laneway.fleet.control_plane import ControlPlane
from laneway.interfaces.running_vms import RunningVm, RunningVms
from laneway.store.memory import MemoryStore

PF, VF0, VF1 = "0000:31:00.0", "0000:31:01.0", "0000:31:01.1"
NIC = (pf(PF), vf(VF0, PF), vf(VF1, PF))


def vm(consumer: str, *addresses: str, attach: Attach = Attach.VFIO) -> RunningVm:
    devices = {at(address): attach for address in addresses}
    return RunningVm(consumer=consumer, uuid=None, pid=4711, devices=devices, source="qemu")


def running(*vms: RunningVm, problems: tuple[Problem, ...] = ()) -> RunningVms:
    return RunningVms(vms=vms, problems=problems)


def outcomes(adoption: Adoption) -> dict[str, str]:
    """Per device: new, known, or the code of the refusal."""
    return {
        str(adoptee.address): "known" if adoptee.known else adoptee.refusal.code if adoptee.refusal else "new"
        for adoptee in adoption.devices
    }


def test_devices_of_a_running_vm_are_recorded_as_allocated_to_it() -> None:
    host = tracker(*NIC)
    assert outcomes(plan_adoption(host, running(vm("vm1", VF0, VF1)))) == {VF0: "new", VF1: "new"}
    assert host.view.status_of(at(VF0)) is Status.ALLOCATED
    assert [str(device.address) for device in host.view.owned_by("vm1")] == [VF0, VF1]


def test_how_a_vm_has_a_device_is_recorded() -> None:
    host = tracker(function(VF0, DevType.VDPA, parent_addr=PF))
    plan_adoption(host, running(vm("vm1", VF0, attach=Attach.VDPA)))
    assert host.view.owned_by("vm1")[0].attach is Attach.VDPA


def test_what_is_recorded_already_is_left() -> None:
    host = tracker(*NIC)
    plan_adoption(host, running(vm("vm1", VF0)))
    again = plan_adoption(host, running(vm("vm1", VF0)))
    assert outcomes(again) == {VF0: "known"}
    assert again.update.is_empty


def claimed_by(consumer: str) -> PciDeviceTracker:
    host = tracker(*NIC)
    take(host, consumer, A_PF)
    return host


@pytest.mark.parametrize(
    ("host", "address", "code", "words"),
    [
        pytest.param(claimed_by("other"), PF, "invalid_status", "held by other", id="another holds it"),
        pytest.param(claimed_by("other"), VF0, "invalid_status", "relative 0000:31:00.0", id="or its relative"),
        pytest.param(claimed_by("vm1"), VF0, "invalid_status", "held by vm1", id="a PF and its VF never go together"),
        pytest.param(tracker(*NIC, specs=[]), VF0, "unknown_device", "no device spec", id="no spec admits it"),
    ],
)
def test_what_cannot_be_recorded_says_why(host: PciDeviceTracker, address: str, code: str, words: str) -> None:
    adoption = plan_adoption(host, running(vm("vm1", address)))
    refusal = adoption.devices[0].refusal
    assert refusal is not None
    assert refusal.code == code
    assert words in refusal.message
    assert adoption.update.is_empty


def test_of_two_vms_that_say_they_have_relatives_only_the_first_is_believed() -> None:
    adoption = plan_adoption(tracker(*NIC), running(vm("vm1", PF), vm("vm2", VF0)))
    assert outcomes(adoption) == {PF: "new", VF0: "invalid_status"}
    assert list(adoption.update.held) == [at(PF)]


def plane_over(*functions: PciFunction) -> ControlPlane:
    plane = ControlPlane(MemoryStore(), lambda: datetime(2026, 12, 1, tzinfo=UTC))
    plane.sync("h", report(*functions))
    return plane


def test_what_is_recorded_is_stored_and_the_rest_is_as_it_was() -> None:
    plane = plane_over(*NIC)
    adoption = plane.adopt("h", running(vm("vm1", VF0), vm("vm2", "0000:99:00.0")))
    assert outcomes(adoption) == {VF0: "new", "0000:99:00.0": "unknown_device"}
    assert [str(address) for address in plane.look("h").view.held] == [VF0]


def test_a_plan_alone_stores_nothing() -> None:
    plane = plane_over(*NIC)
    plan_adoption(plane.look("h"), running(vm("vm1", VF0)))
    assert not plane.look("h").view.held


def test_the_document_names_every_device_and_every_problem() -> None:
    problem = Problem(message="a process that is no VM")
    adoption = plan_adoption(tracker(*NIC, specs=[]), running(vm("vm1", VF0), problems=(problem,)))
    document = adoption_document("h", adoption, applied=False)
    assert document["schema"] == "laneway.adopt/1"
    assert document["devices"] == [
        {
            "address": VF0,
            "consumer": "vm1",
            "uuid": None,
            "pid": 4711,
            "source": "qemu",
            "attach": "vfio",
            "known": False,
            "refusal": {"code": "unknown_device", "message": "no device spec admits it; add an entry for it"},
        }
    ]
    assert to_plain(document["problems"]) == (to_plain(problem),)


def test_a_device_that_may_be_anothers_at_a_new_address_is_not_recorded_again() -> None:
    """Its claim says an address of an earlier boot."""
    card, moved = (function(address, path="0000:30/01.0/00.0") for address in ("0000:3b:00.0", "0000:3c:00.0"))
    host = tracker(card)
    allocate(host, "vm1")
    host = host.sync(report(moved)).tracker
    for consumer, outcome in (("vm2", "wrong_device"), ("vm1", "new")):
        assert outcomes(plan_adoption(host, running(vm(consumer, "0000:3c:00.0")))) == {"0000:3c:00.0": outcome}
