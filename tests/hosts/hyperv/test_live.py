"""A recording is put together from what each interface of Windows tells."""

import pytest

from hosts.windows_builder import NIC, NIC_GUID, adapter, answers, gpu, nic, recording, root_port, system_disk
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Problem
from laneway.hosts.hyperv import adapters, live, machine, powershell, setupapi, volumes
from laneway.hosts.hyperv.recording import Machine

NETWORK_CLASS = "{4D36E972-E325-11CE-BFC1-08002BE10318}"
WHOLE = recording()


@pytest.fixture(autouse=True)
def _windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interfaces of Windows that tell of one host."""
    card = nic(NetCfgInstanceId=None, Device_Driver="key", Device_ClassGuid=NETWORK_CLASS)
    monkeypatch.setattr(setupapi, "read_devices", lambda: [root_port(), card, gpu(), system_disk()])
    monkeypatch.setattr(setupapi, "read_disks", lambda: [("path", "instance")])
    monkeypatch.setattr(adapters, "read_adapters", lambda: (adapter(),))
    monkeypatch.setattr(volumes, "read_disks", lambda interfaces: WHOLE.disks)
    monkeypatch.setattr(volumes, "read_volumes", lambda: WHOLE.volumes)
    monkeypatch.setattr(machine, "read_machine", lambda: Machine(product_type="ServerNT", hyperv_role=True))
    monkeypatch.setattr(machine, "read_host_name", lambda: "hv-9")
    monkeypatch.setattr(machine, "read_release", lambda: "10.0.26100")
    monkeypatch.setattr(machine, "read_numa_nodes", tuple)
    monkeypatch.setattr(machine, "network_guid", {"key": NIC_GUID}.get)
    monkeypatch.setattr(powershell, "ask", lambda *, hyperv: answers(iov_support=hyperv))


def test_functions_get_their_memory_and_adapters_their_guid() -> None:
    made = live.record(lambda instance_id: [[1, 2, instance_id == NIC]])
    told = {str(one["DEVPKEY_Device_InstanceId"]): one for one in made.devices}
    assert told[NIC]["MemoryResources"] == [[1, 2, True]]
    assert told[NIC]["NetCfgInstanceId"] == NIC_GUID
    assert [name for name, device in told.items() if "MemoryResources" not in device] == [
        system_disk()["DEVPKEY_Device_InstanceId"]
    ]
    assert (made.host, made.release, made.answers.iov_support) == ("hv-9", "10.0.26100", True)
    assert made.problems == ()


@pytest.mark.parametrize(
    ("module", "name", "section", "attribute"),
    [
        (adapters, "read_adapters", "adapters", "netdevs"),
        (volumes, "read_disks", "disks", "in_use_by"),
        (volumes, "read_volumes", "volumes", "in_use_by"),
    ],
)
def test_what_windows_refuses_is_not_known_and_noted(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, section: str, attribute: str
) -> None:
    def refuse(*_: object) -> None:
        raise LanewayError(ErrorCode.HOST_UNREACHABLE, "not today")

    monkeypatch.setattr(module, name, refuse)
    made = live.record(lambda _: None)
    assert getattr(made, section) is None
    assert made.problems == (Problem(attribute=attribute, message="not today"),)


@pytest.mark.parametrize(("role", "asked"), [(True, True), (False, False), (None, True)])
def test_hyper_v_is_asked_unless_it_is_known_not_to_be_there(
    monkeypatch: pytest.MonkeyPatch, role: bool | None, asked: bool
) -> None:
    monkeypatch.setattr(machine, "read_machine", lambda: Machine(hyperv_role=role))
    assert live.record(lambda _: None).answers.iov_support is asked
