"""The property keys of Windows (DEVPROPKEY) by name: devpkey.h and pciprop.h. Pure data.

``setupapi`` reads these of each device. ``LEGACY`` are the numbers by which the older interface
(SetupDiGetDeviceRegistryProperty, setupapi.h) knows some of them.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID

from laneway.hosts.hyperv.property_bag import Key


class PropertyKey(NamedTuple):
    """A DEVPROPKEY."""

    format_id: UUID
    property_id: int


_DEVICE = UUID("a45c254e-df1c-4efd-8020-67d146a850e0")
_RELATION = UUID("4340a6c5-93fa-4706-972c-7b648008a5a7")
_TOPOLOGY = UUID("540b947e-8b40-45bc-a8a2-6a0b894cbda2")
_INSTANCE = UUID("78c34fc8-104a-4aca-9ea4-524d52996e57")
_PCI = UUID("3ab22e31-8264-4b4e-9af5-a8d2d8e33e62")

TREE_KEYS: Final[Mapping[Key, PropertyKey]] = {
    Key.INSTANCE_ID: PropertyKey(_INSTANCE, 256),
    Key.PARENT: PropertyKey(_RELATION, 8),
    Key.CLASS_GUID: PropertyKey(_DEVICE, 10),
    Key.DRIVER_KEY: PropertyKey(_DEVICE, 11),
}
"""What is read of every device, to know what stands on what."""

PCI_KEYS: Final[Mapping[Key, PropertyKey]] = {
    **TREE_KEYS,
    Key.HARDWARE_IDS: PropertyKey(_DEVICE, 3),
    Key.COMPATIBLE_IDS: PropertyKey(_DEVICE, 4),
    Key.SERVICE: PropertyKey(_DEVICE, 6),
    Key.LOCATION_INFO: PropertyKey(_DEVICE, 15),
    Key.BUS_NUMBER: PropertyKey(_DEVICE, 23),
    Key.ADDRESS: PropertyKey(_DEVICE, 30),
    Key.LOCATION_PATHS: PropertyKey(_DEVICE, 37),
    Key.PROBLEM_CODE: PropertyKey(_RELATION, 3),
    Key.NUMA_NODE: PropertyKey(_TOPOLOGY, 3),
    Key.IS_PRESENT: PropertyKey(_TOPOLOGY, 5),
    Key.DEVICE_TYPE: PropertyKey(_PCI, 1),
    Key.BASE_CLASS: PropertyKey(_PCI, 3),
    Key.SUB_CLASS: PropertyKey(_PCI, 4),
    Key.PROG_IF: PropertyKey(_PCI, 5),
    Key.CURRENT_LINK_SPEED: PropertyKey(_PCI, 9),
    Key.CURRENT_LINK_WIDTH: PropertyKey(_PCI, 10),
    Key.MAX_LINK_SPEED: PropertyKey(_PCI, 11),
    Key.MAX_LINK_WIDTH: PropertyKey(_PCI, 12),
    Key.INTERRUPT_SUPPORT: PropertyKey(_PCI, 14),
    Key.SRIOV_SUPPORT: PropertyKey(_PCI, 26),
    Key.ACS_UP_HIERARCHY: PropertyKey(_PCI, 31),
    Key.RESERVED_MEMORY: PropertyKey(_PCI, 34),
    Key.ON_POST_PATH: PropertyKey(_PCI, 37),
    Key.SERIAL_NUMBER: PropertyKey(_PCI, 40),
}
"""What is read of PCI functions."""

LEGACY: Final[Mapping[Key, int]] = {
    Key.HARDWARE_IDS: 0x01,
    Key.COMPATIBLE_IDS: 0x02,
    Key.SERVICE: 0x04,
    Key.CLASS_GUID: 0x08,
    Key.DRIVER_KEY: 0x09,
    Key.LOCATION_INFO: 0x0D,
    Key.BUS_NUMBER: 0x15,
    Key.ADDRESS: 0x1C,
    Key.LOCATION_PATHS: 0x23,
}
