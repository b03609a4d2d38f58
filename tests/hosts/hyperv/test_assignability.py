"""Discrete Device Assignment: each reason why not, and what is not known."""

from typing import Any

import pytest

from hosts.windows_builder import GPU, gpu
from laneway.hosts.hyperv.assignability import not_assignable
from laneway.hosts.hyperv.property_bag import PropertyBag


def codes(**properties: Any) -> list[str] | None:
    reasons = not_assignable(PropertyBag(gpu(**properties), []))
    return None if reasons is None else [reason.code for reason in reasons]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        pytest.param({}, [], id="an endpoint with all that it needs"),
        pytest.param({"PciDevice_DeviceType": 4}, [], id="an endpoint integrated into the root complex"),
        pytest.param({"PciDevice_DeviceType": 3}, [], id="a legacy endpoint that is a display adapter"),
        pytest.param(
            {"PciDevice_DeviceType": 3, "PciDevice_BaseClass": 1}, ["legacy_endpoint"], id="another legacy endpoint"
        ),
        pytest.param({"PciDevice_DeviceType": 0}, ["not_pci_express"], id="conventional PCI"),
        pytest.param({"PciDevice_DeviceType": 1}, ["not_pci_express"], id="PCI-X"),
        pytest.param({"PciDevice_DeviceType": 5}, ["express_not_controlled"], id="the firmware kept control"),
        pytest.param({"PciDevice_DeviceType": 6}, ["bridge"], id="the first kind of bridge"),
        pytest.param({"PciDevice_DeviceType": 13}, ["bridge"], id="the last kind of bridge"),
        pytest.param({"PciDevice_DeviceType": 14}, ["not_an_endpoint"], id="an event collector"),
        pytest.param({"PciDevice_RequiresReservedMemoryRegion": True}, ["reserved_memory"], id="reserved memory"),
        pytest.param({"PciDevice_RequiresReservedMemoryRegion": 1}, ["reserved_memory"], id="a boolean kept as 1"),
        pytest.param({"PciDevice_AcsCompatibleUpHierarchy": 0}, ["no_acs"], id="no ACS up to the root"),
        pytest.param({"PciDevice_AcsCompatibleUpHierarchy": 1}, [], id="a single function needs no ACS of its own"),
        pytest.param({"PciDevice_InterruptSupport": 1}, ["line_interrupts"], id="line interrupts only"),
        pytest.param({"PciDevice_InterruptSupport": 3}, [], id="line and message interrupts"),
        pytest.param({"PciDevice_InterruptSupport": 0}, [], id="no interrupts at all"),
        pytest.param({"PciDevice_InterruptSupport": None}, [], id="interrupts that are not told"),
        pytest.param(
            {"PciDevice_DeviceType": 0, "PciDevice_InterruptSupport": 1, "PciDevice_AcsCompatibleUpHierarchy": 0},
            ["no_acs", "not_pci_express", "line_interrupts"],
            id="every reason is told",
        ),
        pytest.param({"PciDevice_RequiresReservedMemoryRegion": None}, None, id="reserved memory is not told"),
        pytest.param({"PciDevice_AcsCompatibleUpHierarchy": None}, None, id="ACS is not told"),
        pytest.param({"PciDevice_DeviceType": None}, None, id="the type is not told"),
        pytest.param(
            {"PciDevice_DeviceType": None, "PciDevice_RequiresReservedMemoryRegion": True},
            ["reserved_memory"],
            id="one reason is enough",
        ),
        pytest.param({"Device_ProblemCode": 22}, [], id="a disabled device"),
        pytest.param(
            {"Device_InstanceId": GPU.replace("PCI", "PCIP", 1), "PciDevice_AcsCompatibleUpHierarchy": 0},
            [],
            id="what is dismounted is assignable",
        ),
    ],
)
def test_not_assignable(properties: dict[str, Any], expected: list[str] | None) -> None:
    assert codes(**properties) == expected
