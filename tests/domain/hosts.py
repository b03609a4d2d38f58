"""Hosts for tests: inventories, trackers and claims, with only what a test is about spelled out."""

from collections.abc import Iterable, Sequence
from typing import Any

from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.errors import Findings
from laneway.domain.inventory import DevType, HostUse, Inventory, NumaNode, Opener, PciFunction, Sriov
from laneway.domain.report import HostReport
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.specs.device_spec_parser import parse_device_specs
from laneway.domain.tracking.claim import HostState
from laneway.domain.tracking.host_view import IommuGroups
from laneway.domain.tracking.tracker import PciDeviceTracker

ANY: list[object] = [{"address": "*"}]


def at(text: str) -> PciAddress:
    return PciAddress.parse(text)


def function(address: str, dev_type: DevType = DevType.PCI, **facts: Any) -> PciFunction:
    facts.setdefault("vendor_id", "8086")
    facts.setdefault("product_id", {DevType.PF: "1572", DevType.VF: "154c"}.get(dev_type, "37c8"))
    facts.setdefault("class_code", "020000")
    if isinstance(facts.get("parent_addr"), str):
        facts["parent_addr"] = at(facts["parent_addr"])
    return PciFunction(address=at(address), dev_type=dev_type, **facts)


def pf(address: str, **facts: Any) -> PciFunction:
    return function(address, DevType.PF, sriov=Sriov(total_vfs=64, num_vfs=2), **facts)


def vf(address: str, parent: str, **facts: Any) -> PciFunction:
    return function(address, DevType.VF, parent_addr=parent, **facts)


def used(detail: str = "ens1", code: str = "default_route") -> tuple[HostUse, ...]:
    return (HostUse(code=code, detail=detail),)


def opened(pid: int = 4711) -> tuple[Opener, ...]:
    return (Opener(pid=pid, name="qemu-system-x86"),)


def inventory(*functions: PciFunction, nodes: Iterable[NumaNode] = (), boot_id: str | None = None) -> Inventory:
    return Inventory(functions=functions, numa_nodes=tuple(nodes), boot_id=boot_id)


def report(*functions: PciFunction, specs: Sequence[object] = ANY, nodes: Iterable[NumaNode] = ()) -> HostReport:
    findings = Findings()
    parsed = parse_device_specs(specs, findings)
    findings.raise_errors()
    return HostReport(inventory(*functions, nodes=nodes), parsed)


def tracker(
    *functions: PciFunction,
    specs: Sequence[object] = ANY,
    nodes: Iterable[NumaNode] = (),
    state: HostState | None = None,
    iommu_groups: IommuGroups = IommuGroups.ENFORCE,
) -> PciDeviceTracker:
    return PciDeviceTracker(report(*functions, specs=specs, nodes=nodes), state, iommu_groups=iommu_groups)


def wants(name: str = "r", count: int = 1, **alternative: Any) -> DeviceRequest:
    tags = alternative.pop("tags", {})
    extra = {key: alternative.pop(key) for key in ("numa_policy", "attach") if key in alternative}
    return DeviceRequest(name=name, alternatives=(Alternative(tags=tags, **alternative),), count=count, **extra)


PLAIN = wants()
A_PF = wants(dev_type=DevType.PF)
A_VF = wants(dev_type=DevType.VF)


def claim(consumer: str, *requests: DeviceRequest, claim_id: str | None = None, **rest: Any) -> ClaimRequest:
    return ClaimRequest(consumer=consumer, claim=claim_id or f"{consumer}-1", requests=requests or (PLAIN,), **rest)


def take(host: PciDeviceTracker, consumer: str, *requests: DeviceRequest, **rest: Any) -> list[str]:
    """Claims and applies; the addresses, in request order."""
    claimed = host.claim(claim(consumer, *requests, **rest))
    host.apply(claimed.update)
    return [str(address) for addresses in claimed.record.devices.values() for address in addresses]


def allocate(host: PciDeviceTracker, consumer: str, *requests: DeviceRequest, **rest: Any) -> list[str]:
    addresses = take(host, consumer, *requests, **rest)
    host.apply(host.allocate(consumer=consumer))
    return addresses


def give_back(host: PciDeviceTracker, consumer: str) -> None:
    host.apply(host.free(consumer=consumer))


def statuses(host: PciDeviceTracker) -> dict[str, Status]:
    return {str(address): host.view.status_of(address) for address in sorted(host.view.addresses())}


def blocks(host: PciDeviceTracker) -> dict[str, list[str]]:
    return {
        str(address): [reason.code for reason in reasons]
        for address in sorted(host.view.addresses())
        if (reasons := host.view.blocked_by(address))
    }


def offered(host: PciDeviceTracker) -> int:
    return sum(pool.count for pool in host.pools())
