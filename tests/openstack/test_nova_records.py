"""Rows of nova's tables are read, whoever wrote them (rules C24, C67, C68)."""

import json
from typing import Any

import pytest

import nova_rows as rows
from domain.hosts import at
from laneway.domain.inventory import DevType
from laneway.domain.requests.request import Alternative, NumaPolicy
from laneway.openstack.import_findings import Severity
from laneway.openstack.nova_moves import ENDED, NovaMove, Place
from laneway.openstack.nova_records import NovaInstance, NovaRecords, read_records
from laneway.openstack.nova_requests import NovaRequests

CARD = "0000:05:00.0"


def read(**tables: list[dict[str, Any]]) -> NovaRecords:
    return read_records(tables)


def test_a_device_is_read_with_what_it_carries() -> None:
    row = rows.vf("0000:31:01.0", "0000:31:00.0", rows.VM, extra_info='{"managed": "false"}')
    (device,) = read(pci_devices=[row]).devices
    assert (device.address, device.parent_addr, device.dev_type) == (at("0000:31:01.0"), at("0000:31:00.0"), DevType.VF)
    assert (device.owner, device.request_id, device.status) == (rows.VM, rows.REQUEST, "allocated")
    assert (device.numa_node, device.extra_info) == (0, {"managed": "false"})


def test_all_values_may_be_texts() -> None:
    """So a CSV file has them."""
    row = rows.device(CARD, id="12", compute_node_id="7", numa_node="NULL", parent_addr="\\N", request_id="")
    (device,) = read(pci_devices=[{**row, "deleted": "0"}]).devices
    assert (device.id, device.node_id, device.numa_node, device.parent_addr) == (12, 7, None, None)
    assert device.request_id is None


def test_json_may_be_json_already() -> None:
    """So an export that knows the type of the column has it."""
    row = rows.device(CARD, extra_info={"managed": "true"})
    requests = {**rows.extra(), "pci_requests": [rows.flavor_request()]}
    records = read(pci_devices=[row], instance_extra=[requests])
    assert records.devices[0].extra_info == {"managed": "true"}
    assert [request.name for request in records.requests[rows.VM].stored] == [rows.REQUEST]


@pytest.mark.parametrize("deleted", [12, "12", True, "true"])
def test_what_is_deleted_is_passed_over(deleted: object) -> None:
    tables = {
        "pci_devices": [rows.device(CARD, deleted=deleted)],
        "instances": [rows.instance(deleted=deleted)],
        "instance_extra": [{**rows.extra(rows.flavor_request()), "deleted": deleted}],
        "compute_nodes": [{**rows.NODE, "deleted": deleted}],
    }
    assert read(**tables) == NovaRecords(nodes=(), devices=(), instances={}, requests={})


def test_without_a_table_of_instances_none_can_be_missed() -> None:
    assert read().instances is None
    assert read(instances=[rows.instance()]).instances == {
        rows.VM: NovaInstance(uuid=rows.VM, host="compute-1", node="compute-1.example")
    }


def test_a_request_of_a_flavor_keeps_what_was_asked_for() -> None:
    """Rule C68: the alias may be another by now."""
    stored = rows.flavor_request(
        count=2, live_migratable="true", capability_type="pci", rp_uuids="cc", dev_type="type-PF"
    )
    (request,) = read(instance_extra=[rows.extra(stored)]).requests[rows.VM].stored
    assert (request.name, request.alias, request.requester) == (rows.REQUEST, "card", None)
    assert (request.count, request.numa_policy) == (2, NumaPolicy.LEGACY)
    assert request.alternatives == (
        Alternative(vendor_id="8086", product_id="37c8", dev_type=DevType.PF, tags={"live_migratable": True}),
    )


@pytest.mark.parametrize("network", ["physnet1", None])
def test_a_request_of_a_port_keeps_its_network(network: str | None) -> None:
    """Rule C70: no network is a tunnelled one."""
    stored = rows.port_request(network, numa_policy="socket")
    (request,) = read(instance_extra=[rows.extra(stored)]).requests[rows.VM].stored
    assert (request.requester, request.alias, request.numa_policy) == (rows.PORT, None, NumaPolicy.SOCKET)
    assert request.alternatives[0].tags == {"physical_network": network, "remote_managed": False}


def test_requests_without_an_id_are_numbered() -> None:
    """nova gave those of a flavor none before 2023.1 (Antelope)."""
    stored = rows.extra(rows.flavor_request(None), rows.flavor_request(None))
    assert [one.name for one in read(instance_extra=[stored]).requests[rows.VM].stored] == ["request-0", "request-1"]


def test_an_instance_without_requests_has_none() -> None:
    assert read(instance_extra=[{**rows.extra(), "pci_requests": None}]).requests == {rows.VM: NovaRequests()}


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        pytest.param({"dev_type": "x"}, "'x', which is none of type-PCI", id="a strange type"),
        pytest.param({"dev_type": "x", "parent_addr": "y"}, "'y' is not a PCI address", id="a strange PF"),
        pytest.param({"numa_node": "one"}, "which is no whole number", id="no number"),
        pytest.param({"extra_info": "{"}, "extra_info is not JSON", id="no JSON"),
        pytest.param({"extra_info": "[1]"}, "extra_info is no object", id="no object"),
        pytest.param({"request_id": 1}, "request_id is 1", id="a request, a number"),
    ],
)
def test_whose_a_device_is_counts_also_where_something_else_of_it_makes_no_sense(
    values: dict[str, Any], fault: str
) -> None:
    records = read(pci_devices=[rows.device(CARD) | {"status": "allocated", "instance_uuid": rows.VM} | values])
    (device,) = records.devices
    assert (str(device.address), device.owner, device.status) == (CARD, rows.VM, "allocated")
    (problem,) = records.problems
    assert (problem.code, problem.severity) == ("column_unreadable", Severity.WARNING)
    assert fault in problem.message


@pytest.mark.parametrize(
    ("table", "row", "fault"),
    [
        pytest.param("pci_devices", rows.device(CARD) | {"address": None}, "its address is empty", id="no address"),
        pytest.param("pci_devices", rows.device("05.0"), "'05.0' is not a PCI address", id="a wrong address"),
        pytest.param("pci_devices", rows.device(CARD, vendor_id=""), "its vendor_id is empty", id="no id"),
        pytest.param("pci_devices", rows.device(CARD, compute_node_id=None), "compute_node_id is empty", id="no node"),
        pytest.param("pci_devices", rows.device(CARD) | {"status": 3}, "which is no text", id="a number for a text"),
        pytest.param("instance_extra", rows.extra() | {"pci_requests": "{}"}, "are no list", id="requests, no list"),
        pytest.param(
            "instance_extra", rows.extra() | {"pci_requests": "[1]"}, "is no object", id="a request, a number"
        ),
        pytest.param("instance_extra", rows.extra(rows.flavor_request(count=0)), "no whole number above 0", id="none"),
        pytest.param("instance_extra", rows.extra(rows.port_request(spec=[])), "no alternative", id="no spec"),
        pytest.param("instance_extra", rows.extra(rows.port_request(spec=None)), "any_of", id="no spec at all"),
        pytest.param("instance_extra", rows.extra(rows.port_request(spec=["x"])), "not an object", id="a spec, a text"),
        pytest.param(
            "instance_extra", rows.extra() | {"migration_context": "[1]"}, "is no object", id="a context, a list"
        ),
        pytest.param(
            "instance_extra",
            rows.extra() | {"migration_context": {"new_pci_requests": {"requests": [None]}}},
            "new_pci_requests[0] is no object",
            id="a request of a context, nothing",
        ),
        pytest.param(
            "instance_extra", rows.extra(rows.port_request(requester_id=1)), "requester_id 1", id="a port, a number"
        ),
        pytest.param(
            "instance_extra", rows.extra(rows.port_request(), rows.port_request()), "have the id", id="one id twice"
        ),
    ],
)
def test_a_row_that_makes_no_sense_costs_that_row(table: str, row: dict[str, Any], fault: str) -> None:
    good = {"pci_devices": rows.device("0000:06:00.0"), "instance_extra": rows.extra(uuid=rows.OTHER_VM)}[table]
    records = read(**{table: [row, good]})
    (problem,) = records.problems
    assert (problem.code, problem.severity) == ("row_unreadable", "error")
    assert problem.message.startswith(f"row 1 of {table} is left out: ")
    assert fault in problem.message
    assert len(records.devices) + len(records.requests) == 1


def test_a_move_is_read_with_both_of_its_places() -> None:
    row = rows.move(status="finished")
    assert read(migrations=[row]).moves == {
        rows.VM: NovaMove(
            id=1,
            instance=rows.VM,
            kind="resize",
            status="finished",
            source=Place("compute-1", "compute-1.example"),
            destination=Place("compute-2", "compute-2.example"),
        )
    }


@pytest.mark.parametrize("status", sorted(ENDED))
def test_a_move_that_has_ended_is_none(status: str) -> None:
    assert read(migrations=[rows.move(status=status)]).moves == {}


def test_of_several_moves_of_an_instance_the_last_counts() -> None:
    moves = read(migrations=[rows.move(id="10", dest_compute="compute-3"), rows.move(id="9")]).moves
    assert moves is not None
    assert moves[rows.VM].destination.host == "compute-3"


def test_without_a_table_of_moves_none_is_known() -> None:
    assert read().moves is None


def test_the_requests_of_both_sides_of_a_move_are_read() -> None:
    """nova keeps them as its objects have them, with their fields one level down."""
    old, new = rows.flavor_request("old"), rows.flavor_request("new", count=2)
    stored = rows.extra(new) | {"migration_context": rows.context([old], [new])}
    requests = read(instance_extra=[stored]).requests[rows.VM]
    assert requests.before is not None
    assert requests.after is not None
    assert [one.name for one in requests.before] == ["old"]
    assert [(one.name, one.count) for one in requests.after] == [("new", 2)]


@pytest.mark.parametrize("context", [None, "null", "{}", '{"nova_object.data": {"old_pci_requests": null}}'])
def test_a_context_may_know_of_no_requests(context: str | None) -> None:
    (requests,) = read(instance_extra=[rows.extra() | {"migration_context": context}]).requests.values()
    assert (requests.before, requests.after) == (None, None)


def test_the_columns_of_an_export_may_be_more() -> None:
    row = rows.device(CARD, created_at="2026-01-01", uuid="x", dev_id="pci_0000_05_00_0", label="label_8086_37c8")
    assert len(read(pci_devices=[json.loads(json.dumps(row))]).devices) == 1
