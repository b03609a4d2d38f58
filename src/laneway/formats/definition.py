"""What goes into a VM's definition, by the name of the format."""

import shlex
from collections.abc import Iterable, Sequence
from enum import StrEnum

from laneway.domain.device import PciDevice
from laneway.domain.tracking.displacement import refuse_displaced
from laneway.formats import cloud_hypervisor, hyperv, libvirt, qemu


class Format(StrEnum):
    """Whose definition it is."""

    LIBVIRT = "libvirt"
    QEMU = "qemu"
    CLOUD_HYPERVISOR = "cloud-hypervisor"
    HYPERV = "hyperv"


def definition(
    form: Format, devices: Sequence[PciDevice], *, vm_name: str, iommufd: bool = False, iommu: bool = False
) -> str:
    """The text for the devices of one VM; empty without devices.

    Arguments are quoted for a POSIX shell, one option a line with the line continued. ``iommufd``
    is QEMU's, ``iommu`` Cloud Hypervisor's, ``vm_name`` Hyper-V's; others do not look at them.
    Raises LanewayError(not_supported) where a device has no form in it or a fact is not known, and
    LanewayError(wrong_device) where what stands at its address is not the device that was claimed.
    """
    refuse_displaced(devices)
    match form:
        case Format.LIBVIRT:
            return libvirt.elements(devices)
        case Format.QEMU:
            return _shell(qemu.arguments(devices, iommufd=iommufd))
        case Format.CLOUD_HYPERVISOR:
            return _shell(cloud_hypervisor.arguments(devices, iommu=iommu))
        case Format.HYPERV:
            return "\n".join(hyperv.commands(devices, vm_name))


def _shell(options: Iterable[Sequence[str]]) -> str:
    return " \\\n".join(map(shlex.join, options))
