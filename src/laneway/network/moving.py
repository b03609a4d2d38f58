"""The devices of ports that move with their VM: which new device stands for which old one."""

from collections.abc import Mapping, Sequence

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.moves import successors


def moved_devices(old: Sequence[PciDevice], new: Sequence[PciDevice]) -> Mapping[PciAddress, PciDevice]:
    """The new device for the address of each old one (rules C80, C82, C83).

    Devices correspond by the request that they serve, and within a request in the order of their
    addresses. Raises LanewayError(cannot_correlate) where a request has other devices than before.
    """
    found = successors(old, new)
    for request in sorted({str(device.request) for device in old if device.address not in found}):
        before, after = (
            [str(device.address) for device in devices if str(device.request) == request] for devices in (old, new)
        )
        raise LanewayError(
            ErrorCode.CANNOT_CORRELATE,
            f"request {request} had {len(before)} devices before the move and has {len(after)} after it, "
            "so it cannot be told which port gets which; claim the same requests on the destination",
            {"request": request, "before": before},
        )
    there = {device.address: device for device in new}
    return {address: there[successor] for address, successor in found.items()}
