"""QEMU: the arguments that give a VM its devices (``qemu-system-x86_64 -help``, docs on VFIO)."""

from collections.abc import Iterator, Sequence

from laneway.domain.device import Attach, PciDevice
from laneway.formats.facts import attachment, unsupported_attachment, vhost_node

IOMMUFD_ID = "iommufd0"


def arguments(devices: Sequence[PciDevice], *, iommufd: bool = False) -> tuple[tuple[str, ...], ...]:
    """The arguments, an option and its value together, in the order in which QEMU needs them.

    With ``iommufd`` the devices share one iommufd object in place of VFIO containers and groups.
    Raises LanewayError(not_supported) for macvtap, whose tap only libvirt can hand over, and where
    a fact is not known.
    """
    with_object = iommufd and any(attachment(device) is Attach.VFIO for device in devices)
    options = [("-object", f"iommufd,id={IOMMUFD_ID}")] if with_object else []
    return (*options, *(option for device in devices for option in _options(device, iommufd)))


def _options(device: PciDevice, iommufd: bool) -> Iterator[tuple[str, ...]]:
    match attachment(device):
        case Attach.VFIO:
            backend = f",iommufd={IOMMUFD_ID}" if iommufd else ""
            yield "-device", f"vfio-pci,host={device.address}{backend}"
        case Attach.VDPA:
            # an id may hold letters, digits, "-", "." and "_" only, and begins with a letter
            name = "vdpa-" + str(device.address).replace(":", "-")
            yield "-netdev", f"vhost-vdpa,id={name},vhostdev={_value(vhost_node(device))}"
            yield "-device", f"virtio-net-pci,netdev={name}"
        case Attach.MACVTAP:
            raise unsupported_attachment(device, Attach.MACVTAP, "QEMU's arguments")


def _value(text: str) -> str:
    return text.replace(",", ",,")
