"""From property bags to functions."""

from typing import Any

import pytest

from hosts.windows_builder import (
    GPU,
    NIC,
    Bag,
    adapter,
    answers,
    assigned,
    bag,
    gpu,
    nic,
    nvme,
    recording,
    root_port,
    system_disk,
)
from laneway.domain.address import PciAddress
from laneway.domain.inventory import (
    Bar,
    DevType,
    Inventory,
    Link,
    NetDevice,
    Opener,
    PciFunction,
    Problem,
    Sriov,
)
from laneway.hosts.hyperv.driver import inventory_of
from laneway.hosts.hyperv.functions import read_functions

PLAIN = r"PCI\VEN_8086&DEV_10D3&SUBSYS_A01F8086&REV_02\4&1&0&0008"


def functions(*devices: Bag, **changes: Any) -> tuple[PciFunction, ...]:
    return read_functions(recording(*devices, **changes), [])


def the(address: str, inventory: Inventory) -> PciFunction:
    return inventory.by_address[PciAddress.parse(address)]


def test_a_gpu_with_all_that_windows_tells() -> None:
    assert the("0000:81:00.0", inventory_of(recording())) == PciFunction(
        address=PciAddress.parse("0000:81:00.0"),
        vendor_id="10de",
        product_id="20b5",
        subsystem_vendor_id="10de",
        subsystem_id="1533",
        class_code="030200",
        revision="a1",
        dev_type=DevType.PCI,
        numa_node=1,
        driver="nvlddmkm",
        pcie_roots=("0000:80",),
        bridges=(PciAddress.parse("0000:80:02.0"),),
        path="0000:80/02.0/00.0",
        netdevs=(),
        bars=(Bar(size=1 << 24, prefetchable=False), Bar(size=1 << 37, bits=64, prefetchable=True)),
        in_use_by=(),
        opened_by=(),
        not_assignable=(),
        location_path="PCIROOT(3)#PCI(0200)#PCI(0000)",
    )


def test_a_nic_with_all_that_windows_tells() -> None:
    found = the("0000:17:00.0", inventory_of(recording()))
    assert found.dev_type is DevType.PF
    assert found.sriov == Sriov()
    assert found.device_serial_number == "b8-ce-f6-03-00-11-22-33"
    assert found.link == Link(speed_gts=8.0, width=8, max_speed_gts=16.0, max_width=16)
    assert found.netdevs == (
        NetDevice(
            name="Ethernet 3",
            mac="b8:ce:f6:11:22:33",
            permanent_mac="b8:ce:f6:11:22:34",
            speed_mbps=25000,
            up=True,
        ),
    )


def test_what_windows_cannot_tell_is_not_known() -> None:
    for function in inventory_of(recording()).functions:
        silent = ("iommu_group", "parent_addr", "vf_index", "vpd", "vdpa", "reset_methods", "driver_override")
        assert [getattr(function, name) for name in silent] == [None] * len(silent)


@pytest.mark.parametrize(
    "name", ["numa_node", "driver", "pcie_roots", "bridges", "path", "netdevs", "sriov", "device_serial_number"]
)
def test_what_is_not_recorded_is_not_known(name: str) -> None:
    bare = {"DEVPKEY_Device_InstanceId": PLAIN, "DEVPKEY_Device_LocationInfo": "PCI bus 3, device 0, function 0"}
    (found,) = functions(bare, adapters=None)
    assert getattr(found, name) is None


def test_the_same_place_has_the_same_path_with_and_without_location_paths() -> None:
    with_paths = functions(root_port(), gpu())
    without = functions(*({**device, "DEVPKEY_Device_LocationPaths": None} for device in (root_port(), gpu())))
    places = [[(one.pcie_roots, one.bridges, one.path) for one in found] for found in (with_paths, without)]
    assert places[0] == places[1]
    assert places[0][1][2] == "0000:80/02.0/00.0"


@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        pytest.param(r"ACPI\PNP0A08\3", "0000:81/00.0", id="the root itself"),
        pytest.param(r"PCI\VEN_8086&DEV_FFFF\not-listed", None, id="a bridge that is not listed"),
        pytest.param(GPU, None, id="a circle"),
        pytest.param(None, None, id="no parent"),
    ],
)
def test_the_place_by_the_parent_alone(parent: str | None, expected: str | None) -> None:
    (found,) = functions(gpu(Device_Parent=parent, Device_LocationPaths=None))
    assert found.path == expected


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        pytest.param({"Device_LocationInfo": "PCI bus 4, device 3, function 1"}, "0000:04:03.1", id="by its text"),
        pytest.param(
            {
                "Device_LocationInfo": "PCI bus 4, device 3, function 1",
                "Device_BusNumber": 5,
                "Device_Address": 0x20000,
            },
            "0000:05:02.0",
            id="by its numbers before its text",
        ),
        pytest.param(
            {"Device_LocationInfo": "PCI bus 4, device 3, function 1", "Device_BusNumber": 5},
            "0000:04:03.1",
            id="by its text where a number is missing",
        ),
        pytest.param(
            {
                "Device_LocationInfo": "PCI bus 4, device 3, function 1",
                "Device_BusNumber": 5,
                "Device_Address": 0xFFFFFFFF,
            },
            "0000:04:03.1",
            id="by its text where the numbers are none",
        ),
        pytest.param({"Device_BusNumber": 0x1F02, "Device_Address": 1}, "001f:02:00.1", id="in a segment"),
    ],
)
def test_where_a_function_is(properties: dict[str, Any], expected: str) -> None:
    (found,) = functions(bag(PLAIN, **properties))
    assert str(found.address) == expected


def test_ids_are_lower_case_also_of_what_is_dismounted() -> None:
    (found,) = functions(bag(PLAIN.replace("PCI", "PCIP", 1), bus=3))
    assert (found.vendor_id, found.product_id, found.revision) == ("8086", "10d3", "02")
    assert (found.subsystem_vendor_id, found.subsystem_id) == ("8086", "a01f")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        pytest.param([PLAIN, r"PCI\VEN_8086&DEV_10D3&CC_020000", r"PCI\VEN_8086&CC_0200"], "020000", id="long"),
        pytest.param([r"PCI\VEN_8086&DEV_3C00&CC_0600"], "060000", id="of a bridge, short"),
        pytest.param([r"PCI\VEN_8086&DEV_3C00&CC_0200"], None, id="of anything else, short"),
        pytest.param([], None, id="not told"),
    ],
)
def test_the_class_by_the_ids(ids: list[str], expected: str | None) -> None:
    (found,) = functions(bag(PLAIN, bus=3, class_code=None, Device_HardwareIds=ids[:1], Device_CompatibleIds=ids[1:]))
    assert found.class_code == expected


def test_a_subsystem_that_is_cut_short_is_not_known() -> None:
    (found,) = functions(bag(r"PCI\VEN_10DE&DEV_20B0&SUBSYS_0&REV_A1\4&2&0&0008", bus=3))
    assert (found.subsystem_vendor_id, found.subsystem_id, found.revision) == (None, None, "a1")


@pytest.mark.parametrize(
    "properties",
    [
        pytest.param({"Device_IsPresent": False}, id="it is not present"),
        pytest.param({"Device_IsPresent": None, "Device_ProblemCode": 45}, id="its problem is that it is a phantom"),
    ],
)
def test_a_device_that_windows_only_remembers_is_left_out(properties: dict[str, Any]) -> None:
    problems: list[Problem] = []
    found = read_functions(recording(bag(PLAIN, bus=2, **properties), nic()), problems)
    assert [str(one.address) for one in found] == ["0000:17:00.0"]
    assert problems == []


def test_a_remembered_device_at_the_address_of_another_is_no_hindrance() -> None:
    once = bag(PLAIN, bus=0x17, path="PCIROOT(1)#PCI(0000)", Device_IsPresent=False)
    (found,) = functions(once, nic())
    assert found.vendor_id == "15b3"


@pytest.mark.parametrize(
    ("broken", "attribute"),
    [
        pytest.param(bag(PLAIN), "DEVPKEY_Device_LocationInfo", id="no address"),
        pytest.param(bag(r"PCI\NOTHING\1", bus=2), "DEVPKEY_Device_HardwareIds", id="no ids"),
        pytest.param(bag(PLAIN, bus=0x17), None, id="the address of another"),
    ],
)
def test_a_device_that_makes_no_sense_is_noted_and_left_out(broken: Bag, attribute: str | None) -> None:
    problems: list[Problem] = []
    found = read_functions(recording(nic(), broken), problems)
    assert [str(one.address) for one in found] == ["0000:17:00.0"]
    assert [(problem.address, problem.attribute) for problem in problems] == [
        (broken["DEVPKEY_Device_InstanceId"], attribute)
    ]


@pytest.mark.parametrize(
    ("properties", "attribute"),
    [
        pytest.param({"Device_Numa_Node": "1"}, "numa_node", id="text for a number"),
        pytest.param({"Device_Numa_Node": -1}, "numa_node", id="a negative number"),
        pytest.param({"Device_Numa_Node": True}, "numa_node", id="a boolean for a number"),
        pytest.param({"Device_Service": 7}, "driver", id="a number for text"),
        pytest.param({"Device_LocationPaths": [1]}, "location_path", id="a number among texts"),
        pytest.param({"MemoryResources": [[5, 1, True]]}, "bars", id="a range that ends before it begins"),
        pytest.param({"MemoryResources": 5}, "bars", id="a number for ranges"),
    ],
)
def test_a_value_of_the_wrong_type_is_not_known_and_noted(properties: dict[str, Any], attribute: str) -> None:
    problems: list[Problem] = []
    (found,) = read_functions(recording(gpu(**properties)), problems)
    assert getattr(found, attribute) is None
    (name,) = properties
    assert {problem.attribute for problem in problems} == {name if name == "MemoryResources" else f"DEVPKEY_{name}"}


def test_a_location_path_alone_counts_as_a_list() -> None:
    (found,) = functions(gpu(Device_LocationPaths="PCIROOT(3)#PCI(0500)"))
    assert found.location_path == "PCIROOT(3)#PCI(0500)"


def test_a_disabled_device_has_no_driver_and_is_listed() -> None:
    (found,) = functions(gpu(Device_ProblemCode=22))
    assert found.driver is None
    assert found.in_use_by == ()


@pytest.mark.parametrize("serial", [0, 0xFFFFFFFFFFFFFFFF])
def test_the_serial_of_an_unprogrammed_card_is_not_known(serial: int) -> None:
    (found,) = functions(nic(PciDevice_SerialNumber=serial))
    assert found.device_serial_number is None


def test_an_adapter_that_stands_on_a_device_of_the_card_is_the_cards() -> None:
    port = {
        "DEVPKEY_Device_InstanceId": r"MLX\PORT1\5&1",
        "DEVPKEY_Device_Parent": NIC,
        "NetCfgInstanceId": adapter().guid.lower(),
    }
    (found,) = functions(nic(NetCfgInstanceId=None), port)
    assert [netdev.name for netdev in found.netdevs or ()] == ["Ethernet 3"]


def test_the_virtual_machine_that_has_a_function_is_named_whether_it_runs_or_not() -> None:
    told = answers(assigned=(assigned("db-1", "pciroot(3)#pci(0200)#pci(0000)"),))
    found = inventory_of(recording(answers=told))
    assert the("0000:81:00.0", found).opened_by == (Opener(name="virtual machine db-1"),)
    assert the("0000:17:00.0", found).opened_by == ()


def test_who_has_a_function_is_not_known_where_hyper_v_does_not_tell() -> None:
    assert the("0000:81:00.0", inventory_of(recording(answers=answers(assigned=None)))).opened_by is None


def test_functions_come_by_address() -> None:
    found = functions(nvme(), gpu(), nic(), root_port(), system_disk())
    assert [str(one.address) for one in found] == ["0000:17:00.0", "0000:17:08.0", "0000:80:02.0", "0000:81:00.0"]
