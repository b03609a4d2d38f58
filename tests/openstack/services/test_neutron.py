"""Laneway with the real Neutron and its drivers for SR-IOV and Open vSwitch: ports are bound as claims say."""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from fleet.port_scenarios import PortScenarios, port_of
from fleet.port_town import Town
from interfaces.real_neutron import RealCloud, RealNeutron, real_cloud
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import NumaPolicy
from laneway.fleet.port_requests import port_requests
from laneway.interfaces.network import NetworkPort
from laneway.openstack.neutron_client import LARGEST_PROFILE, NeutronClient, open_neutron
from laneway.openstack.service import Access
from laneway.store.memory import MemoryStore

NEUTRON = RealNeutron(os.environ["LANEWAY_TEST_NEUTRON"], Path(os.environ["LANEWAY_TEST_NEUTRON_DATA"]))


@pytest.fixture(scope="module")
def hosts() -> tuple[str, str]:
    return NEUTRON.hosts_with_agents()


@pytest.fixture
def cloud() -> Iterator[RealCloud]:
    with real_cloud(NEUTRON) as cloud:
        yield cloud


@pytest.fixture
def town(cloud: RealCloud, hosts: tuple[str, str]) -> Town:
    mac = uuid4().hex
    return Town(MemoryStore(), cloud.service, hosts, f"b4:96:{mac[:2]}:{mac[2:4]}")


class TestOnTheRealOne(PortScenarios):
    """The scenarios: what Neutron in memory does is what the real one does."""


@pytest.mark.parametrize("role", ["admin", "member"])
def test_without_the_role_service_the_remedy_is_told_and_the_port_stays_as_it_was(
    role: str, cloud: RealCloud, town: Town
) -> None:
    port = cloud.add_port()
    town.start("vm1", port)
    before = port_of(cloud, port)
    town.service = NeutronClient(NEUTRON.opened(role))
    town.restarted()
    (error,) = town.kept().errors
    assert (error.code, error.detail["role"]) == (ErrorCode.NO_PERMISSION, "service")
    assert "openstack role add --user USER --project service service" in error.message
    after = port_of(cloud, port)
    assert (after.host, after.profile) == (before.host, before.profile)
    record = town.store.binding_records(town.hosts[0])[port]
    assert (record.is_bound, record.attempts, record.error_code) == (False, 1, "no_permission")


def test_a_profile_that_neutron_would_not_keep_is_refused_before_it_is_sent(cloud: RealCloud, town: Town) -> None:
    port = cloud.add_port(profile={"theirs": "x" * (LARGEST_PROFILE - 20)})
    town.start("vm1", port)
    (error,) = town.kept().errors
    assert (error.code, error.detail["keys"]) == (
        ErrorCode.NEUTRON_REFUSED,
        ["pci_slot", "pci_vendor_info", "pf_mac_address", "physical_network", "theirs", "vf_num"],
    )


def test_neutron_keeps_a_profile_of_the_largest_size(cloud: RealCloud, hosts: tuple[str, str]) -> None:
    port = cloud.add_port()
    cloud.service.take(port_of(cloud, port), "vm1")
    largest = {"theirs": "x" * (LARGEST_PROFILE - len('{"theirs": ""}'))}
    cloud.service.bind(port_of(cloud, port), hosts[0], largest)
    assert port_of(cloud, port).profile == largest
    with pytest.raises(LanewayError, match="would have 4096 bytes"):
        cloud.service.bind(port_of(cloud, port), hosts[0], {"theirs": f"{largest['theirs']}x"})
    with pytest.raises(LanewayError, match="too large") as caught:
        cloud.service._update(port_of(cloud, port), **{"binding:profile": {"theirs": f"{largest['theirs']}x"}})
    assert caught.value.code is ErrorCode.NEUTRON_REFUSED


def test_c70_what_a_port_and_its_network_say_becomes_a_request(cloud: RealCloud) -> None:
    """C60, C70: of a network with several segments the one on a physical network counts."""
    plain = cloud.add_port("direct")
    picky = cloud.add_port("vdpa", numa_affinity_policy="required")
    trusted = cloud.add_port("macvtap", trusted=True)
    segments = [
        {"provider:network_type": "vxlan"},
        {"provider:network_type": "vlan", "provider:physical_network": "physnet2"},
    ]
    networks = [cloud.add_network(**{"provider:network_type": "vxlan"}), cloud.add_network(segments=segments)]
    tunnelled, several = (cloud.add_port(network_id=network) for network in networks)
    requests = port_requests(cloud.service, [plain, picky, trusted, tunnelled, several], "vm1")
    for port in (tunnelled, several):
        cloud.delete_port(port)
    tags = [dict(request.alternatives[0].tags) for request in requests]
    assert [request.name for request in requests] == [plain, picky, trusted, tunnelled, several]
    assert [one["physical_network"] for one in tags] == ["physnet1", "physnet1", "physnet1", None, "physnet2"]
    assert [one.get("trusted") for one in tags] == [None, None, True, None, None]
    assert [request.numa_policy for request in requests][:2] == [NumaPolicy.LEGACY, NumaPolicy.REQUIRED]


def test_what_neutron_does_not_know_is_told(cloud: RealCloud) -> None:
    with pytest.raises(LanewayError, match="Neutron has no port") as caught:
        port_requests(cloud.service, [str(uuid4())], "vm1")
    assert caught.value.code is ErrorCode.UNKNOWN_PORT


def test_many_ports_are_read_in_a_few_requests(cloud: RealCloud) -> None:
    made = [cloud.add_port() for _ in range(3)]
    ids = [*made, *(str(uuid4()) for _ in range(100))]
    assert {port.id for port in cloud.service.ports(ids)} == set(made)


def test_a_repeated_standby_is_a_conflict_and_so_is_an_activation(cloud: RealCloud, town: Town) -> None:
    """Both are decided anew: then there is nothing to do."""
    port = cloud.add_port()
    town.start("vm1", port)
    town.keep()
    bound = port_of(cloud, port)

    def refused(change: str, *values: object) -> ErrorCode:
        with pytest.raises(LanewayError) as caught:
            getattr(cloud.service, change)(bound, *values)
        return caught.value.code

    cloud.service.add_standby(bound, town.hosts[1], {})
    assert refused("add_standby", town.hosts[1], {}) is ErrorCode.NEUTRON_CONFLICT
    cloud.service.activate(bound, town.hosts[1])
    assert refused("activate", town.hosts[1]) is ErrorCode.NEUTRON_CONFLICT
    cloud.service.delete_standby(bound, town.hosts[0])
    cloud.service.delete_standby(bound, town.hosts[0])
    assert port_of(cloud, port).host == town.hosts[1]


@pytest.mark.parametrize("by", ["nova.conf", "clouds.yaml"])
def test_who_we_are_stands_in_nova_conf_or_clouds_yaml(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cloud: RealCloud
) -> None:
    port = cloud.add_port()
    file = tmp_path / by
    if by == "nova.conf":
        file.write_text(f"[neutron]\nauth_type = admin_token\nendpoint = {NEUTRON.url}\ntoken = service\n")
    else:
        about = f"auth_type: admin_token, auth: {{endpoint: '{NEUTRON.url}', token: service}}"
        file.write_text(f"clouds: {{here: {{{about}}}}}\n")
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(file))
    access = Access(nova_conf=(file,)) if by == "nova.conf" else Access(cloud="here")
    assert [found.id for found in open_neutron(access).ports([port])] == [port]


def test_a_port_that_is_gone_is_a_conflict(cloud: RealCloud) -> None:
    gone = NetworkPort(id=str(uuid4()), network="n", vnic_type="direct", mac_address="fa:16:3e:00:00:01", revision=1)
    with pytest.raises(LanewayError, match="could not be found") as caught:
        cloud.service.take(gone, "vm1")
    assert caught.value.code is ErrorCode.NEUTRON_CONFLICT
