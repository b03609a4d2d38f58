"""Functions opened through VFIO, as a virtual machine monitor does it: Documentation/driver-api/vfio.rst.

Groups and the first version of the IOMMU interface; the numbers are those of include/uapi/linux/vfio.h.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fcntl import ioctl

from vm.devices import group_of

_SET_IOMMU, _GROUP_GET_STATUS, _GROUP_SET_CONTAINER = 0x3B66, 0x3B67, 0x3B68
_GROUP_GET_DEVICE_FD, _DEVICE_GET_INFO, _DEVICE_GET_REGION_INFO = 0x3B6A, 0x3B6B, 0x3B6C
_TYPE1V2_IOMMU = 3
_GROUP_IS_VIABLE = 1
_CONFIG_REGION = 7
_REGION = struct.Struct("=IIIIQQ")


@dataclass(frozen=True, slots=True)
class OpenDevice:
    """A function whose handle VFIO has given out."""

    handle: int

    def ids(self) -> str:
        """Vendor and product, as its configuration space has them."""
        about = bytearray(_REGION.pack(_REGION.size, 0, _CONFIG_REGION, 0, 0, 0))
        ioctl(self.handle, _DEVICE_GET_REGION_INFO, about)
        *_, offset = _REGION.unpack(about)
        vendor, product = struct.unpack("<HH", os.pread(self.handle, 4, offset))
        return f"{vendor:04x}:{product:04x}"

    def regions(self) -> int:
        """How many regions VFIO tells of."""
        about = bytearray(struct.pack("=5I", 20, 0, 0, 0, 0))
        ioctl(self.handle, _DEVICE_GET_INFO, about)
        return int(struct.unpack("=5I", about)[2])


def is_viable(group: int) -> bool:
    """Whether no member of the group stands in the way of opening one."""
    with _opened(f"/dev/vfio/{group}") as handle:
        status = bytearray(struct.pack("=2I", 8, 0))
        ioctl(handle, _GROUP_GET_STATUS, status)
        return bool(struct.unpack("=2I", status)[1] & _GROUP_IS_VIABLE)


@contextmanager
def opened_by_vfio(*addresses: str) -> Iterator[list[OpenDevice]]:
    """Functions with the container and the groups that they need; all is closed in the end."""
    with ExitStack() as stack:
        container = stack.enter_context(_opened("/dev/vfio/vfio"))
        groups = {
            number: stack.enter_context(_opened(f"/dev/vfio/{number}")) for number in set(map(group_of, addresses))
        }
        for group in groups.values():
            ioctl(group, _GROUP_SET_CONTAINER, struct.pack("=i", container))
        ioctl(container, _SET_IOMMU, _TYPE1V2_IOMMU)
        devices = []
        for address in addresses:
            handle = ioctl(groups[group_of(address)], _GROUP_GET_DEVICE_FD, bytearray(f"{address}\0", "ascii"))
            stack.callback(os.close, handle)
            devices.append(OpenDevice(handle))
        yield devices


@contextmanager
def _opened(path: str) -> Iterator[int]:
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)
