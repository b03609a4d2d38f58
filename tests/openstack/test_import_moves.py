"""An instance that nova is moving has devices on two hosts, or two sets of them on one: both sides are taken over."""

from collections.abc import Sequence
from typing import Any

import pytest

import nova_rows as rows
from domain.hosts import at, function, pf, tracker, vf
from laneway.domain.device import Status
from laneway.domain.tracking.host_view import IommuGroups
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.openstack.import_findings import Severity
from laneway.openstack.nova_import import NovaImport, plan_import
from laneway.openstack.nova_nodes import node_named
from laneway.openstack.nova_records import read_records

CARD, OTHER = "0000:05:00.0", "0000:06:00.0"
NIC, VF0, VF1 = "0000:31:00.0", "0000:31:01.0", "0000:31:01.1"
NODES = [rows.NODE, rows.NODE | {"id": 8, "host": "compute-2", "hypervisor_hostname": "compute-2.example"}]
OLD, NEW = "cccccccc-0000-4000-8000-000000000001", "cccccccc-0000-4000-8000-000000000002"
RESIZED = rows.extra(rows.flavor_request(NEW)) | {
    "migration_context": rows.context([rows.flavor_request(OLD)], [rows.flavor_request(NEW)])
}
"""An instance that runs with the devices of its new flavor, until that is confirmed."""

CLAIM = f"nova-{rows.VM}"


def host() -> PciDeviceTracker:
    nics = (pf(NIC), vf(VF0, NIC), vf(VF1, NIC))
    return tracker(function(CARD), function(OTHER), *nics, iommu_groups=IommuGroups.IGNORE)


def imported(
    to: PciDeviceTracker,
    devices: Sequence[rows.Row],
    moves: Sequence[rows.Row] | None,
    *,
    node: str = "compute-1",
    extra: rows.Row = RESIZED,
    instance: rows.Row | None = None,
) -> NovaImport:
    running = rows.instance(host="compute-2", node="compute-2.example") if instance is None else instance
    tables: dict[str, Any] = {
        "compute_nodes": NODES,
        "pci_devices": devices,
        "instances": [running],
        "instance_extra": [extra],
    }
    records = read_records(tables if moves is None else tables | {"migrations": moves})
    return plan_import(to, records, node_named(records.nodes, node), {})


def codes(plan: NovaImport) -> list[str]:
    return [finding.code for finding in plan.findings]


BOTH_SIDES = [
    rows.device(CARD, rows.VM, request_id=OLD),
    rows.device(OTHER, rows.VM, id=2, compute_node_id=8, request_id=NEW),
]


@pytest.mark.parametrize(
    ("node", "address", "request_id"),
    [
        pytest.param("compute-1", CARD, OLD, id="the host that it leaves"),
        pytest.param("compute-2", OTHER, NEW, id="the host that it goes to"),
    ],
)
def test_each_host_keeps_its_side_with_the_requests_of_that_side(node: str, address: str, request_id: str) -> None:
    """Nothing is lost, whichever way the move ends (rule C68: the requests are those of the time)."""
    to = host()
    plan = imported(to, BOTH_SIDES, [rows.move()], node=node)
    assert (codes(plan), plan.is_clean) == (["move_under_way"], True)
    assert to.view.claims[CLAIM].devices == {request_id: (at(address),)}
    assert to.view.held[at(address)].consumer == rows.VM


def test_the_finding_says_what_to_do() -> None:
    (finding,) = imported(host(), BOTH_SIDES, [rows.move()]).findings
    assert (finding.severity, finding.consumer) == (Severity.WARNING, rows.VM)
    assert finding.message == (
        f"{rows.VM} is being moved from compute-1 to compute-2 (resize, finished); {CARD} is kept for it, whichever"
        f" side it ends on; confirm or revert it in nova first (openstack server resize confirm {rows.VM}, or revert),"
        " and import then"
    )


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        pytest.param("resize", "confirm or revert it in nova first", id="a resize"),
        pytest.param("migration", "confirm or revert it in nova first", id="a cold migration"),
        pytest.param("live-migration", "let it end in nova first, or abort it", id="a live migration"),
        pytest.param("evacuation", "let it end in nova first, and import", id="an evacuation"),
        pytest.param(None, "confirm or revert it in nova first", id="one of a nova that recorded no kind"),
    ],
)
def test_what_to_do_depends_on_the_kind_of_move(kind: str | None, remedy: str) -> None:
    (finding,) = imported(host(), BOTH_SIDES, [rows.move(migration_type=kind, status="running")]).findings
    assert remedy in finding.message


HERE = {"dest_compute": "compute-1", "dest_node": "compute-1.example"}


def test_a_resize_on_its_host_keeps_both_sets() -> None:
    """Rule C48."""
    to = host()
    devices = [rows.device(CARD, rows.VM, request_id=OLD), rows.device(OTHER, rows.VM, id=2, request_id=NEW)]
    plan = imported(to, devices, [rows.move(**HERE)], instance=rows.instance())
    assert codes(plan) == ["move_under_way"]
    assert "is being moved within this host (resize, finished)" in plan.findings[0].message
    assert f"{CARD}, {OTHER} are kept for it" in plan.findings[0].message
    assert to.view.claims[CLAIM].devices == {OLD: (at(CARD),), NEW: (at(OTHER),)}
    to.apply(to.free(addresses=[at(CARD)]))
    assert {address: device.status for address, device in to.view.held.items()} == {at(OTHER): Status.ALLOCATED}


def test_a_port_has_one_request_and_two_devices_while_it_is_moved_within_its_host() -> None:
    to = host()
    asked = rows.port_request()
    extra = rows.extra(asked) | {"migration_context": rows.context([asked], [asked])}
    devices = [
        rows.vf(one, NIC, rows.VM, id=number, request_id=rows.PORT_REQUEST) for number, one in enumerate((VF0, VF1))
    ]
    plan = imported(to, devices, [rows.move(**HERE)], extra=extra, instance=rows.instance())
    assert codes(plan) == ["move_under_way"]
    (request,) = to.view.claims[CLAIM].request.requests
    assert to.view.claims[CLAIM].devices == {request.name: (at(VF0), at(VF1))}


def test_a_move_whose_destination_is_not_claimed_yet_has_what_was_asked_for_so_far() -> None:
    to = host()
    extra = rows.extra(rows.flavor_request(OLD))
    plan = imported(to, BOTH_SIDES[:1], [rows.move(status="pre-migrating")], extra=extra, instance=rows.instance())
    assert codes(plan) == ["move_under_way"]
    assert to.view.claims[CLAIM].devices == {OLD: (at(CARD),)}
    arriving = imported(host(), BOTH_SIDES[:1], [rows.move()], node="compute-2", extra=extra, instance=rows.instance())
    assert "it has no device here yet" in arriving.findings[0].message


def test_done_again_it_changes_nothing_and_says_the_same() -> None:
    to = host()
    first = imported(to, BOTH_SIDES, [rows.move()])
    again = imported(to, BOTH_SIDES, [rows.move()])
    assert again.update.is_empty
    assert again.findings == first.findings


def test_once_it_is_confirmed_what_the_old_host_still_keeps_is_told() -> None:
    to = host()
    imported(to, BOTH_SIDES, [rows.move()])
    confirmed = imported(to, BOTH_SIDES[1:], [rows.move(status="confirmed")])
    assert codes(confirmed) == ["unknown_to_nova"]


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        pytest.param(None, "a move may be under way", id="an export without moves"),
        pytest.param([], "nova has no move of it that is under way; free it", id="there is no move"),
        pytest.param([rows.move(status="error")], "nova has no move of it that is under way", id="it has ended"),
    ],
)
def test_an_owner_that_is_elsewhere_without_a_move_is_told(moves: list[rows.Row] | None, why: str) -> None:
    plan = imported(host(), BOTH_SIDES[:1], moves)
    (elsewhere,) = [finding for finding in plan.findings if finding.code == "owner_elsewhere"]
    assert f"which is on compute-2; it is kept: {why}" in elsewhere.message


@pytest.mark.parametrize(
    "move",
    [
        pytest.param(rows.move(source_compute="compute-3", dest_compute="compute-4"), id="between other hosts"),
        pytest.param(rows.move(rows.OTHER_VM), id="of an instance without devices and requests"),
    ],
)
def test_moves_that_have_nothing_to_do_with_the_devices_here_are_passed_over(move: rows.Row) -> None:
    here = rows.instance()
    extra = rows.extra(rows.flavor_request(OLD))
    assert codes(imported(host(), BOTH_SIDES[:1], [move], extra=extra, instance=here)) == []


def test_a_move_of_an_instance_that_is_gone_is_over() -> None:
    gone = rows.instance(rows.OTHER_VM, host="compute-2")
    assert codes(imported(host(), BOTH_SIDES[:1], [rows.move()], instance=gone)) == ["owner_unknown"]


def test_of_many_devices_some_are_named() -> None:
    devices = [rows.device(f"0000:{bus:02x}:00.0", rows.VM, id=bus, request_id=OLD) for bus in range(0x40, 0x4A)]
    plan = imported(host(), devices, [rows.move()])
    assert "0000:47:00.0 and 2 more are kept for it" in plan.findings[0].message
