"""Cloud Hypervisor: the arguments that give a VM its devices (its docs/vfio.md)."""

from collections.abc import Sequence

from laneway.domain.device import Attach, PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.formats.facts import attachment, unsupported_attachment, vhost_node


def arguments(devices: Sequence[PciDevice], *, iommu: bool = False) -> tuple[tuple[str, ...], ...]:
    """The arguments, an option and all its values together: an option may stand only once.

    ``iommu`` puts the VFIO devices behind the guest's virtual IOMMU. Raises
    LanewayError(not_supported) for macvtap, and where a fact is not known.
    """
    behind = ",iommu=on" if iommu else ""
    vfio, vdpa = ["--device"], ["--vdpa"]
    for device in devices:
        match attachment(device):
            case Attach.VFIO:
                vfio.append(f"path=/sys/bus/pci/devices/{device.address}/{behind}")
            case Attach.VDPA:
                vdpa.append(f"path={_value(device, vhost_node(device))}")
            case Attach.MACVTAP:
                raise unsupported_attachment(device, Attach.MACVTAP, "Cloud Hypervisor's arguments")
    return tuple(tuple(option) for option in (vfio, vdpa) if len(option) > 1)


def _value(device: PciDevice, text: str) -> str:
    """In double quotes a value may hold commas; nothing lets it hold a double quote or a bracket."""
    if any(mark in text for mark in '"[]'):
        raise LanewayError(
            ErrorCode.NOT_SUPPORTED,
            f"{device.address}: Cloud Hypervisor cannot take {text!r} as a path, for its quotes or brackets",
            {"address": str(device.address), "value": text},
        )
    return f'"{text}"' if "," in text else text
