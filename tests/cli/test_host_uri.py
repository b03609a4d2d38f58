"""A config whose host is another machine: ``host.uri``."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from socket import gethostname

import pytest

from cli.conftest import ExampleHost
from cli.documents import validated
from contracts.examples import FULL_INVENTORY
from laneway import agent_bootstrap, bootstrap
from laneway.config import load_config
from laneway.hosts.libvirt import LibvirtHostDriverFactory
from laneway.hosts.snapshot import SnapshotHostDriver

URI = "qemu+ssh://root@far-away/system"
CONFIG = f'[host]\nuri = "{URI}"\n[[device_spec]]\naddress = "*"\n'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Sequence[str]:
    """The URIs that the driver for libvirt was asked to connect to; each is that of a host without a name."""
    uris: list[str] = []

    def connecting_to(_factory: LibvirtHostDriverFactory, uri: str) -> SnapshotHostDriver:
        uris.append(uri)
        return SnapshotHostDriver(replace(FULL_INVENTORY, host=None))

    monkeypatch.setattr(LibvirtHostDriverFactory, "unavailable", lambda _factory: None)
    monkeypatch.setattr(LibvirtHostDriverFactory, "connecting_to", connecting_to)
    return uris


def test_commands_look_at_the_host_that_is_there(desktop: ExampleHost, asked: Sequence[str]) -> None:
    desktop.config.write_text(CONFIG)
    answer = desktop.run_alone(
        "devices", "--json", "--config", str(desktop.config), "--state", str(desktop.folder / "s")
    )
    assert answer.status == 0, answer.err
    devices = validated("devices", answer.out)
    assert [one["address"] for one in devices["functions"]] == [str(f.address) for f in FULL_INVENTORY.functions]
    assert asked == [URI]


def test_a_host_that_does_not_tell_its_name_is_not_taken_for_this_machine(asked: Sequence[str], tmp_path: Path) -> None:
    source = bootstrap.Source(config=tmp_path / "laneway.toml", state=tmp_path / "state.db")
    (tmp_path / "laneway.toml").write_text(CONFIG)
    assert bootstrap.open_host(source).name not in (gethostname(), "")


def test_an_agent_watches_over_the_host_that_is_there(asked: Sequence[str], tmp_path: Path) -> None:
    (tmp_path / "laneway.toml").write_text(CONFIG)
    source = bootstrap.Source(config=tmp_path / "laneway.toml")
    agent_bootstrap.AgentParts(source).open_driver(load_config(source.config))
    assert asked == [URI]


def test_a_driver_that_reaches_no_other_host_says_so(desktop: ExampleHost) -> None:
    desktop.config.write_text(CONFIG.replace("[host]", '[host]\ndriver = "linux"'))
    answer = desktop.run_alone("devices", "--config", str(desktop.config), "--state", str(desktop.folder / "s"))
    assert answer.status == 69
    assert f"no host driver can reach {URI} (linux: it reaches no host by a URI)" in answer.err
