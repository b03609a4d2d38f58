"""The properties of one device as Windows keeps them, read with care: nothing absent becomes a value. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from laneway.domain.inventory import Problem

Properties = Mapping[str, Any]
"""DEVPKEY name -> value, as Windows gives them: text, lists of text, whole numbers, booleans."""

PROBLEM_DISABLED: Final = 22
"""CM_PROB_DISABLED (cfg.h): an operator, or a dismount, has disabled the device."""
PROBLEM_PHANTOM: Final = 45
"""CM_PROB_PHANTOM (cfg.h): Windows remembers the device, which is not there."""

_END_OF_MEMORY = 1 << 63
"""No processor has addresses beyond."""


class Key(StrEnum):
    """The properties that are looked at, by their names in devpkey.h and pciprop.h, and three of our own."""

    INSTANCE_ID = "DEVPKEY_Device_InstanceId"
    HARDWARE_IDS = "DEVPKEY_Device_HardwareIds"
    COMPATIBLE_IDS = "DEVPKEY_Device_CompatibleIds"
    SERVICE = "DEVPKEY_Device_Service"
    CLASS_GUID = "DEVPKEY_Device_ClassGuid"
    DRIVER_KEY = "DEVPKEY_Device_Driver"
    PARENT = "DEVPKEY_Device_Parent"
    PROBLEM_CODE = "DEVPKEY_Device_ProblemCode"
    IS_PRESENT = "DEVPKEY_Device_IsPresent"
    LOCATION_INFO = "DEVPKEY_Device_LocationInfo"
    LOCATION_PATHS = "DEVPKEY_Device_LocationPaths"
    BUS_NUMBER = "DEVPKEY_Device_BusNumber"
    ADDRESS = "DEVPKEY_Device_Address"
    NUMA_NODE = "DEVPKEY_Device_Numa_Node"
    DEVICE_TYPE = "DEVPKEY_PciDevice_DeviceType"
    BASE_CLASS = "DEVPKEY_PciDevice_BaseClass"
    SUB_CLASS = "DEVPKEY_PciDevice_SubClass"
    PROG_IF = "DEVPKEY_PciDevice_ProgIf"
    CURRENT_LINK_SPEED = "DEVPKEY_PciDevice_CurrentLinkSpeed"
    CURRENT_LINK_WIDTH = "DEVPKEY_PciDevice_CurrentLinkWidth"
    MAX_LINK_SPEED = "DEVPKEY_PciDevice_MaxLinkSpeed"
    MAX_LINK_WIDTH = "DEVPKEY_PciDevice_MaxLinkWidth"
    INTERRUPT_SUPPORT = "DEVPKEY_PciDevice_InterruptSupport"
    SRIOV_SUPPORT = "DEVPKEY_PciDevice_SriovSupport"
    ACS_UP_HIERARCHY = "DEVPKEY_PciDevice_AcsCompatibleUpHierarchy"
    RESERVED_MEMORY = "DEVPKEY_PciDevice_RequiresReservedMemoryRegion"
    ON_POST_PATH = "DEVPKEY_PciDevice_OnPostPath"
    SERIAL_NUMBER = "DEVPKEY_PciDevice_SerialNumber"
    NETWORK_GUID = "NetCfgInstanceId"
    """The GUID of the network adapter that is this device, from its driver key in the registry."""
    MEMORY = "MemoryResources"
    """The memory ranges that the device has: a list of [first byte, last byte, prefetchable or null]."""


def pci_enumerator(instance_id: str) -> str | None:
    """``PCI``, or ``PCIP`` for a device that is dismounted for assignment; None for what is no PCI function."""
    enumerator = instance_id.partition("\\")[0].upper()
    return enumerator if enumerator in ("PCI", "PCIP") else None


class PropertyBag:
    """The properties of one device. A value of the wrong type counts as absent, with a note in ``problems``."""

    def __init__(self, properties: Properties, problems: list[Problem]) -> None:
        self._properties = properties
        self._problems = problems
        self.instance_id = self.text(Key.INSTANCE_ID) or ""

    @property
    def is_dismounted(self) -> bool:
        """Taken off the host for Discrete Device Assignment: its enumerator is PCIP then."""
        return pci_enumerator(self.instance_id) == "PCIP"

    @property
    def is_disabled(self) -> bool:
        return self.number(Key.PROBLEM_CODE) == PROBLEM_DISABLED

    @property
    def is_present(self) -> bool:
        """Whether the device is there: Windows remembers those that once were."""
        return self.flag(Key.IS_PRESENT) is not False and self.number(Key.PROBLEM_CODE) != PROBLEM_PHANTOM

    def text(self, key: Key) -> str | None:
        """Text; an empty one counts as absent."""
        value = self._properties.get(key)
        if isinstance(value, str):
            return value or None
        self._note_wrong(key, value, "text")
        return None

    def texts(self, key: Key) -> tuple[str, ...]:
        """A list of texts; one text alone counts as a list, as some ways of reading give it so."""
        value = self._properties.get(key)
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, list) and all(isinstance(item, str) for item in listed):
            return tuple(listed)
        self._note_wrong(key, value, "a list of texts")
        return ()

    def number(self, key: Key) -> int | None:
        value = self._properties.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self._note_wrong(key, value, "a whole number")
        return None

    def flag(self, key: Key) -> bool | None:
        """A boolean, also as the number that DEVPROP_BOOLEAN is kept as."""
        value = self._properties.get(key)
        if isinstance(value, bool):
            return value
        return None if (number := self.number(key)) is None else number != 0

    def has(self, key: Key) -> bool:
        return self._properties.get(key) is not None

    def note(self, key: Key | None, message: str) -> None:
        self._problems.append(
            Problem(address=self.instance_id or None, attribute=None if key is None else key.value, message=message)
        )

    def ranges(self) -> tuple[tuple[int, int, bool | None], ...] | None:
        """The memory ranges: first byte, last byte, whether prefetchable."""
        value = self._properties.get(Key.MEMORY)
        try:
            return None if value is None else tuple(map(_range, value))
        except (TypeError, ValueError):
            self._note_wrong(Key.MEMORY, value, "a list of [first byte, last byte, prefetchable]")
            return None

    def _note_wrong(self, key: Key, value: object, wanted: str) -> None:
        if value is not None:
            self.note(key, f"it is {value!r}, which is not {wanted}")


def _range(value: Any) -> tuple[int, int, bool | None]:
    first, last, prefetchable = value
    if not (isinstance(first, int) and isinstance(last, int) and 0 <= first <= last < _END_OF_MEMORY):
        raise ValueError
    return first, last, None if prefetchable is None else bool(prefetchable)
