"""What Windows itself needs of its PCI functions: the fact ``in_use_by``. Pure.

Disks with volumes and network adapters are traced up the tree of devices to the functions that they are on.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from laneway.domain.inventory import HostUse
from laneway.hosts.hyperv.property_bag import Key, PropertyBag, pci_enumerator
from laneway.hosts.hyperv.recording import Adapter, Recording

_DEEPEST = 64
_STORAGE, _DISPLAY = "01", "03"


class UseCode(StrEnum):
    """Why Windows needs a function; the codes that Linux has too mean the same. They never change."""

    MOUNTED = "mounted"
    VOLUME = "volume"
    DISK_OF_VM = "disk_of_vm"
    DEFAULT_ROUTE = "default_route"
    ADDRESS = "address"
    UPPER_DEVICE = "upper_device"
    BOOT_CONSOLE = "boot_console"


_ORDER = {code.value: rank for rank, code in enumerate(UseCode)}


class HostUses:
    """Tells what each function is used for."""

    def __init__(self, recording: Recording, bags: Iterable[PropertyBag]) -> None:
        self._recording = recording
        listed = tuple(bags)
        self._parents = {bag.instance_id.upper(): (bag.text(Key.PARENT) or "").upper() for bag in listed}
        self._uses: dict[str, set[HostUse]] = {}
        self.adapters = self._adapters_by_function(listed)
        self._has_disks_elsewhere = self._find_disk_use()
        self._find_network_use()

    def of(self, bag: PropertyBag, class_code: str | None) -> tuple[HostUse, ...] | None:
        """The uses of a function; None where none was found but not every kind could be looked at.

        A function that is disabled or dismounted has no driver of Windows, so Windows cannot be using it.
        """
        if bag.is_dismounted or bag.is_disabled:
            return ()
        found = set(self._uses.get(bag.instance_id.upper(), ()))
        is_display = (class_code or "").startswith(_DISPLAY)
        if is_display and bag.flag(Key.ON_POST_PATH):
            found.add(HostUse(code=UseCode.BOOT_CONSOLE.value))
        if found:
            return tuple(sorted(found, key=lambda use: (_ORDER[use.code], use.detail or "")))
        return None if self._is_unknown(bag, class_code) or (is_display and not bag.has(Key.ON_POST_PATH)) else ()

    def _is_unknown(self, bag: PropertyBag, class_code: str | None) -> bool:
        recording = self._recording
        if recording.disks is None or recording.volumes is None or recording.adapters is None:
            return True
        if (class_code or _STORAGE).startswith(_STORAGE):
            return self._has_disks_elsewhere or recording.answers.disks_of_vms is None
        return bag.instance_id.upper() in self.adapters and recording.answers.upper_devices is None

    def _adapters_by_function(self, bags: Iterable[PropertyBag]) -> dict[str, list[Adapter]]:
        by_guid = {adapter.guid.upper(): adapter for adapter in self._recording.adapters or () if adapter.guid}
        found: dict[str, list[Adapter]] = {}
        for bag in bags:
            adapter = by_guid.get((bag.text(Key.NETWORK_GUID) or "").upper())
            function = self._function_of(bag.instance_id)
            if adapter is not None and function is not None:
                found.setdefault(function, []).append(adapter)
        return found

    def _function_of(self, instance_id: str) -> str | None:
        """The function that a device is, or stands on: the first one on the way up."""
        at = instance_id.upper()
        for _ in range(_DEEPEST):
            if pci_enumerator(at) is not None:
                return at
            at = self._parents.get(at, "")
        return None

    def _find_disk_use(self) -> bool:
        """Adds the uses of disks. True if a disk that is used is on no function that can be told.

        So it is with Storage Spaces: the volume is on a disk that Windows makes of other disks, which
        may be on any controller.
        """
        disks = {disk.number: self._function_of(disk.instance_id) for disk in self._recording.disks or ()}
        elsewhere = False
        for number, use in self._disk_uses():
            function = disks.get(number) if number is not None else None
            if function is None:
                elsewhere = True
            else:
                self._uses.setdefault(function, set()).add(use)
        return elsewhere

    def _disk_uses(self) -> Iterator[tuple[int | None, HostUse]]:
        for volume in self._recording.volumes or ():
            uses = [HostUse(code=UseCode.MOUNTED.value, detail=mount or None) for mount in volume.mounts]
            for use in uses or [HostUse(code=UseCode.VOLUME.value, detail=volume.name or None)]:
                for number in (None,) if volume.disks is None else volume.disks:
                    yield number, use
        for number in self._recording.answers.disks_of_vms or ():
            yield number, HostUse(code=UseCode.DISK_OF_VM.value, detail=f"disk {number}")

    def _find_network_use(self) -> None:
        uppers: dict[str, set[str]] = {}
        for upper in self._recording.answers.upper_devices or ():
            uppers.setdefault(_plain(upper.adapter), set()).add(upper.name)
        for function, adapters in self.adapters.items():
            for adapter in adapters:
                self._uses.setdefault(function, set()).update(_adapter_uses(adapter, uppers))


def _adapter_uses(adapter: Adapter, uppers: Mapping[str, set[str]]) -> Iterator[HostUse]:
    if adapter.has_gateway:
        yield HostUse(code=UseCode.DEFAULT_ROUTE.value, detail=adapter.name)
    if any(map(_counts, adapter.addresses)):
        yield HostUse(code=UseCode.ADDRESS.value, detail=adapter.name)
    for name in (adapter.guid, adapter.alias, adapter.description or ""):
        for upper in uppers.get(_plain(name), ()):
            yield HostUse(code=UseCode.UPPER_DEVICE.value, detail=upper or None)


def _plain(name: str) -> str:
    """A name of an adapter for comparison: GUIDs are written with brackets and without."""
    return name.strip("{}").upper()


def _counts(address: str) -> bool:
    """Any address but a link-local one; what is no address counts, to be careful."""
    try:
        return not ipaddress.ip_address(address.partition("%")[0]).is_link_local
    except ValueError:
        return True
