"""Ports are read as the API and the client of OpenStack write them."""

from typing import Any

import pytest

import nova_rows as rows
from domain.hosts import at
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.port_records import read_ports

AS_CLIENT = {
    "id": rows.PORT,
    "device_id": rows.VM,
    "binding_host_id": "compute-1",
    "binding_vnic_type": "direct",
    "binding_profile": {"pci_slot": "0000:31:01.0", "physical_network": "physnet1"},
}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param([rows.port()], id="a list of the API's"),
        pytest.param({"ports": [rows.port()]}, id="the API's answer"),
        pytest.param([AS_CLIENT], id="what the client prints"),
    ],
)
def test_a_port_is_read(document: object) -> None:
    (port,) = read_ports(document).values()
    assert (port.id, port.consumer, port.host, port.vnic_type) == (rows.PORT, rows.VM, "compute-1", "direct")
    assert (port.address, port.knows_network, port.physical_network) == (at("0000:31:01.0"), True, "physnet1")


def test_an_unbound_port_has_no_device() -> None:
    port = read_ports([{"id": "p", "device_id": "", "binding:host_id": "", "binding:profile": {}}])["p"]
    assert (port.consumer, port.host, port.address, port.knows_network) == (None, None, None, False)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        pytest.param("x", "$", id="a text"),
        pytest.param({"port": {}}, "$", id="an object without ports"),
        pytest.param([1], "$[0]", id="a number"),
        pytest.param([{}], "$[0].id", id="no id"),
        pytest.param([{"id": "p", "binding:profile": []}], "$[0].binding:profile", id="a profile that is a list"),
        pytest.param([{"id": "p", "binding:profile": {"pci_slot": 3}}], "$[0].pci_slot", id="a slot that is a number"),
        pytest.param(
            [{"id": "p", "binding:profile": {"pci_slot": "x"}}], "$[0].binding:profile.pci_slot", id="no address"
        ),
    ],
)
def test_what_is_no_list_of_ports_is_refused_with_its_place(document: Any, place: str) -> None:
    with pytest.raises(LanewayError) as refusal:
        read_ports(document)
    assert (refusal.value.code, refusal.value.detail["place"]) == (ErrorCode.INVALID_JSON, place)
