"""Short ways to make the views that the renderers are given."""

from collections.abc import Mapping
from typing import Any

from laneway.cli.render.view import DeviceView, FunctionView
from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.inventory import DevType, HostUse, PciFunction


def function(address: str, ids: str = "8086:1572", **facts: Any) -> PciFunction:
    vendor_id, product_id = ids.split(":")
    known: dict[str, Any] = {"dev_type": DevType.PCI, "class_code": "020000", "in_use_by": (), **facts}
    return PciFunction(address=PciAddress.parse(address), vendor_id=vendor_id, product_id=product_id, **known)


def view(address: str, ids: str = "8086:1572", *, device: DeviceView | None = None, **facts: Any) -> FunctionView:
    return FunctionView(function=function(address, ids, **facts), device=device)


def vfs(parent: str, first: int, count: int, device: DeviceView | None) -> list[FunctionView]:
    start = PciAddress.parse(parent)
    return [
        view(
            str(PciAddress(start + first + index)),
            "8086:154c",
            device=device,
            dev_type=DevType.VF,
            parent_addr=start,
            vf_index=index,
            iommu_group=100 + index,
        )
        for index in range(count)
    ]


AVAILABLE = DeviceView(status=Status.AVAILABLE)
IN_USE = (HostUse(code="mounted", detail="/dev/nvme0n1p2 on /"),)


def owned_by(consumer: str) -> DeviceView:
    return DeviceView(status=Status.CLAIMED, consumer=consumer, claim="c1")


class KnownNames:
    """Names of vendors, devices and classes, as a pci.ids has them."""

    def __init__(
        self,
        vendors: Mapping[str, str] | None = None,
        devices: Mapping[str, str] | None = None,
        classes: Mapping[str, str] | None = None,
    ) -> None:
        self._vendors = vendors or {}
        self._devices = devices or {}
        self._classes = classes or {}

    def vendor(self, vendor_id: str) -> str | None:
        return self._vendors.get(vendor_id)

    def device(self, vendor_id: str, product_id: str) -> str | None:
        return self._devices.get(f"{vendor_id}:{product_id}")

    def class_name(self, class_code: str) -> str | None:
        return self._classes.get(class_code[:4])


NO_NAMES = KnownNames()
