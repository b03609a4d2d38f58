"""The examples of all help pages, run as they stand on a host that has what they name.

Not those of ``agent``, which runs until it is stopped, nor of commands that change a host, which have a
test of their own. What stands behind ``|`` is another program's; what is written
to a file elsewhere (``>``) is only printed.
"""

import io
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import nova_rows as rows
from cli.conftest import CHANGING
from domain.hosts import function, inventory, pf, vf
from interfaces.fake_network import FakeNetwork
from laneway import cli
from laneway.cli.command import Example, LanewayCommand
from laneway.cli.commands import SUMMARIES
from laneway.contracts.inventory import encode_inventory
from laneway.domain.inventory import Inventory, NumaNode, PciFunction
from laneway.interfaces.network import NetworkPort

CONFIG = """
[[device_spec]]
address = "*"
physical_network = "physnet1"

[neutron]
bind_ports = true

[[alias]]
name = "gpu"
vendor_id = "10de"
product_id = "20b0"

[[alias]]
name = "nic"
vendor_id = "8086"
product_id = "154c"
"""
PORT = "7c8b2a4e-5f0d-4c1b-9d56-0e6f3a1b2c3d"
NOVA_CONF = '[pci]\ndevice_spec = {"address": "*"}\n'
SCENARIO = {"schema": "laneway.scenario/1", "inventory": {"schema": "laneway.inventory/1", "functions": []}}
AFTER_A_CLAIM = ("allocate", "free", "claims", "hostdev", "binding-profile")
ELSEWHERE = ("agent", *CHANGING)
REFUSED = {
    "adopt": "no virtual machines can be seen in an inventory",
    "status": "no agent runs",
    "reload": "no agent runs",
}
"""What answers "no" on this host, and why."""
SILENT = ("hook",)
"""What says nothing where the answer is yes, as who calls it would take it for something else."""


def on_one_root(bus: int, node: int) -> Iterator[PciFunction]:
    """A GPU beside a network card with two VFs."""
    place: dict[str, Any] = {
        "numa_node": node,
        "pcie_roots": (f"0000:{bus - 1:02x}",),
        "in_use_by": (),
        "opened_by": (),
    }
    nic = f"0000:{bus + 1:02x}:00.0"
    yield function(f"0000:{bus:02x}:00.0", vendor_id="10de", product_id="20b0", class_code="030200", **place)
    yield pf(nic, **place)
    yield from (vf(f"0000:{bus + 1:02x}:02.{number}", nic, vf_index=number, **place) for number in range(2))


def example_host() -> Inventory:
    nodes = (NumaNode(id=0, socket=0), NumaNode(id=1, socket=1))
    return inventory(*on_one_root(0x3B, 0), *on_one_root(0x86, 1), nodes=nodes)


def neutron() -> FakeNetwork:
    """A Neutron with the port that an example names."""
    network = FakeNetwork()
    network.all_ports[PORT] = NetworkPort(
        id=PORT, network="n", vnic_type="direct", mac_address="fa:16:3e:00:00:01", revision=1
    )
    return network


def write_nova_tables(folder: Path) -> None:
    """An export of a compute node with a device in use."""
    tables: dict[str, list[rows.Row]] = {
        "compute_nodes": [rows.NODE | {"host": "unnamed", "hypervisor_hostname": None}],
        "pci_devices": [rows.device("0000:3b:00.0", rows.VM, vendor_id="10de", product_id="20b0")],
        "instances": [rows.instance(host="unnamed", node=None)],
        "instance_extra": [rows.extra(rows.flavor_request())],
    }
    folder.mkdir()
    for table, content in tables.items():
        (folder / f"{table}.json").write_text(json.dumps(content))


def examples() -> Iterator[tuple[str, Example]]:
    root = click.Context(cli.root, info_name="laneway", **cli.root.context_settings)
    for name in SUMMARIES:
        command = cli.root.get_command(root, name)
        assert isinstance(command, LanewayCommand)
        yield from ((name, example) for example in command.examples if name not in ELSEWHERE)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name, which is where they are run."""
    snapshot = encode_inventory(example_host())
    for file in ("host.json", "gpu-1.json"):
        (tmp_path / file).write_bytes(snapshot)
    for file in ("laneway.toml", "gpu-1.toml", "gpu.toml", "new.toml"):
        (tmp_path / file).write_text(CONFIG)
    for file in ("scenario.json", "scenarios.jsonl"):
        (tmp_path / file).write_text(json.dumps(SCENARIO))
    (tmp_path / "nova.conf").write_text(NOVA_CONF)
    (tmp_path / "vms.txt").write_text("db-1\n")
    write_nova_tables(tmp_path / "nova-tables")
    (tmp_path / "ports.json").write_text(json.dumps({"ports": [rows.port("0000:3c:02.0")]}))
    (tmp_path / "db-1.xml").write_text("<domain type='kvm'><name>db-1</name></domain>\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("laneway.port_bootstrap.open_neutron", lambda access: neutron())
    monkeypatch.setenv("LANEWAY_CONFIG", "laneway.toml")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def run(words: list[str]) -> int:
    """On the host of these tests, unless the words name another."""
    here = [] if "--snapshot" in words else ["--snapshot", "host.json"]
    return cli.main([*words, *here, "--state", "state.db"])


@pytest.mark.parametrize(("name", "example"), [pytest.param(*each, id=each[1].line) for each in examples()])
def test_an_example_does_what_it_says(
    name: str, example: Example, host: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(example.line)
    assert words[:2] == ["laneway", name]
    if "<" in words:
        text = (host / words[words.index("<") + 1]).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    end = next((place for place, word in enumerate(words) if word in ("|", ">", "<")), len(words))
    mine = [str(host / "nova.conf") if word == "/etc/nova/nova.conf" else word for word in words[1:end]]
    if name in AFTER_A_CLAIM:
        assert run(["claim", "db-1", "--alias", "gpu:1,nic:1", "--numa-node", "0", "--id", "job-17"]) == 0
    if "backup" in mine:
        assert run(["db", "upgrade"]) == 0
    capsys.readouterr()
    status = run(mine)
    told = capsys.readouterr()
    assert status == (1 if name in REFUSED else 0), told.err
    assert told.out or told.err or "--output" in mine or name in SILENT
