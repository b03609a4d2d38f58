"""Captured hosts on the command line: what is tried on them stays theirs."""

import json
from collections.abc import Mapping
from pathlib import Path
from socket import gethostname

import pytest

from cli.conftest import ExampleHost
from cli.documents import validated

INVENTORY = {
    "schema": "laneway.inventory/1",
    "functions": [{"address": "0000:3b:00.0", "vendor_id": "10de", "product_id": "20b0", "dev_type": "type-PCI"}],
}


def stored_under(host: ExampleHost, inventory: Mapping[str, object]) -> str:
    """The name under which a claim on this host is stored."""
    (host.folder / "host.json").write_text(json.dumps(inventory))
    host.config.write_text('[[device_spec]]\naddress = "*"\n')
    request = '{"name": "gpu", "any_of": [{"vendor_id": "10de"}]}'
    assert host.run("claim", "vm1", "--request", request).status == 0
    document = host.json("claims", "claims")
    assert len(document["devices"]) == 1
    return str(document["host"])


def test_a_capture_without_a_name_is_not_taken_for_this_machine(desktop: ExampleHost) -> None:
    assert stored_under(desktop, INVENTORY) not in (gethostname(), "")


def test_a_capture_has_the_name_of_its_host(desktop: ExampleHost) -> None:
    assert stored_under(desktop, {**INVENTORY, "host": "far-away"}) == "far-away"


def test_the_config_may_name_it(desktop: ExampleHost) -> None:
    (desktop.folder / "host.json").write_text(json.dumps({**INVENTORY, "host": "far-away"}))
    desktop.config.write_text('[host]\nname = "here"\n')
    assert desktop.json("claims", "claims")["host"] == "here"


@pytest.mark.parametrize("option", ["--root", "--snapshot"])
def test_a_capture_that_is_not_there_is_named(desktop: ExampleHost, option: str, tmp_path: Path) -> None:
    answer = desktop.run_alone("devices", option, str(tmp_path / "nowhere"), "--json")
    assert answer.status == 69
    error = validated("failure", answer.out)["error"]
    assert error["code"] == "host_unreachable"
    assert str(tmp_path / "nowhere") in error["message"]


@pytest.mark.parametrize(("family", "format_name"), [("windows", "hyperv"), ("linux", "libvirt")])
def test_what_comes_next_is_for_the_hypervisor_of_the_host(desktop: ExampleHost, family: str, format_name: str) -> None:
    (desktop.folder / "host.json").write_text(json.dumps({**INVENTORY, "os": {"family": family}}))
    desktop.config.write_text('[[device_spec]]\naddress = "*"\n')
    answer = desktop.run("claim", "vm1", "--request", '{"name": "gpu", "any_of": [{"vendor_id": "10de"}]}')
    assert f"laneway hostdev vm1 --format {format_name} " in answer.out
