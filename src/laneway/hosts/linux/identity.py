"""Which device a function is: its ids, its class and its driver."""

import re
from functools import lru_cache
from typing import NamedTuple

from laneway.hosts.linux.device_directory import DeviceDirectory

_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]+)")
_DRIVER = re.compile(r"^DRIVER=(\S+)$", re.MULTILINE)
_UEVENT = re.compile(
    r"^PCI_CLASS=([0-9A-F]{1,6})\nPCI_ID=([0-9A-F]{4}):([0-9A-F]{4})\nPCI_SUBSYS_ID=([0-9A-F]{4}):([0-9A-F]{4})$",
    re.MULTILINE,
)
_MODALIAS = (
    r"pci:v0000[0-9A-F]{4}d0000[0-9A-F]{4}sv0000(?P<subvendor>[0-9A-F]{4})sd0000(?P<subsystem>[0-9A-F]{4})"
    r"bc(?P<base>[0-9A-F]{2})sc(?P<sub>[0-9A-F]{2})i(?P<interface>[0-9A-F]{2})"
)


class Identity(NamedTuple):
    class_code: str | None
    vendor_id: str
    product_id: str
    subsystem_vendor_id: str | None
    subsystem_id: str | None
    driver: str | None

    @property
    def is_bridge(self) -> bool:
        return self.class_code is not None and self.class_code.startswith("06")


def read_identity(directory: DeviceDirectory) -> Identity | None:
    """What ``uevent`` says in one read (the kernel's pci_uevent()), else the single files: a capture may lack it.

    None, with a note, where vendor or device are not known: such a directory is no function.
    """
    uevent = directory.text("uevent") or ""
    driver = found[1] if (found := _DRIVER.search(uevent)) else directory.link("driver")
    if found := _UEVENT.search(uevent):
        class_code, vendor_id, product_id, subvendor, subsystem = map(str.lower, found.groups())
        return Identity(class_code.zfill(6), vendor_id, product_id, subvendor, subsystem, driver)
    return _from_files(directory, driver)


@lru_cache(maxsize=256)
def hex_id(text: str | None, width: int) -> str | None:
    """Lower-case hex of ``width`` digits from what sysfs writes, such as ``0x8086`` or ``1889``."""
    found = _HEX.fullmatch(text) if text is not None else None
    if found is None or len(found[1]) > width:
        return None
    return found[1].lower().zfill(width)


def _from_files(directory: DeviceDirectory, driver: str | None) -> Identity | None:
    vendor_id, product_id = _id(directory, "vendor"), _id(directory, "device")
    if vendor_id is None or product_id is None:
        directory.note("vendor_id" if vendor_id is None else "product_id", "it is not known, so this is no function")
        return None
    class_code = _id(directory, "class", 6)
    subvendor, subsystem = _id(directory, "subsystem_vendor"), _id(directory, "subsystem_device")
    if found := re.fullmatch(_MODALIAS, directory.text("modalias") or ""):
        class_code = class_code or f"{found['base']}{found['sub']}{found['interface']}".lower()
        subvendor = subvendor or found["subvendor"].lower()
        subsystem = subsystem or found["subsystem"].lower()
    return Identity(class_code, vendor_id, product_id, subvendor, subsystem, driver)


def _id(directory: DeviceDirectory, name: str, width: int = 4) -> str | None:
    text = directory.text(name)
    found = hex_id(text, width)
    if text is not None and found is None:
        directory.note(name, f"{text!r} is no hexadecimal number of up to {width} digits")
    return found
