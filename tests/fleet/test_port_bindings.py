"""Ports are kept bound as the claims say: on Neutron in memory, whatever fails and whenever a process ends."""

from collections.abc import Callable

import pytest

from fleet.port_scenarios import PortScenarios
from fleet.port_town import Town
from interfaces.fake_network import FakeNetwork
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.fleet.port_bindings import PortBindings
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


def conflict(status: int = 409) -> LanewayError:
    return LanewayError(ErrorCode.NEUTRON_CONFLICT, "somebody else was faster", {"status": status})


def failure(status: int | None = None) -> LanewayError:
    """A failure that Neutron answers with, or no answer at all."""
    return LanewayError(ErrorCode.NEUTRON_UNREACHABLE, "it fails", {} if status is None else {"status": status})


def failing(times: int, error: LanewayError) -> Callable[[], None]:
    """Raises so many times."""
    left = iter([error] * times)

    def fail() -> None:
        if (now := next(left, None)) is not None:
            raise now

    return fail


@pytest.mark.parametrize(
    ("times", "error", "waits"),
    [
        pytest.param(1, conflict(), [0.5], id="a conflict"),
        pytest.param(3, conflict(), [0.5, 1, 2], id="three conflicts"),
        pytest.param(3, conflict(412), [], id="three times read too early"),
        pytest.param(2, failure(503), [0.5, 1], id="failures of Neutron's own"),
    ],
)
def test_what_may_pass_is_tried_again_after_longer_and_longer(
    times: int, error: LanewayError, waits: list[float], cloud: FakeCloud, town: Town
) -> None:
    port = cloud.add_port()
    town.start("vm1", port)
    cloud.service.before_change = failing(times, error)
    assert town.keep() == {port: ("taken", "bound")}
    assert town.waited == waits


@pytest.mark.parametrize("error", [conflict(), conflict(412), failure(500)])
def test_what_does_not_pass_is_left_to_the_next_round(error: LanewayError, cloud: FakeCloud, town: Town) -> None:
    port = cloud.add_port()
    town.start("vm1", port)
    cloud.service.before_change = failing(4, error)
    assert town.kept().errors == (error,)
    assert town.store.binding_records("h1")[port].attempts == 1
    assert cloud.service.asked.count("take") == 4
    assert town.keep() == {port: ("taken", "bound")}


def test_a_failure_of_one_port_is_none_of_the_others(cloud: FakeCloud, town: Town) -> None:
    ports = [cloud.add_port() for _ in range(2)]
    town.start("vm1", *ports)
    cloud.service.before_change = failing(4, failure(500))
    kept = town.kept()
    assert [len(port.done) for port in kept.ports] == [0, 2]
    assert kept.error is None


def test_without_an_answer_nobody_else_is_asked_for_and_all_is_recorded(cloud: FakeCloud, town: Town) -> None:
    ports = [cloud.add_port() for _ in range(2)]
    town.start("vm1", *ports)
    cloud.service.before_change = failing(1, failure())
    kept = town.kept()
    assert (kept.errors, {port.port for port in kept.ports}) == ((kept.error,), set(ports))
    assert cloud.service.asked.count("take") == 1
    records = town.store.binding_records("h1")
    assert {port: (record.attempts, record.error) for port, record in records.items()} == dict.fromkeys(
        ports, (1, "it fails")
    )
    town.free("vm1")
    cloud.service.before_read = failing(1, failure())
    assert len(town.kept().errors) == 1
    assert {record.attempts for record in town.store.binding_records("h1").values()} == {2}
    assert town.keep() == dict.fromkeys(ports, ())


def test_a_service_that_cannot_be_opened_is_opened_anew(cloud: FakeCloud, town: Town) -> None:
    port = cloud.add_port()
    town.start("vm1", port)
    missing = LanewayError(ErrorCode.NOT_SUPPORTED, "Neutron needs openstacksdk, which is not installed")
    no_library = failing(2, missing)

    def connect() -> FakeNetwork:
        no_library()
        return cloud.service

    town.bindings = PortBindings(town.store, connect, lambda: town.time, town.waited.append)
    assert [town.kept().errors, town.kept().errors] == [(missing,), (missing,)]
    assert town.store.binding_records("h1")[port].attempts == 2
    assert town.keep() == {port: ("taken", "bound")}


def test_a_host_without_ports_asks_nobody(cloud: FakeCloud, town: Town) -> None:
    assert (town.keep(), cloud.service.asked) == ({}, [])


def test_ports_that_stand_as_they_should_cost_one_request(cloud: FakeCloud, town: Town) -> None:
    ports = [cloud.add_port() for _ in range(2)]
    town.start("vm1", *ports)
    town.keep()
    cloud.service.asked.clear()
    before = town.store.binding_records("h1")
    assert town.keep() == dict.fromkeys(ports, ())
    assert cloud.service.asked == ["ports_on"]
    assert town.store.binding_records("h1") == before


def test_since_when_a_port_stands_or_does_not_is_recorded(cloud: FakeCloud, town: Town) -> None:
    port = cloud.add_port()
    town.start("vm1", port)
    cloud.agent_down("h1")
    town.kept()
    failed = town.time
    town.kept()
    assert town.store.binding_records("h1")[port].since == failed
    cloud.agent_up("h1")
    town.keep()
    bound = town.time
    town.keep()
    assert town.store.binding_records("h1")[port].since == bound
    cloud.service.write(port, vif_type="binding_failed")
    cloud.agent_down("h1")
    town.kept()
    assert town.store.binding_records("h1")[port].since == town.time


def test_looking_changes_nothing(cloud: FakeCloud, town: Town) -> None:
    ports = [cloud.add_port() for _ in range(2)]
    town.start("vm1", *ports)
    before = dict(cloud.service.all_ports)
    looked = town.bindings.look("h1")
    assert [port.stands for port in looked.ports] == [False, False]
    assert (cloud.service.all_ports, town.store.binding_records("h1")) == (before, {})
    town.keep()
    assert town.bindings.look("h1").all_stand
    cloud.service.before_read = failing(1, failure())
    unseen = town.bindings.look("h1")
    assert ([port.stands for port in unseen.ports], unseen.all_stand) == ([None, None], False)
