"""``laneway adopt`` on a host where VMs run already."""

import json
from collections.abc import Sequence

import pytest

from cli.conftest import ExampleHost
from laneway import bootstrap
from laneway.demo import gpu_server
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.inventory import PciFunction, Problem
from laneway.hosts.snapshot import SnapshotHostDriver
from laneway.interfaces.running_vms import RunningVm, RunningVms

GPU, DISK, UPLINK = "0000:19:00.0", "0000:03:00.0", "0000:04:00.0"


def vm(*addresses: str) -> RunningVms:
    devices = {PciAddress.parse(address): Attach.VFIO for address in addresses}
    found = RunningVm(consumer="old-1", uuid=None, pid=4711, devices=devices, source="libvirt")
    return RunningVms(
        vms=(found,) if addresses else (), problems=(Problem(address=DISK, message="held by a stranger"),)
    )


class HostWithVms(SnapshotHostDriver):
    """The GPU server, on which one VM runs."""

    def __init__(self, running: RunningVms) -> None:
        super().__init__(gpu_server.inventory)
        self._running = running

    def running_vms(self, functions: Sequence[PciFunction]) -> RunningVms:
        return self._running


def run_vms(monkeypatch: pytest.MonkeyPatch, running: RunningVms) -> None:
    monkeypatch.setattr(bootstrap, "open_driver", lambda *_arguments, **_options: HostWithVms(running))


def test_first_it_only_says_what_it_would_do(gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch) -> None:
    run_vms(monkeypatch, vm(GPU))
    answer = gpu_server.run("adopt")
    assert answer.status == 0
    assert answer.out.splitlines() == [
        "CONSUMER  ADDRESS       ATTACH  SEEN BY         OUTCOME",
        "old-1     0000:19:00.0  vfio    libvirt (4711)  to be recorded as allocated",
        "",
        "Left to a person",
        "  0000:03:00.0: held by a stranger",
        "",
        "Nothing is changed yet. To record this: laneway adopt --yes",
    ]
    assert gpu_server.json("claims", "claims")["devices"] == []


def test_then_it_does_it_once(gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch) -> None:
    run_vms(monkeypatch, vm(GPU))
    assert "recorded as allocated" in gpu_server.run("adopt", "--yes").out
    assert gpu_server.json("claims", "claims")["devices"][0]["consumer"] == "old-1"
    assert "recorded already" in gpu_server.run("adopt", "--yes").out
    assert gpu_server.json("step", "free", "old-1")["statuses"][GPU]["status"] == "available"


def test_what_cannot_be_recorded_makes_it_a_no(gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch) -> None:
    run_vms(monkeypatch, vm(GPU, UPLINK))
    document = gpu_server.json("adopt", "adopt", "--yes", status=1)
    assert document["applied"] is True
    assert [device["refusal"] and device["refusal"]["code"] for device in document["devices"]] == [
        "unknown_device",
        None,
    ]
    assert "left as it is: no device spec admits it" in gpu_server.run("adopt").out


def test_a_host_without_vms_says_so(gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch) -> None:
    run_vms(monkeypatch, vm())
    assert gpu_server.run("adopt").out.startswith("No virtual machine that runs here has a device of this host.\n")


def test_a_host_whose_driver_cannot_tell_is_refused(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run("adopt")
    assert (answer.status, answer.out) == (1, "")
    assert "cannot tell which virtual machines run" in answer.err
    assert json.loads(gpu_server.run("adopt", "--json").out)["error"]["code"] == "not_supported"
