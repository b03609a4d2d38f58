"""The attributes of a function that need reading with understanding: registers, link, resets, SR-IOV, serials."""

import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from laneway.domain.inventory import Bar, Link, Sriov, Vpd
from laneway.hosts.linux.config_space import device_serial_number
from laneway.hosts.linux.device_directory import DeviceDirectory
from laneway.hosts.linux.identity import hex_id
from laneway.hosts.linux.vpd import parse_vpd

T = TypeVar("T")

_BARS = 6
_IORESOURCE_IO = 0x100
_IORESOURCE_MEM = 0x200
_IORESOURCE_PREFETCH = 0x2000
_IORESOURCE_MEM_64 = 0x100000
"""include/linux/ioport.h"""

_UNUSED = " ".join(["0x0000000000000000"] * 3)
_WIDTH_UNKNOWN = 255
_EXTENDED_SPACE = 0x100
_REVISION = 0x08
_OFF = "D3cold"
_SERIAL = r"[0-9a-f]{2}(-[0-9a-f]{2}){7}"


def read_revision(directory: DeviceDirectory) -> str | None:
    """From its attribute, else (before Linux 4.10) from the header, which everyone may read."""
    if "revision" in directory.names:
        return hex_id(directory.text("revision"), 2)
    header = _of_file(directory, "config", lambda file: os.read(file, _REVISION + 1))
    return header[_REVISION:].hex() if header and len(header) > _REVISION else None


def read_bars(directory: DeviceDirectory) -> tuple[Bar, ...] | None:
    """The registers in use: of the first six lines of ``resource``. After them come the ROM, VFs' BARs and windows."""
    text = directory.text("resource")
    if text is None:
        return None
    lines = text.split("\n", _BARS)[:_BARS]
    try:
        return tuple(bar for index, line in enumerate(lines) if line != _UNUSED and (bar := _bar(index, line)))
    except ValueError:
        directory.note("resource", "it is not lines of start, end and flags")
        return None


def _bar(index: int, line: str) -> Bar | None:
    start, end, kind = line.split()
    size, flags = int(end, 16) - int(start, 16) + 1, int(kind, 16)
    if not flags & (_IORESOURCE_IO | _IORESOURCE_MEM) or size <= 0:
        return None
    return Bar(
        index=index,
        size=size,
        bits=64 if flags & _IORESOURCE_MEM_64 else 32,
        prefetchable=bool(flags & _IORESOURCE_PREFETCH),
    )


def read_link(directory: DeviceDirectory) -> Link | None:
    """Now and at most; None where the function is not on PCIe, or does not tell."""
    if "current_link_speed" not in directory.names and "max_link_speed" not in directory.names:
        return None
    speed, width = parse_speed(directory.text("current_link_speed")), _width(directory, "current_link_width")
    max_speed, max_width = parse_speed(directory.text("max_link_speed")), _width(directory, "max_link_width")
    if speed is width is max_speed is max_width is None:
        return None
    return Link(speed_gts=speed, width=width, max_speed_gts=max_speed, max_width=max_width)


@lru_cache(maxsize=32)
def parse_speed(text: str | None) -> float | None:
    """``16.0 GT/s PCIe``, or ``8 GT/s`` before Linux 5.6; ``Unknown`` and the like are not known."""
    number, _, unit = (text or "").partition(" ")
    return float(number) if unit.startswith("GT/s") and re.fullmatch(r"\d{1,4}(\.\d{1,3})?", number) else None


def _width(directory: DeviceDirectory, name: str) -> int | None:
    width = directory.number(name)
    return None if width in (0, _WIDTH_UNKNOWN) else width


def read_reset_methods(directory: DeviceDirectory, *, kernel_tells: bool) -> tuple[str, ...] | None:
    """The methods in the order in which the kernel tries them.

    The attribute is there only for functions that can be reset. So where the kernel has it at all
    (``kernel_tells``; since Linux 5.15), one without it has no method.
    """
    if "reset_method" not in directory.names:
        return () if kernel_tells else None
    return tuple((directory.text("reset_method") or "").split())


def read_driver_override(directory: DeviceDirectory) -> str | None:
    override = directory.text("driver_override")
    return None if override == "(null)" else override


def read_iommu_group(directory: DeviceDirectory) -> int | None:
    name = directory.link("iommu_group")
    return int(name) if name is not None and name.isdecimal() else None


def read_sriov(directory: DeviceDirectory, vfs: int) -> Sriov | None:
    """SR-IOV facts; ``vfs`` are the VFs found. A kernel before 3.8 has VFs, and no attributes of them."""
    if "sriov_totalvfs" not in directory.names:
        return Sriov(num_vfs=vfs) if vfs else None
    return Sriov(
        total_vfs=directory.number("sriov_totalvfs"),
        num_vfs=directory.number("sriov_numvfs"),
        vf_product_id=hex_id(directory.text("sriov_vf_device"), 4),
    )


def read_vpd(directory: DeviceDirectory) -> Vpd | None:
    """The vital product data, where the function has some and the reader may see them (only root)."""
    if "vpd" not in directory.names:
        return None
    parsed = _of_file(directory, "vpd", lambda file: parse_vpd(lambda offset, size: os.pread(file, size, offset)))
    if parsed is None:
        return None
    if parsed.fault is not None:
        directory.note("vpd", parsed.fault)
    return parsed.vpd


def read_device_serial_number(directory: DeviceDirectory) -> str | None:
    """From its attribute (new kernels have one), else from configuration space; only root may see either."""
    if "serial_number" in directory.names:
        text = directory.text("serial_number")
        return text if text is not None and re.fullmatch(_SERIAL, text) else None
    if "config" not in directory.names:
        return None
    return _of_file(directory, "config", lambda file: _serial_from_config(directory, file))


def _serial_from_config(directory: DeviceDirectory, file: int) -> str | None:
    # The kernel wakes a function that is off for this: slow, and more than a look.
    if os.fstat(file).st_size <= _EXTENDED_SPACE or directory.text("power_state") == _OFF:
        return None
    return device_serial_number(lambda offset, size: os.pread(file, size, offset))


def _of_file(directory: DeviceDirectory, name: str, use: Callable[[int], T]) -> T | None:
    """What ``use`` makes of an open file; None, noted as any attribute, where it cannot be read."""
    if name not in directory.names:
        return None
    try:
        file = os.open(f"{directory.path}/{name}", os.O_RDONLY)
        try:
            return use(file)
        finally:
            os.close(file)
    except OSError as error:
        directory.failed(name, error)
        return None
