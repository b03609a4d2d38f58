"""Neutron is down between a claim and its binding, and when that is freed: the agent, itself restarted, repairs it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from compute.agent_process import HostFolder
from domain.hosts import inventory
from fleet.port_scenarios import port_of
from fleet.port_town import functions
from interfaces.real_neutron import RealCloud, RealNeutron, real_cloud

NEUTRON = RealNeutron(os.environ["LANEWAY_TEST_NEUTRON"], Path(os.environ["LANEWAY_TEST_NEUTRON_DATA"]))
ONCE_A_SECOND = ("--interval", "1s")


@pytest.fixture
def cloud() -> Iterator[RealCloud]:
    with real_cloud(NEUTRON) as cloud:
        yield cloud


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostFolder:
    """A host with agents of Neutron, whose config names the cloud by a clouds.yaml."""
    name = NEUTRON.hosts_with_agents()[0]
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text(
        f"clouds: {{here: {{auth_type: admin_token, auth: {{endpoint: '{NEUTRON.url}', token: service}}}}}}\n"
    )
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
    monkeypatch.setattr("compute.agent_process.DEADLINE", 300.0)  # Neutron is restarted meanwhile
    made = HostFolder(tmp_path)
    made.config.write_text(
        f'[host]\nname = "{name}"\n[neutron]\nbind_ports = true\ncloud = "here"\n'
        '[[device_spec]]\naddress = "0000:81:00.*"\nphysical_network = "physnet1"\n'
    )
    made.describe(inventory(*functions(f"b4:96:{uuid4().hex[:2]}:{uuid4().hex[:2]}:00", "MT1")))
    return made


def answer(host: HostFolder, capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert host.run(*words, "--json") == status
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_port_is_repaired_after_neutron_was_down_and_the_agent_was_killed(
    cloud: RealCloud, host: HostFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    port = cloud.add_port()
    assert host.run("claim", "vm1", "--port", port) == 0
    NEUTRON.script("stop")
    try:
        assert host.run("allocate", "vm1") == 0
        assert "note: Neutron cannot be reached" in capsys.readouterr().err
        with host.agent(*ONCE_A_SECOND) as agent:
            assert "Neutron cannot be reached" in agent.next("ports_failed")["message"]
            (trouble,) = answer(host, capsys, "status", status=1)["agent"]["ports_failing"]["errors"]
            assert trouble["code"] == "neutron_unreachable"
            agent.process.kill()
        (shown,) = answer(host, capsys, "ports", status=1)["ports"]
        assert (shown["wished"], shown["stands"], shown["actual"]) == ("bound", None, None)
        assert (shown["record"]["is_bound"], shown["record"]["error_code"]) == (False, "neutron_unreachable")
        assert shown["record"]["attempts"] >= 2
        with host.agent(*ONCE_A_SECOND) as agent:
            agent.next("ports_failed")
            NEUTRON.script("restart")
            assert agent.next("port_changed")["message"] == f"Port {port} of vm1: taken, bound."
            agent.next("ports_recovered")
            bound = port_of(cloud, port)
            assert (bound.vif_type, bound.device_id, bound.slot) == ("hw_veb", "vm1", "0000:81:00.1")
            NEUTRON.script("stop")
            assert host.run("free", "vm1") == 0
            agent.next("ports_failed")
            NEUTRON.script("restart")
            assert agent.next("port_changed")["message"] == f"Port {port} of vm1: unbound."
    finally:
        NEUTRON.script("restart")
    free = port_of(cloud, port)
    assert (free.host, free.device_id, dict(free.profile)) == (None, None, {})
    assert answer(host, capsys, "ports")["ports"] == []
