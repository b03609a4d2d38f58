"""Whatever nova's tables hold, an import ends with a host on which no device has two owners."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import nova_rows as rows
from domain.hosts import at, function, offered, pf, tracker, vf
from laneway.domain.tracking.host_view import IommuGroups
from laneway.openstack.nova_import import NovaImport, plan_import
from laneway.openstack.nova_records import COLUMNS, NovaNode, read_records

NIC, VFS = "0000:31:00.0", tuple(f"0000:31:01.{index}" for index in range(3))
CARDS = ("0000:05:00.0", "0000:06:00.0")
HOST = (pf(NIC), *(vf(one, NIC) for one in VFS), *(function(card, iommu_group=7) for card in CARDS))
OWNERS = st.sampled_from([None, rows.VM, rows.OTHER_VM, "gone"])
STATUSES = st.sampled_from(["available", "claimed", "allocated", "unclaimable", "unavailable", "removed"])
SPECS: list[list[object]] = [[], [{"product_id": "154c"}], [{"address": "*"}]]
MOVES = [rows.move(), rows.move(to="compute-1"), rows.move(rows.OTHER_VM, status="running", source_compute="compute-2")]
NODE = NovaNode(id=7, host="compute-1", name="compute-1.example")


@st.composite
def devices(draw: st.DrawFn) -> list[rows.Row]:
    """Rows of any status and owner, some of an address twice."""
    made = []
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["pf", "vf", "card"]))
        more: dict[str, Any] = {
            "id": number,
            "status": draw(STATUSES),
            "request_id": draw(st.sampled_from([None, rows.REQUEST, "other"])),
        }
        owner = draw(OWNERS)
        if kind == "pf":
            made.append(rows.pf(NIC, owner, **more))
        elif kind == "vf":
            made.append(rows.vf(draw(st.sampled_from([*VFS, "0000:31:01.7"])), NIC, owner, **more))
        else:
            made.append(rows.device(draw(st.sampled_from(CARDS)), owner, **more))
    return made


@given(
    found=devices(),
    specs=st.sampled_from(SPECS),
    groups=st.sampled_from(IommuGroups),
    requests=st.lists(st.sampled_from([rows.flavor_request(), rows.flavor_request(None, 2)]), max_size=1),
    moves=st.none() | st.lists(st.sampled_from(MOVES), max_size=2),
)
@settings(max_examples=150)
def test_an_import_ends_with_one_owner_for_each_device(
    found: list[rows.Row],
    specs: list[object],
    groups: IommuGroups,
    requests: list[rows.Row],
    moves: list[rows.Row] | None,
) -> None:
    """Rules D27 and D29."""
    host = tracker(*HOST, specs=specs, iommu_groups=groups)
    context = rows.context(requests, [rows.flavor_request("other")])
    tables = {
        "pci_devices": found,
        "instances": [rows.instance(), rows.instance(rows.OTHER_VM)],
        "instance_extra": [rows.extra(*requests) | {"migration_context": None if moves is None else context}],
    }
    records = read_records(tables if moves is None else tables | {"migrations": moves})
    plan = plan_import(host, records, NODE, {})
    holders = {address: device.consumer for address, device in host.view.held.items()}
    recorded = {(row["address"], row["instance_uuid"]) for row in found}
    assert {(str(address), owner) for address, owner in holders.items()} <= recorded
    assert at(NIC) not in holders or not holders.keys() & {at(one) for one in VFS}
    if groups is IommuGroups.ENFORCE:
        assert len({holders[at(card)] for card in CARDS if at(card) in holders}) <= 1
    assert offered(host) <= len(host.view.admitted.keys() - holders.keys())
    assert_told(plan, found)
    assert plan_import(host, records, NODE, {}).update.is_empty


def assert_told(plan: NovaImport, found: list[rows.Row]) -> None:
    """Every device with an owner is taken over, or it is said why not."""
    owned = {row["address"] for row in found if row["instance_uuid"] is not None}
    assert {str(device.record.address) for device in plan.devices} <= owned
    told = {(finding.code, finding.address) for finding in plan.findings}
    for device in plan.devices:
        assert device.refusal is None or (device.refusal.code, device.record.address) in told


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.none(), max_size=1)


@given(
    tables=st.fixed_dictionaries(
        {
            table: st.lists(st.dictionaries(st.sampled_from(columns), VALUES), max_size=3)
            for table, columns in COLUMNS.items()
        }
    )
)
def test_any_rows_can_be_read(tables: dict[str, list[rows.Row]]) -> None:
    """What makes no sense is a problem, never an exception."""
    records = read_records(tables)
    assert {problem.code for problem in records.problems} <= {"row_unreadable", "column_unreadable"}
