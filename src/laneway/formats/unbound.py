"""Devices that a definition hands over, and that somebody still has to take from the host's driver."""

from collections.abc import Iterable

from laneway.domain.device import Attach, Binding, PciDevice
from laneway.formats.definition import Format
from laneway.formats.facts import attachment


def unbound(form: Format, devices: Iterable[PciDevice]) -> tuple[PciDevice, ...]:
    """The devices on a driver with which the VM will not start, as nobody that the format tells of takes them off it.

    libvirt does so for a device spec with the binding ``libvirt``. Hyper-V binds no drivers. Where the driver is not
    known nothing is said.
    """
    if form is Format.HYPERV:
        return ()
    return tuple(
        device
        for device in devices
        if attachment(device) is Attach.VFIO
        and not (form is Format.LIBVIRT and device.extra_info.binding is Binding.LIBVIRT)
        and device.function.driver is not None
        and not _is_vfio(device.function.driver)
    )


def _is_vfio(driver: str) -> bool:
    """vfio-pci, or one of its variants, such as mlx5_vfio_pci (Linux, drivers/vfio/pci)."""
    return driver.replace("_", "-").endswith("vfio-pci")
