"""Whether what stands at an address is what was claimed there."""

from dataclasses import replace

import pytest

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, PciFunction, Vpd
from laneway.hosts.recorded_function import require_recorded

RECORDED = PciFunction(
    address=PciAddress.parse("0000:3b:00.0"),
    vendor_id="10de",
    product_id="20b0",
    dev_type=DevType.PCI,
    subsystem_vendor_id="10de",
    subsystem_id="1234",
    path="0000:3a/00.0/00.0",
    vpd=Vpd(card_serial_number="S1"),
    device_serial_number="0011",
    location_path="PCIROOT(0)#PCI(1D00)",
)
UNREADABLE = replace(RECORDED, vpd=None, device_serial_number=None)


@pytest.mark.parametrize(
    "found",
    [
        RECORDED,
        replace(RECORDED, vpd=None, device_serial_number=None),
        replace(RECORDED, subsystem_id=None, subsystem_vendor_id=None, path=None, location_path=None),
        replace(RECORDED, vpd=Vpd()),
        replace(RECORDED, path="0000:3a/01.0/00.0", location_path="PCIROOT(0)#PCI(1C00)"),
        replace(RECORDED, driver="vfio-pci", numa_node=1, iommu_group=7),
    ],
    ids=[
        "it is",
        "no serial can be read",
        "less is known",
        "the VPD has no serial",
        "in another slot",
        "what may change changed",
    ],
)
def test_the_same_device(found: PciFunction) -> None:
    require_recorded(RECORDED, found)
    require_recorded(found, RECORDED)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (replace(RECORDED, product_id="20b2"), "it is 10de:20b2 with serial S1, not 10de:20b0 with serial S1"),
        (replace(RECORDED, vendor_id="1002"), "it is 1002:20b0 with serial S1, not 10de:20b0 with serial S1"),
        (replace(RECORDED, subsystem_id="1235"), "its subsystem is 10de:1235, not 10de:1234"),
        (replace(RECORDED, vpd=Vpd(card_serial_number="S2")), "it is 10de:20b0 with serial S2"),
        (replace(RECORDED, device_serial_number="0012"), "its serial number is another"),
        (replace(UNREADABLE, path="0000:3a/01.0/00.0"), "it is at 0000:3a/01.0/00.0, not at 0000:3a/00.0/00.0"),
        (
            replace(UNREADABLE, location_path="PCIROOT(0)#PCI(1C00)"),
            "it is at PCIROOT(0)#PCI(1C00), not at PCIROOT(0)#PCI(1D00)",
        ),
    ],
    ids=[
        "another product",
        "another vendor",
        "another subsystem",
        "another card",
        "another DSN",
        "another slot",
        "another slot, as Windows tells it",
    ],
)
def test_another_device_is_refused_with_both_named(found: PciFunction, said: str) -> None:
    with pytest.raises(LanewayError, match="another card stands at this address") as caught:
        require_recorded(RECORDED, found)
    assert caught.value.code is ErrorCode.WRONG_DEVICE
    assert said in caught.value.message
    assert caught.value.detail["recorded"] == "10de:20b0"
