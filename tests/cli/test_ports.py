"""Ports on the command line: claimed, bound when that is allocated, unbound when it is freed, and shown."""

import pytest

from cli.conftest import Answer, ExampleHost
from interfaces.fake_network import FakeNetwork
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.service import Access

HOST = "net-1"
BINDING = "\n[neutron]\nbind_ports = true\ncloud = 'here'\n"


@pytest.fixture
def neutron(monkeypatch: pytest.MonkeyPatch) -> FakeNetwork:
    network = FakeNetwork(agents={HOST})
    opened: list[Access] = []

    def open_it(access: Access) -> FakeNetwork:
        opened.append(access)
        assert access == Access(cloud="here")
        return network

    monkeypatch.setattr("laneway.port_bootstrap.open_neutron", open_it)
    monkeypatch.setattr(FakeNetwork, "physical_network", lambda self, network: "provider")
    return network


@pytest.fixture
def host(network_host: ExampleHost, neutron: FakeNetwork) -> ExampleHost:
    network_host.config.write_text(network_host.config.read_text() + BINDING)
    return network_host


def started(host: ExampleHost, *ports: str) -> Answer:
    claimed = host.run("claim", "vm1", *(word for port in ports for word in ("--port", port)))
    assert (claimed.status, claimed.err) == (0, "")
    return host.run("allocate", "vm1")


def test_a_port_is_claimed_for_bound_and_unbound(host: ExampleHost, neutron: FakeNetwork) -> None:
    port = neutron.add_port()
    allocated = started(host, port.upper())
    assert allocated.out.splitlines()[-1] == f"Port {port} of vm1: taken, bound."
    bound = neutron.all_ports[port]
    assert (bound.host, bound.slot, bound.profile["physical_network"]) == (HOST, "0000:31:01.0", "provider")
    (shown,) = host.json("ports", "ports")["ports"]
    assert (shown["port"], shown["address"], shown["wished"], shown["stands"]) == (port, "0000:31:01.0", "bound", True)
    assert shown["actual"]["profile"] == shown["wished_profile"]
    freed = host.run("free", "vm1")
    assert (freed.status, freed.out.splitlines()[-1]) == (0, f"Port {port} of vm1: unbound.")
    assert neutron.all_ports[port].host is None
    assert host.run("ports").out == "No port has a device of this host.\n"


def test_a_failure_of_neutron_is_told_and_does_not_fail_the_command(host: ExampleHost, neutron: FakeNetwork) -> None:
    port = neutron.add_port()
    assert host.run("claim", "vm1", "--port", port).status == 0

    def is_down() -> None:
        raise LanewayError(ErrorCode.NEUTRON_UNREACHABLE, "Neutron cannot be reached: nobody listens")

    neutron.before_read = is_down
    allocated = host.run("allocate", "vm1")
    assert allocated.status == 0
    assert allocated.err == (
        "note: Neutron cannot be reached: nobody listens\n"
        "It is tried again by the agent at each update, and by `laneway ports --repair`.\n"
    )
    looked = host.run("ports")
    assert (looked.status, "Neutron cannot be reached" in looked.out) == (1, True)
    assert looked.out.splitlines()[1].split()[-3:] == ["bound", "not", "known"]
    document = host.json("ports", "ports", status=1)
    (shown,) = document["ports"]
    assert (document["ok"], document["error"]["code"]) == (False, "neutron_unreachable")
    assert (shown["stands"], shown["record"]["attempts"]) == (None, 1)
    assert shown["record"]["error_code"] == "neutron_unreachable"
    assert "1 port is not bound as claims say: `laneway ports` tells why" in host.run("status").out
    assert host.json("status", "status", status=1)["failing_ports"] == 1
    neutron.before_read = lambda: None
    repaired = host.run("ports", "--repair")
    assert repaired.status == 0
    assert repaired.out.splitlines()[0] == f"Port {port} of vm1: taken, bound."
    assert repaired.out.splitlines()[-1].split()[-3:] == ["bound", "bound,", "hw_veb"]


def test_with_json_the_answer_is_the_step_and_nothing_else(host: ExampleHost, neutron: FakeNetwork) -> None:
    port = neutron.add_port()
    assert host.run("claim", "vm1", "--port", port).status == 0
    assert host.json("step", "allocate", "vm1")["ok"] is True
    assert neutron.all_ports[port].host == HOST


def test_the_devices_of_consumers_that_are_gone_leave_their_ports(host: ExampleHost, neutron: FakeNetwork) -> None:
    port = neutron.add_port()
    started(host, port)
    keep = host.folder / "vms.txt"
    keep.write_text("another\n")
    cleaned = host.run("cleanup", "--keep", str(keep), "--yes")
    assert (cleaned.status, cleaned.out.splitlines()[-1]) == (0, f"Port {port} of vm1: unbound.")


def test_ports_of_one_consumer_are_shown_alone(host: ExampleHost, neutron: FakeNetwork) -> None:
    port = neutron.add_port()
    started(host, port)
    assert [shown["port"] for shown in host.json("ports", "ports", "vm1")["ports"]] == [port]
    assert host.json("ports", "ports", "vm2")["ports"] == []


def test_a_port_that_does_not_stand_as_it_should_is_told_with_the_reason(
    host: ExampleHost, neutron: FakeNetwork
) -> None:
    port, other = neutron.add_port(), neutron.add_port()
    started(host, port, other)
    neutron.write(port, device_id="other-vm")
    neutron.agents.clear()
    neutron.write(other, vif_type="binding_failed")
    looked = host.run("ports")
    assert looked.status == 1
    assert f"port {port} is a port of other-vm already" in looked.out
    assert "not bound, binding_failed" in looked.out


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("claim", "vm1", "--port", "nic-of-vm1"), 2, "'nic-of-vm1' is no id of a port"),
        (("claim", "vm1", "--port", "7c8b2a4e-5f0d-4c1b-9d56-0e6f3a1b2c3d"), 1, "Neutron has no port 7c8b2a4e"),
    ],
)
def test_what_is_no_port_is_refused(
    words: tuple[str, ...], status: int, message: str, host: ExampleHost, neutron: FakeNetwork
) -> None:
    answer = host.run(*words)
    assert (answer.status, message in answer.err) == (status, True), answer.err


@pytest.mark.parametrize(
    ("values", "status", "message"),
    [
        ({"vnic_type": "normal"}, 2, "is of vnic_type normal and needs no PCI device"),
        ({"vnic_type": "accelerator-direct"}, 1, "is chosen by Cyborg"),
        ({"vnic_type": "quantum"}, 2, "is not one of normal, direct"),
        ({"device_id": "other-vm"}, 1, "is a port of other-vm already"),
        ({"numa_policy": "sockets"}, 2, "write 'socket'"),
    ],
)
def test_a_port_that_can_have_no_device_is_refused(
    values: dict[str, object], status: int, message: str, host: ExampleHost, neutron: FakeNetwork
) -> None:
    port = neutron.add_port()
    neutron.write(port, **values)
    answer = host.run("claim", "vm1", "--port", port)
    assert (answer.status, message in answer.err) == (status, True), answer.err


def test_a_port_has_one_device(host: ExampleHost, neutron: FakeNetwork) -> None:
    port = neutron.add_port()
    started(host, port)
    again = host.run("claim", "vm1", "--port", port)
    assert (again.status, f"port {port} has 0000:31:01.0 already" in again.err) == (1, True)
    twice = host.run("claim", "vm1", "--port", port, "--port", port)
    assert (twice.status, "is named twice" in twice.err) == (1, True)


def test_without_bind_ports_nothing_is_bound(network_host: ExampleHost, neutron: FakeNetwork) -> None:
    network_host.config.write_text(network_host.config.read_text() + "\n[neutron]\ncloud = 'here'\n")
    port = neutron.add_port()
    assert started(network_host, port).err == ""
    assert neutron.all_ports[port].host is None
    refused = network_host.run("ports", "--repair")
    assert (refused.status, "set bind_ports in [neutron]" in refused.err) == (1, True)
    assert network_host.run("ports").status == 1
