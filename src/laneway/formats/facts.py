"""The facts that a VM's definition needs of a device, or a refusal that names the one missing."""

from laneway.domain.device import Attach, PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType


def attachment(device: PciDevice) -> Attach:
    """How the device is given: as it was claimed, but a vDPA device is never given otherwise."""
    return Attach.VDPA if device.dev_type is DevType.VDPA else device.attach


def vhost_node(device: PciDevice) -> str:
    """The node that a guest's vDPA device opens, such as ``/dev/vhost-vdpa-0``.

    Raises LanewayError(not_supported) where it is not known.
    """
    vdpa = device.function.vdpa
    return _known(
        device,
        None if vdpa is None else vdpa.vhost_node,
        "vhost_node",
        "bind its vDPA device to the vhost_vdpa driver, so that it gets a node under /dev",
    )


def netdev(device: PciDevice) -> str:
    """The host's network interface on the device, the first by port.

    Raises LanewayError(not_supported) where there is none, or it is not known.
    """
    netdevs = device.function.netdevs
    return _known(
        device,
        netdevs[0].name if netdevs else None,
        "netdevs",
        "macvtap needs the function's own network driver bound; release it from vfio-pci first",
    )


def location_path(device: PciDevice) -> str:
    """The place by which Windows names a device for assignment (rule D13).

    Raises LanewayError(not_supported) where it is not known.
    """
    return _known(
        device,
        device.function.location_path,
        "location_path",
        "only the hyperv driver reports it: list the devices on the Hyper-V host itself",
    )


def unsupported_attachment(device: PciDevice, attach: Attach, vmm: str) -> LanewayError:
    """The refusal of a kind of attachment that a VMM's format cannot express."""
    return LanewayError(
        ErrorCode.NOT_SUPPORTED,
        f"{device.address} was claimed for {attach}, which has no form in {vmm}; use --format libvirt,"
        f" or claim it without that kind of attachment",
        {"address": str(device.address), "attach": attach.value},
    )


def _known(device: PciDevice, value: str | None, fact: str, remedy: str) -> str:
    if value is None:
        raise LanewayError(
            ErrorCode.NOT_SUPPORTED,
            f"{device.address} cannot be written into the VM's definition: its {fact} is not known; {remedy}",
            {"address": str(device.address), "fact": fact},
        )
    if not value.isprintable():  # no escape makes a control character legal in XML or an argument
        raise LanewayError(
            ErrorCode.NOT_SUPPORTED,
            f"{device.address} cannot be written into the VM's definition: its {fact} {value!r} has"
            f" characters that cannot be printed",
            {"address": str(device.address), "fact": fact, "value": value},
        )
    return value
