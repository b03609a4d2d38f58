"""The examples of the help pages of commands that change a host, run as they stand on one that has what they name."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.changing_host import CONFIG, ChangingHost, changing_host
from cli.conftest import CHANGING
from compute.changing_host import add_network_pf
from hosts.linux.fake_kernel import FakeKernel
from laneway import cli
from laneway.cli.command import Example, LanewayCommand

CARD, PF, VF, DIRTY = "0000:3b:00.0", "0000:86:00.0", "0000:86:02.1", "0000:5e:00.0"
BEFORE = {
    "prepare": [["allocate", "db-1"]],
    "release": [["allocate", "db-1"], ["prepare", "db-1"]],
}
"""What has happened before an example makes sense, beside the claim of db-1."""


def examples() -> Iterator[tuple[str, Example]]:
    root = click.Context(cli.root, info_name="laneway", **cli.root.context_settings)
    for name in CHANGING:
        command = cli.root.get_command(root, name)
        assert isinstance(command, LanewayCommand)
        yield from ((name, example) for example in command.examples)


def with_devices(kernel: FakeKernel) -> None:
    kernel.sysfs.function(CARD, "8086", "10d3", driver="e1000e", iommu_group=11).attribute("reset", "")
    add_network_pf(kernel, PF)
    kernel.sysfs.function(DIRTY, "8086", "10d3", driver="e1000e", iommu_group=13).attribute("reset", "")


@pytest.fixture
def host(
    quick_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChangingHost]:
    with changing_host(quick_folder / tmp_path.name, capsys, monkeypatch) as made:
        with_devices(made.kernel)
        yield made


def claim(host: ChangingHost, consumer: str, address: str) -> None:
    """One device, by a config that admits no other."""
    config = host.folder / "laneway.toml"
    config.write_text(CONFIG.replace('"*"', f'"{address}"\none_time_use = {str(address == DIRTY).lower()}'))
    request = '{"name": "it", "any_of": [{"dev_type": "%s"}]}' % ("type-VF" if address == VF else "type-PCI")
    assert host.run("claim", consumer, "--request", request).status == 0
    config.write_text(CONFIG)


@pytest.mark.parametrize(("name", "example"), [pytest.param(*each, id=each[1].line) for each in examples()])
def test_an_example_does_what_it_says(name: str, example: Example, host: ChangingHost) -> None:
    words = shlex.split(example.line)
    end = words.index("|") if "|" in words else len(words)
    if VF in example.line:
        host.done(f"vfs {PF} 2")
        claim(host, "db-1", VF)
    elif name in BEFORE:
        claim(host, "db-1", CARD)
    if name == "clean":
        claim(host, "vm", DIRTY)
        host.done("allocate vm", "free vm")
    for line in BEFORE.get(name, ()):
        assert host.run(*line).status == 0
    answer = host.run(*words[1:end])
    assert answer.status == 0, answer
    assert answer.out
