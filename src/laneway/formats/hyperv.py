"""Hyper-V: the PowerShell commands that give a VM its devices (Discrete Device Assignment)."""

from collections.abc import Sequence

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


def commands(devices: Sequence[PciDevice], vm_name: str) -> tuple[str, ...]:
    """One command for each device, by its location path: the device claimed, never another of its
    kind (rule D13).

    Raises LanewayError(not_supported) where the location path is not known, and for attachments
    that Hyper-V does not have.
    """
    return tuple(_command(device, vm_name) for device in devices)


def _command(device: PciDevice, vm_name: str) -> str:
    attach = attachment(device)
    if attach is not Attach.VFIO:
        raise unsupported_attachment(device, attach, "Hyper-V")
    return f"Add-VMAssignableDevice -LocationPath {_string(location_path(device))} -VMName {_string(vm_name)}"


def _string(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'
