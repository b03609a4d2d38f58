"""Which physical network a device has that is taken over (rules C70, C71, C79)."""

from typing import Any

import pytest

import nova_rows as rows
from domain.hosts import at, pf, tracker, vf
from laneway.domain.device import PciDevice
from laneway.network.binding_profile import binding_profile
from laneway.openstack.nova_import import NovaImport, plan_import
from laneway.openstack.nova_records import read_records
from laneway.openstack.port_records import read_ports

NIC, VF0 = "0000:31:00.0", "0000:31:01.0"
ADMITTED: list[object] = [{"product_id": "154c", "physical_network": "physnet1"}]
TUNNELLED: list[object] = [{"product_id": "154c"}]
NONE: list[object] = []


def port_with(**profile: Any) -> rows.Row:
    return rows.port() | {"binding:profile": {"pci_slot": VF0} | profile}


def taken_over(
    specs: list[object], *ports: rows.Row, request: rows.Row | None = None
) -> tuple[PciDevice, list[str], NovaImport]:
    """A VF that serves a port."""
    asked = rows.port_request() if request is None else request
    tables = {
        "compute_nodes": [rows.NODE],
        "pci_devices": [rows.vf(VF0, NIC, rows.VM, request_id=asked["request_id"])],
        "instances": [rows.instance()],
        "instance_extra": [rows.extra(asked)],
    }
    records = read_records(tables)
    host = tracker(pf(NIC), vf(VF0, NIC), specs=specs)
    plan = plan_import(host, records, records.nodes[0], read_ports(list(ports)))
    device = plan.update.held[at(VF0)]
    assert device is not None
    return device, [one.code for one in plan.findings if one.code not in {"not_admitted"}], plan


def network(device: PciDevice) -> object:
    return binding_profile(device)["physical_network"]


def test_the_config_knows_it() -> None:
    device, found, _ = taken_over(ADMITTED)
    assert (network(device), found) == ("physnet1", [])


def test_the_profile_knows_it_where_no_spec_admits_the_device() -> None:
    device, found, _ = taken_over(NONE, port_with(physical_network="physnet2"))
    assert (network(device), found) == ("physnet2", [])


@pytest.mark.parametrize("specs", [ADMITTED, TUNNELLED, NONE])
def test_a_profile_may_say_that_it_is_tunnelled(specs: list[object]) -> None:
    device, found, _ = taken_over(specs, port_with(physical_network=None))
    assert (network(device), found) == (None, ["network_differs"] if specs is ADMITTED else [])


def test_where_config_and_profile_differ_the_profile_counts() -> None:
    device, found, plan = taken_over(ADMITTED, port_with(physical_network="physnet2"))
    assert (network(device), found) == ("physnet2", ["network_differs"])
    assert "physical network physnet2 for 0000:31:01.0, and the config physnet1" in plan.findings[0].message


def test_the_case_of_a_network_makes_no_difference() -> None:
    """Rule C22."""
    device, found, _ = taken_over(ADMITTED, port_with(physical_network="PhysNet1"))
    assert (network(device), found) == ("physnet1", [])


def test_the_request_of_the_port_knows_what_its_device_had() -> None:
    device, found, _ = taken_over(NONE)
    assert (network(device), found) == ("physnet1", [])


@pytest.mark.parametrize(
    ("ports", "found"),
    [
        pytest.param([], ["network_unknown"], id="no port is given"),
        pytest.param([port_with()], ["network_unknown"], id="the profile does not say"),
        pytest.param(
            [port_with(physical_network="physnet1", pci_slot="0000:31:01.7")],
            ["port_differs", "network_unknown"],
            id="the port is bound to another device",
        ),
    ],
)
def test_a_device_of_which_nobody_knows_it_gets_no_profile(ports: list[rows.Row], found: list[str]) -> None:
    """Rule C79: rather none than a wrong one."""
    silent = rows.port_request(spec=[{"dev_type": "type-VF"}])
    device, said, _ = taken_over(NONE, *ports, request=silent)
    assert (device.extra_info.network_known, said) == (False, found)


def test_a_device_of_a_flavor_has_no_network_to_be_asked_for() -> None:
    device, found, _ = taken_over(NONE, request=rows.flavor_request())
    assert (device.extra_info.network_known, found) == (False, [])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"binding:host_id": "compute-2"}, "is bound to 0000:31:01.0 on compute-2", id="on another host"),
        pytest.param({"binding:profile": {}}, "is bound to no device", id="without a device"),
        pytest.param({"device_id": rows.OTHER_VM}, f"belongs to {rows.OTHER_VM}", id="of another instance"),
    ],
)
def test_a_port_that_is_bound_to_something_else_is_told(changed: dict[str, Any], said: str) -> None:
    """Rule C81: it gets no other device for that. Neutron does not notice two ports on one device."""
    device, found, plan = taken_over(ADMITTED, port_with(physical_network="physnet9") | changed)
    assert (network(device), found) == ("physnet1", ["port_differs"])
    assert said in plan.findings[0].message
