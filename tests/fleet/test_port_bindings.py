"""Ports are kept bound as the claims say: on Neutron in memory, whatever fails and whenever a process ends."""

import pytest

from fleet.port_scenarios import PortScenarios
from fleet.port_town import Town
from interfaces.fake_network import FakeNetwork
from laneway.interfaces.network import Profile
from laneway.store.memory import MemoryStore


class FakeCloud:
    """As ``port_scenarios.Cloud`` says."""

    def __init__(self) -> None:
        self.service = FakeNetwork()

    def add_port(self, vnic_type: str = "direct", *, profile: Profile | None = None) -> str:
        return self.service.add_port(vnic_type, profile=profile)

    def delete_port(self, port: str) -> None:
        del self.service.all_ports[port]

    def own(self, port: str, device_id: str) -> None:
        self.service.write(port, device_id=device_id, device_owner="compute:nova")

    def set_binding(self, port: str, host: str, profile: Profile) -> None:
        self.service.bind(self.service.all_ports[port], host, profile)

    def unbind_in_pieces(self, port: str) -> None:
        self.service.write(port, host=None, vif_type="unbound", profile={})
        self.service.write(port, device_id=None)

    def touch(self, port: str) -> None:
        self.service.write(port)

    def agent_up(self, host: str) -> None:
        self.service.agents.add(host)

    def agent_down(self, host: str) -> None:
        self.service.agents.discard(host)


@pytest.fixture
def cloud() -> FakeCloud:
    return FakeCloud()


@pytest.fixture
def town(cloud: FakeCloud) -> Town:
    town = Town(MemoryStore(), cloud.service)
    cloud.service.agents |= set(town.hosts)
    return town


class TestInMemory(PortScenarios):
    """The scenarios, without any service."""
