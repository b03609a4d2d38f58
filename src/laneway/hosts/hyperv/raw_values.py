"""What the interfaces of Windows fill buffers with, as values. Pure."""

import struct
from itertools import takewhile
from uuid import UUID

_LIST = 0x2000
_BOOLEAN, _GUID, _TEXT = 0x11, 0x0D, 0x12
_NUMBERS = {0x03: "<B", 0x05: "<H", 0x06: "<i", 0x07: "<I", 0x08: "<q", 0x09: "<Q"}
"""DEVPROP_TYPE_BYTE, _UINT16, _INT32, _UINT32, _INT64 and _UINT64 (devpropdef.h)."""
_REG_SZ, _REG_DWORD, _REG_MULTI_SZ = 1, 4, 7
_MEMORY_DESCRIPTOR = struct.Struct("<IIQQI")
_PREFETCHABLE = 0x4


def decode_property(kind: int, data: bytes) -> object:
    """A device property by its type (devpropdef.h); None for a type that no key of ours has."""
    if kind == _TEXT:
        return data.decode("utf-16-le", "replace").partition("\0")[0]
    if kind == _LIST | _TEXT:
        return decode_texts(data)
    if kind == _GUID and len(data) == 16:
        return f"{{{UUID(bytes_le=data)}}}"
    if kind == _BOOLEAN:
        return any(data)
    number = _NUMBERS.get(kind)
    return struct.unpack(number, data)[0] if number and len(data) == struct.calcsize(number) else None


def decode_registry_value(kind: int, data: bytes) -> object:
    """A value of the registry by its type (winnt.h); None for a type that no key of ours has."""
    if kind == _REG_SZ:
        return data.decode("utf-16-le", "replace").partition("\0")[0]
    if kind == _REG_MULTI_SZ:
        return decode_texts(data)
    return int.from_bytes(data, "little") if kind == _REG_DWORD and len(data) == 4 else None


def decode_memory(descriptor: bytes) -> list[object] | None:
    """MEM_DES and MEM_LARGE_DES (cfgmgr32.h): the first byte, the last byte, and whether it is prefetchable."""
    if len(descriptor) < _MEMORY_DESCRIPTOR.size:
        return None
    _, _, first, last, flags = _MEMORY_DESCRIPTOR.unpack_from(descriptor)
    return [first, last, bool(flags & _PREFETCHABLE)]


def decode_texts(data: bytes) -> list[str]:
    """The texts in UTF-16 that stand one after another, each ended by a zero; an empty one ends the list."""
    return list(takewhile(bool, data.decode("utf-16-le", "replace").split("\0")))
