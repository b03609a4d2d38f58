"""libvirt: the elements that go under ``<devices>`` of a domain (libvirt "Domain XML format")."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from laneway.domain.device import Attach, Binding, PciDevice
from laneway.formats.facts import attachment, netdev, vhost_node


def elements(devices: Sequence[PciDevice]) -> str:
    """One element for each device, each on its own lines, in the order given.

    Raises LanewayError(not_supported) where a fact that an element needs is not known.
    """
    return "\n".join(map(_element, devices))


def _element(device: PciDevice) -> str:
    match attachment(device):
        case Attach.VFIO:
            return _hostdev(device)
        case Attach.VDPA:
            return _vdpa_interface(device)
        case Attach.MACVTAP:
            return _macvtap_interface(device)


def _hostdev(device: PciDevice) -> str:
    address = device.address
    # libvirt binds the device itself only if it is the one party that does
    managed = "yes" if device.extra_info.binding is Binding.LIBVIRT else "no"
    return (
        f"<hostdev mode='subsystem' type='pci' managed='{managed}'>\n"
        "  <source>\n"
        f"    <address domain='0x{address.domain:04x}' bus='0x{address.bus:02x}'"
        f" slot='0x{address.slot:02x}' function='0x{address.function:x}'/>\n"
        "  </source>\n"
        "</hostdev>"
    )


def _vdpa_interface(device: PciDevice) -> str:
    return (
        "<interface type='vdpa'>\n"
        f"  <source dev='{_attribute(vhost_node(device))}'/>\n"
        "  <model type='virtio'/>\n"
        "</interface>"
    )


def _macvtap_interface(device: PciDevice) -> str:
    return (
        "<interface type='direct'>\n"
        f"  <source dev='{_attribute(netdev(device))}' mode='passthrough'/>\n"
        "  <model type='virtio'/>\n"
        "</interface>"
    )


def _attribute(value: str) -> str:
    return escape(value, {"'": "&apos;"})
