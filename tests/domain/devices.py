"""Devices for tests, with only what a test is about spelled out."""

from typing import Any

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Binding, ExtraInfo, PciDevice, TagValue
from laneway.domain.inventory import DevType, PciFunction


def device(
    address: str = "0000:3b:00.0",
    dev_type: DevType = DevType.PCI,
    *,
    tags: dict[str, TagValue] | None = None,
    attach: Attach = Attach.VFIO,
    binding: Binding = Binding.LANEWAY,
    parent_ifname: str | None = None,
    parent: str | None = None,
    vendor_id: str = "8086",
    product_id: str = "154c",
    **facts: Any,
) -> PciDevice:
    """A device with these tags and facts of its function."""
    return PciDevice(
        function=PciFunction(
            address=PciAddress.parse(address),
            vendor_id=vendor_id,
            product_id=product_id,
            dev_type=dev_type,
            parent_addr=None if parent is None else PciAddress.parse(parent),
            **facts,
        ),
        extra_info=ExtraInfo(tags=tags or {}, binding=binding, parent_ifname=parent_ifname),
        attach=attach,
    )
