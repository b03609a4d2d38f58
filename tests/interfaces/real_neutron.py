"""The real Neutron that ``openstack/services/neutron.sh`` has started, and what tests do to it beside Laneway."""

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from laneway.domain.errors import ErrorCode
from laneway.interfaces.network import Profile
from laneway.openstack.neutron_client import ABOUT, NeutronClient
from laneway.openstack.service import OpenedService

SCRIPT = Path(__file__).parents[1] / "openstack/services/neutron.sh"
PHYSNET1 = {"provider:network_type": "vlan", "provider:physical_network": "physnet1"}


@dataclass(frozen=True)
class RealNeutron:
    """Where it is, and where its data are."""

    url: str
    folder: Path

    def opened(self, role: str = "service", **about: Any) -> OpenedService:
        """For a user of this role: a token is the name of a role here, as there is no Keystone."""
        adapter = Adapter(Session(auth=Token(self.url, role), timeout=60), service_type="network")
        return OpenedService(adapter, "Neutron", ErrorCode.NEUTRON_UNREACHABLE, **{**ABOUT, **about})

    def script(self, command: str, *arguments: str) -> None:
        subprocess.run([SCRIPT, command, self.folder, *arguments], check=True, stdout=subprocess.DEVNULL)

    def heard_of(self, host: str, ago: timedelta) -> None:
        """It last heard of the agents of a host so long ago: there is no message broker by which they could report."""
        with closing(sqlite3.connect(self.folder / "neutron.sqlite", timeout=60)) as connection, connection:
            at = (datetime.now(UTC) - ago).strftime("%Y-%m-%d %H:%M:%S.000000")
            connection.execute("UPDATE agents SET heartbeat_timestamp = ? WHERE host = ?", (at, host))

    def hosts_with_agents(self) -> tuple[str, str]:
        """Two new hosts on physnet1."""
        hosts = f"node-{uuid4().hex[:6]}", f"node-{uuid4().hex[:6]}"
        self.script("agents", "physnet1", *hosts)
        return hosts


class RealCloud:
    """A network of a test's own; as ``port_scenarios.Cloud`` says."""

    def __init__(self, neutron: RealNeutron) -> None:
        self._neutron = neutron
        self._http = neutron.opened(repeats_writes=True)
        self.service = NeutronClient(neutron.opened())

    @cached_property
    def network(self) -> str:
        return self.add_network(**PHYSNET1)

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
        self._neutron.heard_of(host, timedelta())

    def agent_down(self, host: str) -> None:
        self._neutron.heard_of(host, timedelta(days=3650))


@contextmanager
def real_cloud(neutron: RealNeutron) -> Iterator[RealCloud]:
    """Its ports are gone in the end: the hosts, and so their devices, are those of all tests."""
    cloud = RealCloud(neutron)
    yield cloud
    for port in cloud.ask("GET", f"/ports?network_id={cloud.network}")["ports"]:
        cloud.delete_port(port["id"])
