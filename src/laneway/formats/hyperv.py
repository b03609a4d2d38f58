"""Hyper-V: the PowerShell commands that give a VM its devices (Discrete Device Assignment)."""

from collections.abc import Iterator, Sequence

from laneway.domain.device import Attach, PciDevice
from laneway.formats.facts import attachment, location_path, unsupported_attachment

_ESCAPES = str.maketrans(
    {
        **{mark: f"`{mark}" for mark in '`$"'},
        # PowerShell ends a string at typographic double quotes, too
        **{mark: f"`{mark}" for mark in "\u201c\u201d\u201e"},
        "\0": "`0",
        "\n": "`n",
        "\r": "`r",
    }
)
_DISPLAY = "03"
_MEBIBYTE = 1 << 20
_LOW_OF_VM, _HIGH_OF_VM = 128, 512
"""MiB of memory-mapped I/O that a VM has by default, which Microsoft's guide wants kept beside the devices'."""
_MOST_LOW = 3072
"""MiB below 4 GiB, of which the VM's own memory needs some; the most that the guide uses."""


def commands(devices: Sequence[PciDevice], vm_name: str) -> tuple[str, ...]:
    """What the VM needs once, then one command for each device, by its location path: the device
    claimed, never another of its kind (rule D13). Nothing without devices.

    Raises LanewayError(not_supported) where the location path is not known, and for attachments
    that Hyper-V does not have.
    """
    name = f"-VMName {_string(vm_name)}"
    added = tuple(f"Add-VMAssignableDevice -LocationPath {_string(_place(device))} {name}" for device in devices)
    return (*_of_vm(devices, name), *added) if added else ()


def _place(device: PciDevice) -> str:
    attach = attachment(device)
    if attach is not Attach.VFIO:
        raise unsupported_attachment(device, attach, "Hyper-V")
    return location_path(device)


def _of_vm(devices: Sequence[PciDevice], name: str) -> Iterator[str]:
    """A VM with devices cannot be saved, has fixed memory, and needs room for the devices' own."""
    yield f"Set-VM -AutomaticStopAction TurnOff -StaticMemory {name}"
    if any((device.function.class_code or "").startswith(_DISPLAY) for device in devices):
        yield f"Set-VM -GuestControlledCacheTypes $true {name}"
    for device in devices:
        if not _is_memory_known(device):
            yield f"# The memory of {device.address} is not known: if the VM lacks resources, raise the sizes by hand."
    low, high = _memory(devices)
    if low or high:
        sizes = f"-LowMemoryMappedIoSpace {min(_LOW_OF_VM + low, _MOST_LOW)}MB"
        yield f"Set-VM {sizes} -HighMemoryMappedIoSpace {_HIGH_OF_VM + high}MB {name}"


def _is_memory_known(device: PciDevice) -> bool:
    bars = device.function.bars
    return bars is not None and all(bar.size is not None for bar in bars)


def _memory(devices: Sequence[PciDevice]) -> tuple[int, int]:
    """MiB below and above 4 GiB that the devices' registers take, rounded up; of unknown width they count as both."""
    bars = [bar for device in devices for bar in device.function.bars or ()]
    low = sum(bar.size or 0 for bar in bars if bar.bits != 64)
    high = sum(bar.size or 0 for bar in bars if bar.bits != 32)
    return -(-low // _MEBIBYTE), -(-high // _MEBIBYTE)


def _string(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'
