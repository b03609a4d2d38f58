"""Messages of the kernel about its devices. Pure: from bytes to events.

A message is ``ACTION@DEVPATH`` and then ``KEY=VALUE`` for each property, each ended by a zero
byte; the path is that of the device below /sys (lib/kobject_uevent.c).
"""

import re

from laneway.domain.address import PciAddress
from laneway.interfaces.host_driver import HotplugEvent

SUBSYSTEMS = frozenset({"pci", "net", "vdpa"})
"""Whose devices change what is reported of functions."""

_ADDRESS = re.compile(r"/([0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7])(?=/|$)")


def hotplug_event(message: bytes) -> HotplugEvent | None:
    """What a message means: the function nearest to the device changed.

    None where the device stands on no function, as the interfaces of guests, bridges and VLANs
    do, which come and go with every VM; and where the message is none of the kernel's (udev
    passes messages on in a format of its own).
    """
    header, *properties = message.decode("utf-8", "replace").split("\0")
    _, at, path = header.partition("@")
    values = dict(pair.split("=", 1) for pair in properties if "=" in pair)
    if not at or values.get("SUBSYSTEM") not in SUBSYSTEMS:
        return None
    addresses = _ADDRESS.findall(path)
    return HotplugEvent((PciAddress.parse(addresses[-1]),)) if addresses else None
