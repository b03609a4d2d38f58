"""Puts devices into the registry of Windows, where its plug and play manager finds them."""

import contextlib
import struct
from collections.abc import Mapping
from ctypes import byref, c_ulong, create_string_buffer
from importlib import import_module
from typing import Any

from laneway.hosts.hyperv import setupapi
from laneway.hosts.hyperv.device_property_keys import PCI_KEYS
from laneway.hosts.hyperv.property_bag import Key
from laneway.hosts.hyperv.windows_library import last_failure

winreg: Any = import_module("winreg")
ENUM = r"SYSTEM\CurrentControlSet\Enum"
CLASS = r"SYSTEM\CurrentControlSet\Control\Class"
NETWORK = "{4d36e972-e325-11ce-bfc1-08002be10318}"
_TEXT, _TEXTS, _NUMBER, _LARGE, _FLAG = 0x12, 0x2012, 0x07, 0x09, 0x11
_IN_THE_REGISTRY = {
    Key.HARDWARE_IDS: "HardwareID",
    Key.COMPATIBLE_IDS: "CompatibleIDs",
    Key.SERVICE: "Service",
    Key.LOCATION_INFO: "LocationInformation",
    Key.DRIVER_KEY: "Driver",
    Key.CLASS_GUID: "ClassGUID",
}


class PciBus:
    """What was plugged in; ``clear`` takes it out again."""

    def __init__(self) -> None:
        self._plugged: list[str] = []
        self._classes: list[str] = []

    def plug(self, bag: Mapping[str, Any], *, class_guid: str = "{4d36e97d-e325-11ce-bfc1-08002be10318}") -> None:
        """A device with the properties of a bag, as far as Windows lets them be written."""
        instance_id = bag[Key.INSTANCE_ID.value]
        self._plugged.append(instance_id)
        properties = {**bag, Key.CLASS_GUID.value: class_guid}
        with winreg.CreateKey(winreg.HKEY_LOCAL_MACHINE, rf"{ENUM}\{instance_id}") as key:
            for property_key, name in _IN_THE_REGISTRY.items():
                value = properties.get(property_key.value)
                if value is not None:
                    kind = winreg.REG_MULTI_SZ if isinstance(value, list) else winreg.REG_SZ
                    winreg.SetValueEx(key, name, 0, kind, value)
        others = {Key(name): value for name, value in bag.items() if Key(name) in PCI_KEYS and value is not None}
        self._write(instance_id, {key: value for key, value in others.items() if key not in _IN_THE_REGISTRY})

    def driver_key(self, number: int, guid: str) -> str:
        """A driver key of the class of network adapters, with the GUID of an adapter."""
        driver_key = rf"{NETWORK}\{number:04d}"
        self._classes.append(driver_key)
        with winreg.CreateKey(winreg.HKEY_LOCAL_MACHINE, rf"{CLASS}\{driver_key}") as key:
            winreg.SetValueEx(key, "NetCfgInstanceId", 0, winreg.REG_SZ, guid)
        return driver_key

    def clear(self) -> None:
        for instance_id in self._plugged:
            _delete_tree(rf"{ENUM}\{instance_id}")
        for driver_key in self._classes:
            _delete_tree(rf"{CLASS}\{driver_key}")

    def _write(self, instance_id: str, properties: Mapping[Key, Any]) -> None:
        with setupapi._device_set(None, 0x04) as devices:
            (device,) = (one for one in devices if devices._instance_id(one).upper() == instance_id.upper())
            for key, value in properties.items():
                wanted = PCI_KEYS[key]
                raw = setupapi._PropertyKey(setupapi._Guid.of(wanted.format_id), wanted.property_id)
                kind, data = encoded(value)
                written = devices._setup.SetupDiSetDevicePropertyW(
                    devices._handle,
                    byref(device),
                    byref(raw),
                    c_ulong(kind),
                    create_string_buffer(data, len(data)),
                    c_ulong(len(data)),
                    c_ulong(0),
                )
                if not written:
                    raise last_failure(f"{key} cannot be written")


def encoded(value: object) -> tuple[int, bytes]:
    """A property as Windows keeps it: its type, and its bytes."""
    match value:
        case bool():
            return _FLAG, b"\xff" if value else b"\0"
        case int():
            return (_LARGE, struct.pack("<Q", value)) if value > 0xFFFFFFFF else (_NUMBER, struct.pack("<I", value))
        case list():
            return _TEXTS, "".join(f"{item}\0" for item in (*value, "")).encode("utf-16-le")
        case _:
            return _TEXT, f"{value}\0".encode("utf-16-le")


def _delete_tree(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, access=winreg.KEY_ALL_ACCESS) as key:
            below = [winreg.EnumKey(key, index) for index in range(winreg.QueryInfoKey(key)[0])]
        for name in below:
            _delete_tree(rf"{path}\{name}")
        winreg.DeleteKey(winreg.HKEY_LOCAL_MACHINE, path)
