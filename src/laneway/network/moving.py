"""The devices of ports that move with their VM: which new device stands for which old one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError


def moved_devices(old: Iterable[PciDevice], new: Iterable[PciDevice]) -> Mapping[PciAddress, PciDevice]:
    """The new device for the address of each old one (rules C80, C82, C83).

    Devices correspond by the request that they serve, and within a request in the order of their
    addresses. Raises LanewayError(cannot_correlate) where a request has other devices than before.
    """
    before, after = _by_request(old), _by_request(new)
    mapping: dict[PciAddress, PciDevice] = {}
    for request, devices in before.items():
        successors = after.get(request, [])
        if len(successors) != len(devices):
            raise LanewayError(
                ErrorCode.CANNOT_CORRELATE,
                f"request {request} had {len(devices)} devices before the move and has {len(successors)} after it, "
                "so it cannot be told which port gets which; claim the same requests on the destination",
                {"request": request, "before": [str(device.address) for device in devices]},
            )
        mapping |= {device.address: successor for device, successor in zip(devices, successors, strict=True)}
    return mapping


def _by_request(devices: Iterable[PciDevice]) -> dict[str | None, list[PciDevice]]:
    found: defaultdict[str | None, list[PciDevice]] = defaultdict(list)
    for device in sorted(devices, key=lambda device: device.address):
        found[device.request].append(device)
    return found
