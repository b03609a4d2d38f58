"""The devices of Windows as raw property bags, by SetupAPI. Thin: it reads, and decides nothing.

It can be imported anywhere and works on Windows only. Structures and constants are those of
setupapi.h and devpropdef.h; nothing is written to the host.
"""

import ctypes
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import byref, c_ubyte, c_ulong, c_ushort, c_void_p, create_string_buffer
from uuid import UUID

from laneway.hosts.hyperv.device_property_keys import LEGACY, PCI_KEYS, TREE_KEYS, PropertyKey
from laneway.hosts.hyperv.property_bag import Key, Properties, pci_enumerator
from laneway.hosts.hyperv.raw_values import decode_property, decode_registry_value
from laneway.hosts.hyperv.windows_library import last_failure, load

_PRESENT, _ALL_CLASSES, _INTERFACES = 0x02, 0x04, 0x10
_INVALID_HANDLE = c_void_p(-1).value
_DISK_INTERFACE = UUID("53f56307-b6bf-11d0-94f2-00a0c91efb8b")


class _Guid(ctypes.Structure):
    _fields_ = (("data1", c_ulong), ("data2", c_ushort), ("data3", c_ushort), ("data4", c_ubyte * 8))

    @classmethod
    def of(cls, value: UUID) -> "_Guid":
        return cls.from_buffer_copy(value.bytes_le)


class _DeviceInfo(ctypes.Structure):
    _fields_ = (("size", c_ulong), ("class_guid", _Guid), ("instance", c_ulong), ("reserved", c_void_p))


class _InterfaceInfo(ctypes.Structure):
    _fields_ = (("size", c_ulong), ("class_guid", _Guid), ("flags", c_ulong), ("reserved", c_void_p))


class _PropertyKey(ctypes.Structure):
    _fields_ = (("format_id", _Guid), ("property_id", c_ulong))


def read_devices() -> list[Properties]:
    """The property bags of all devices that are there: of PCI functions whole, of others what they stand on."""
    with _device_set(None, _PRESENT | _ALL_CLASSES) as devices:
        return [devices.bag(device) for device in devices]


def read_disks() -> list[tuple[str, str]]:
    """The path by which each disk is opened, and the instance id of its device."""
    with _device_set(_DISK_INTERFACE, _PRESENT | _INTERFACES) as devices:
        return list(devices.interfaces(_DISK_INTERFACE))


@contextmanager
def _device_set(interface: UUID | None, flags: int) -> Iterator["_DeviceSet"]:
    devices = _DeviceSet(interface, flags)
    try:
        yield devices
    finally:
        devices.close()


class _DeviceSet:
    """A device information set (HDEVINFO)."""

    def __init__(self, interface: UUID | None, flags: int) -> None:
        self._setup = load("setupapi")
        self._setup.SetupDiGetClassDevsW.restype = c_void_p
        guid = None if interface is None else byref(_Guid.of(interface))
        handle = self._setup.SetupDiGetClassDevsW(guid, None, None, c_ulong(flags))
        if handle in (None, _INVALID_HANDLE):
            raise last_failure("Windows does not list its devices")
        self._handle = c_void_p(handle)

    def close(self) -> None:
        self._setup.SetupDiDestroyDeviceInfoList(self._handle)

    def __iter__(self) -> Iterator[_DeviceInfo]:
        index = 0
        while True:
            device = _DeviceInfo(size=ctypes.sizeof(_DeviceInfo))
            if not self._setup.SetupDiEnumDeviceInfo(self._handle, c_ulong(index), byref(device)):
                return
            yield device
            index += 1

    def bag(self, device: _DeviceInfo) -> Properties:
        """The properties of a device; those that it does not have are not in it."""
        instance_id = self._instance_id(device)
        is_pci = pci_enumerator(instance_id) is not None
        keys: Mapping[Key, PropertyKey] = PCI_KEYS if is_pci else TREE_KEYS
        read = {key.value: self._property(device, key, keys[key]) for key in keys}
        bag = {name: value for name, value in read.items() if value is not None}
        bag[Key.INSTANCE_ID.value] = instance_id
        return bag

    def interfaces(self, interface: UUID) -> Iterator[tuple[str, str]]:
        """The path of each interface of a class in the set, and the instance id of its device."""
        guid = _Guid.of(interface)
        index = 0
        while True:
            found = _InterfaceInfo(size=ctypes.sizeof(_InterfaceInfo))
            if not self._setup.SetupDiEnumDeviceInterfaces(
                self._handle, None, byref(guid), c_ulong(index), byref(found)
            ):
                return
            device = _DeviceInfo(size=ctypes.sizeof(_DeviceInfo))
            yield self._interface_path(found, device), self._instance_id(device)
            index += 1

    def _interface_path(self, interface: _InterfaceInfo, device: _DeviceInfo) -> str:
        """SP_DEVICE_INTERFACE_DETAIL_DATA_W: its own size, which is 8, then the path."""
        needed = c_ulong()
        self._setup.SetupDiGetDeviceInterfaceDetailW(
            self._handle, byref(interface), None, c_ulong(0), byref(needed), byref(device)
        )
        detail = create_string_buffer(max(needed.value, 8))
        struct.pack_into("<I", detail, 0, 8)
        self._setup.SetupDiGetDeviceInterfaceDetailW(
            self._handle, byref(interface), detail, needed, None, byref(device)
        )
        return detail.raw[4:].decode("utf-16-le", "replace").partition("\0")[0]

    def _instance_id(self, device: _DeviceInfo) -> str:
        text = ctypes.create_unicode_buffer(512)
        self._setup.SetupDiGetDeviceInstanceIdW(self._handle, byref(device), text, c_ulong(512), None)
        return text.value

    def _property(self, device: _DeviceInfo, key: Key, property_key: PropertyKey) -> object:
        wanted = _PropertyKey(_Guid.of(property_key.format_id), property_key.property_id)
        kind, needed = c_ulong(), c_ulong()
        arguments = (self._handle, byref(device), byref(wanted), byref(kind))
        self._setup.SetupDiGetDevicePropertyW(*arguments, None, c_ulong(0), byref(needed), c_ulong(0))
        if not needed.value:
            return self._legacy_property(device, key)
        buffer = create_string_buffer(needed.value)
        if not self._setup.SetupDiGetDevicePropertyW(*arguments, buffer, needed, None, c_ulong(0)):
            return None
        return decode_property(kind.value, buffer.raw)

    def _legacy_property(self, device: _DeviceInfo, key: Key) -> object:
        if key not in LEGACY:
            return None
        kind, needed = c_ulong(), c_ulong()
        buffer = create_string_buffer(4096)
        found = self._setup.SetupDiGetDeviceRegistryPropertyW(
            self._handle, byref(device), c_ulong(LEGACY[key]), byref(kind), buffer, c_ulong(4096), byref(needed)
        )
        return decode_registry_value(kind.value, buffer.raw[: needed.value]) if found else None
