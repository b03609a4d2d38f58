"""Laneway with the real Neutron and its drivers for SR-IOV and Open vSwitch: ports are bound as claims say."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from fleet.port_scenarios import PortScenarios
from fleet.port_town import Town
from laneway.domain.errors import ErrorCode
from laneway.interfaces.network import Profile
from laneway.openstack.neutron_client import NeutronClient
from laneway.openstack.service import OpenedService
from laneway.store.memory import MemoryStore

URL = os.environ["LANEWAY_TEST_NEUTRON"]
FOLDER = Path(os.environ["LANEWAY_TEST_NEUTRON_DATA"])
SCRIPT = Path(__file__).with_name("neutron.sh")
PHYSNET1 = {"provider:network_type": "vlan", "provider:physical_network": "physnet1"}


def opened(role: str = "service") -> OpenedService:
    """A token is the name of a role here, as there is no Keystone."""
    adapter = Adapter(Session(auth=Token(URL, role), timeout=30), service_type="network")
    return OpenedService(adapter, "Neutron", ErrorCode.NEUTRON_UNREACHABLE, version="/v2.0")


class RealCloud:
    """As ``port_scenarios.Cloud`` says."""

    def __init__(self, http: OpenedService) -> None:
        self.service = NeutronClient(http)
        self._http = http
        self.network = self.add_network(**PHYSNET1)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = self._http.request(method, path, body=body)
        assert answer.status < 300, answer
        return answer.content

    def add_network(self, **values: object) -> str:
        return str(self.ask("POST", "/networks", {"network": values})["network"]["id"])

    def add_port(self, vnic_type: str = "direct", *, profile: Profile | None = None, **values: object) -> str:
        body = {"network_id": self.network, "binding:vnic_type": vnic_type, "binding:profile": profile or {}, **values}
        return str(self.ask("POST", "/ports", {"port": body})["port"]["id"])

    def change(self, port: str, **values: object) -> None:
        self.ask("PUT", f"/ports/{port}", {"port": values})

    def delete_port(self, port: str) -> None:
        self.ask("DELETE", f"/ports/{port}")

    def own(self, port: str, device_id: str) -> None:
        self.change(port, device_id=device_id, device_owner="compute:nova")

    def set_binding(self, port: str, host: str, profile: Profile) -> None:
        self.change(port, **{"binding:host_id": host, "binding:profile": profile})

    def touch(self, port: str) -> None:
        self.change(port, name=str(uuid4()))

    def unbind_in_pieces(self, port: str) -> None:
        self.change(port, **{"binding:host_id": "", "binding:profile": {}})
        self.change(port, device_id="")

    def agent_up(self, host: str) -> None:
        heard_of(host, timedelta())

    def agent_down(self, host: str) -> None:
        heard_of(host, timedelta(days=3650))


def heard_of(host: str, ago: timedelta) -> None:
    """Neutron last heard of the agents of a host so long ago: there is no message broker by which they could report."""
    with closing(sqlite3.connect(FOLDER / "neutron.sqlite", timeout=30)) as connection, connection:
        at = (datetime.now(UTC) - ago).strftime("%Y-%m-%d %H:%M:%S.000000")
        connection.execute("UPDATE agents SET heartbeat_timestamp = ? WHERE host = ?", (at, host))


@pytest.fixture(scope="module")
def http() -> OpenedService:
    return opened()


@pytest.fixture
def cloud(http: OpenedService) -> Iterator[RealCloud]:
    """Its ports are gone in the end: the hosts, and so the devices, are those of all tests."""
    cloud = RealCloud(http)
    yield cloud
    for port in cloud.ask("GET", f"/ports?network_id={cloud.network}")["ports"]:
        cloud.delete_port(port["id"])


@pytest.fixture(scope="module")
def hosts() -> tuple[str, str]:
    """Two hosts with agents."""
    hosts = f"node-{uuid4().hex[:6]}", f"node-{uuid4().hex[:6]}"
    subprocess.run([SCRIPT, "agents", FOLDER, "physnet1", *hosts], check=True)
    return hosts


@pytest.fixture
def town(cloud: RealCloud, hosts: tuple[str, str]) -> Town:
    mac = uuid4().hex
    return Town(MemoryStore(), cloud.service, hosts, f"b4:96:{mac[:2]}:{mac[2:4]}")


class TestOnTheRealOne(PortScenarios):
    """The scenarios: what Neutron in memory does is what the real one does."""
