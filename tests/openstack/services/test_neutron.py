"""Laneway with the real Neutron and its drivers for SR-IOV and Open vSwitch: ports are bound as claims say."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from fleet.port_town import Town
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, PciFunction
from laneway.fleet.port_bindings import PortBindings
from laneway.interfaces.network import NetworkPort
from laneway.openstack.neutron_client import NeutronClient
from laneway.openstack.service import OpenedService
from laneway.store.memory import MemoryStore

URL = os.environ["LANEWAY_TEST_NEUTRON"]
FOLDER = os.environ["LANEWAY_TEST_NEUTRON_DATA"]
SCRIPT = Path(__file__).with_name("neutron.sh")


def opened(role: str = "service") -> OpenedService:
    """A token is the name of a role here, as there is no Keystone."""
    adapter = Adapter(Session(auth=Token(URL, role), timeout=30), service_type="network")
    return OpenedService(adapter, "Neutron", ErrorCode.NEUTRON_UNREACHABLE, version="/v2.0")


def agent(action: str, host: str, *networks: str) -> None:
    subprocess.run([SCRIPT, "agent", FOLDER, action, host, *networks], check=True)


@pytest.fixture(scope="session")
def http() -> OpenedService:
    return opened()


class Cloud:
    """Networks and ports of a test's own."""

    def __init__(self, http: OpenedService) -> None:
        self._http = http
        self.network = self.add_network(**{"provider:network_type": "vlan", "provider:physical_network": "physnet1"})

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = self._http.request(method, path, body=body)
        assert answer.status < 300, answer
        return answer.content

    def add_network(self, **values: object) -> str:
        return str(self.ask("POST", "/networks", {"network": values})["network"]["id"])

    def add_port(self, vnic_type: str = "direct", **values: object) -> str:
        body = {"network_id": self.network, "binding:vnic_type": vnic_type, **values}
        return str(self.ask("POST", "/ports", {"port": body})["port"]["id"])

    def port(self, port: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.ask("GET", f"/ports/{port}")["port"]
        return found

    def change(self, port: str, **values: object) -> None:
        self.ask("PUT", f"/ports/{port}", {"port": values})


@pytest.fixture(scope="session")
def agents() -> tuple[str, str]:
    """Two hosts with agents."""
    hosts = f"node-{uuid4().hex[:6]}", f"node-{uuid4().hex[:6]}"
    for host in hosts:
        agent("up", host, "physnet1")
    return hosts


@pytest.fixture
def cloud(http: OpenedService) -> Cloud:
    return Cloud(http)


@pytest.fixture
def town(http: OpenedService, agents: tuple[str, str]) -> Town:
    mac = uuid4().hex
    return Town(MemoryStore(), NeutronClient(http), agents, f"b4:96:{mac[:2]}:{mac[2:4]}")


def test_c71_c72_c77_a_port_is_bound_when_its_device_is_allocated_and_unbound_when_that_is_freed(
    cloud: Cloud, town: Town
) -> None:
    """C71, C72, C77, D9: what others have put into the profile stays."""
    port = cloud.add_port(**{"binding:profile": {"mine": [1], "capabilities": ["switchdev"]}})
    town.claim("vm-1", port)
    assert town.keep() == {}
    assert cloud.port(port)["binding:host_id"] == ""
    town.allocate("vm-1")
    assert town.keep() == {port: ("taken", "bound")}
    bound = cloud.port(port)
    assert (bound["binding:host_id"], bound["binding:vif_type"]) == (town.hosts[0], "hw_veb")
    assert (bound["device_id"], bound["device_owner"]) == ("vm-1", "compute:laneway")
    assert bound["binding:profile"] == {
        "mine": [1],
        "pci_vendor_info": "8086:154c",
        "pci_slot": str(town.devices("vm-1")[0]),
        "physical_network": "physnet1",
        "pf_mac_address": f"{town.mac}:00:00",
        "vf_num": 0,
    }
    assert town.keep() == {port: ()}
    town.free("vm-1")
    assert town.keep() == {port: ("unbound",)}
    free = cloud.port(port)
    assert (free["binding:host_id"], free["binding:vif_type"], free["device_id"]) == ("", "unbound", "")
    assert free["binding:profile"] == {"mine": [1]}
    assert town.keep() == {}
