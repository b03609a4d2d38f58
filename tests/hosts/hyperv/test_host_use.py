"""What Windows itself needs: disks and adapters, traced to the functions they are on."""

from typing import Any

import pytest

from hosts.windows_builder import (
    NIC_GUID,
    SYSTEM_DISK,
    adapter,
    answers,
    gpu,
    nic,
    nvme,
    recording,
    root_port,
    switch,
    system_disk,
)
from laneway.domain.inventory import HostUse
from laneway.hosts.hyperv.functions import read_functions
from laneway.hosts.hyperv.recording import Disk, Recording, Volume

NVME_AT, NIC_AT, GPU_AT = "0000:17:08.0", "0000:17:00.0", "0000:81:00.0"
SPACE = {"DEVPKEY_Device_InstanceId": r"STORAGE\DISK\{SPACE}", "DEVPKEY_Device_Parent": r"ROOT\SPACEPORT\0000"}


def uses(made: Recording, address: str) -> list[tuple[str, str | None]] | None:
    found = {str(function.address): function.in_use_by for function in read_functions(made, [])}[address]
    return None if found is None else [(use.code, use.detail) for use in found]


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        pytest.param(Volume(name="v", mounts=("C:\\",), disks=(0,)), [("mounted", "C:\\")], id="with a letter"),
        pytest.param(
            Volume(name="v", mounts=("D:\\", "C:\\data\\"), disks=(0,)),
            [("mounted", "C:\\data\\"), ("mounted", "D:\\")],
            id="mounted twice",
        ),
        pytest.param(Volume(name="v", disks=(0,)), [("volume", "v")], id="not mounted"),
        pytest.param(Volume(name="v", mounts=("C:\\",), disks=(0, 1)), [("mounted", "C:\\")], id="over two disks"),
    ],
)
def test_a_disk_with_a_volume_is_in_use(volume: Volume, expected: list[tuple[str, str]]) -> None:
    assert uses(recording(volumes=(volume,)), NVME_AT) == expected


def test_a_disk_without_a_volume_is_not_in_use() -> None:
    assert uses(recording(volumes=()), NVME_AT) == []


def test_a_disk_that_a_virtual_machine_has_is_in_use() -> None:
    made = recording(volumes=(), answers=answers(disks_of_vms=(0,)))
    assert uses(made, NVME_AT) == [("disk_of_vm", "disk 0")]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"disks": None}, id="disks are not told"),
        pytest.param({"volumes": None}, id="volumes are not told"),
        pytest.param({"volumes": (Volume(name="v", mounts=("C:\\",), disks=None),)}, id="a volume on unknown disks"),
        pytest.param({"disks": (), "volumes": (Volume(name="v", disks=(7,)),)}, id="a volume on a disk not listed"),
        pytest.param({"volumes": (), "answers": answers(disks_of_vms=None)}, id="disks of VMs are not told"),
    ],
)
def test_the_use_of_a_storage_controller_is_not_known_where(changes: dict[str, Any]) -> None:
    assert uses(recording(**changes), NVME_AT) is None


def test_with_storage_spaces_any_controller_may_be_in_use() -> None:
    made = recording(
        nvme(),
        SPACE,
        gpu(),
        root_port(),
        disks=(Disk(number=3, instance_id=SPACE["DEVPKEY_Device_InstanceId"]),),
        volumes=(Volume(name="v", mounts=("E:\\",), disks=(3,)),),
    )
    assert uses(made, NVME_AT) is None
    assert uses(made, GPU_AT) == []


def test_a_circle_of_parents_ends() -> None:
    circle = {"DEVPKEY_Device_InstanceId": SYSTEM_DISK, "DEVPKEY_Device_Parent": SYSTEM_DISK}
    assert uses(recording(nvme(), circle), NVME_AT) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, [], id="an adapter that is up without an address"),
        pytest.param({"addresses": ("10.1.2.3",)}, [("address", "Ethernet 3")], id="an IPv4 address"),
        pytest.param({"addresses": ("2001:db8::5",)}, [("address", "Ethernet 3")], id="an IPv6 address"),
        pytest.param({"addresses": ("fe80::1%12", "169.254.8.9")}, [], id="link-local addresses"),
        pytest.param({"addresses": ("?",)}, [("address", "Ethernet 3")], id="what is no address counts"),
        pytest.param(
            {"addresses": ("10.1.2.3",), "has_gateway": True},
            [("default_route", "Ethernet 3"), ("address", "Ethernet 3")],
            id="a gateway",
        ),
    ],
)
def test_the_use_of_an_adapter(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert uses(recording(adapters=(adapter(**changes),)), NIC_AT) == expected


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(NIC_GUID.strip("{}").lower(), id="its GUID, without brackets"),
        pytest.param("ConnectX-6 Dx #2", id="its description"),
        pytest.param("Ethernet 3", id="its alias"),
    ],
)
def test_an_adapter_below_a_virtual_switch_or_a_team_is_in_use(name: str) -> None:
    made = recording(answers=answers(upper_devices=(switch(name),)))
    assert uses(made, NIC_AT) == [("upper_device", "virtual switch uplink")]


def test_the_use_of_an_adapter_is_not_known_where_switches_are_not_told() -> None:
    made = recording(answers=answers(upper_devices=None))
    assert uses(made, NIC_AT) is None
    assert uses(made, GPU_AT) == []


def test_a_use_that_is_found_counts_whatever_else_is_not_known() -> None:
    made = recording(adapters=(adapter(has_gateway=True),), disks=None, answers=answers(upper_devices=None))
    assert uses(made, NIC_AT) == [("default_route", "Ethernet 3")]


def test_nothing_is_known_where_adapters_are_not_told() -> None:
    assert uses(recording(adapters=None), GPU_AT) is None


@pytest.mark.parametrize(
    ("on_post_path", "expected"),
    [
        pytest.param(True, [("boot_console", None)], id="the firmware booted on it"),
        pytest.param(False, [], id="it did not"),
        pytest.param(None, None, id="it is not told"),
    ],
)
def test_the_console(on_post_path: bool | None, expected: list[tuple[str, None]] | None) -> None:
    assert uses(recording(root_port(), gpu(PciDevice_OnPostPath=on_post_path)), GPU_AT) == expected


@pytest.mark.parametrize(
    "properties",
    [
        pytest.param({"Device_ProblemCode": 22}, id="disabled"),
        pytest.param({"Device_InstanceId": r"PCIP\VEN_144D&DEV_A80A\4&1"}, id="dismounted"),
    ],
)
def test_windows_does_not_use_what_it_has_no_driver_on(properties: dict[str, Any]) -> None:
    assert uses(recording(nvme(**properties), system_disk(), volumes=None), NVME_AT) == []


def test_uses_are_those_of_the_contract() -> None:
    (found,) = read_functions(recording(nic(), adapters=(adapter(has_gateway=True),)), [])
    assert found.in_use_by == (HostUse(code="default_route", detail="Ethernet 3"),)
