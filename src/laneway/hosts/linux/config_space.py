"""The PCIe Device Serial Number, from a function's configuration space."""

from collections.abc import Callable

ReadAt = Callable[[int, int], bytes]
"""Reads ``size`` bytes at ``offset``; fewer at the end, or where the reader may not see more."""

_EXTENDED_SPACE = 0x100
_CONFIG_SIZE = 0x1000
_MOST_CAPABILITIES = (_CONFIG_SIZE - _EXTENDED_SPACE) // 8
_DEVICE_SERIAL_NUMBER = 0x0003


def device_serial_number(read: ReadAt) -> str | None:
    """The serial number as lspci writes it, such as ``00-1b-21-ff-ff-83-57-a8``.

    None where the function has none. PCI Express Base Specification 7.9.3: two words, the lower
    first. All zeros and all ones are what unprogrammed cards say, hence None too.
    """
    offset = _extended_capability(read, _DEVICE_SERIAL_NUMBER)
    if offset is None:
        return None
    serial = read(offset + 4, 8)[::-1]
    if len(serial) < 8 or serial in (bytes(8), b"\xff" * 8):
        return None
    return serial.hex("-")


def _extended_capability(read: ReadAt, wanted: int) -> int | None:
    """Where the extended capability begins (7.6.3: id in bits 0-15, next in bits 20-31).

    Words are read one by one: each is an access to the device, and the list is mostly short. A
    list that leads back or outside ends there.
    """
    offset = _EXTENDED_SPACE
    for _ in range(_MOST_CAPABILITIES):
        word = int.from_bytes(read(offset, 4), "little")
        if word in (0, 0xFFFFFFFF):
            return None
        if word & 0xFFFF == wanted:
            return offset
        offset = word >> 20 & 0xFFC
        if offset < _EXTENDED_SPACE:
            return None
    return None
