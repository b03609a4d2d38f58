"""Devices that a definition hands over, and that somebody still has to take from the host's driver."""

from collections.abc import Iterable

from laneway.domain.device import Attach, Binding, PciDevice
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.formats.definition import Format
from laneway.formats.facts import attachment


def unbound(form: Format, devices: Iterable[PciDevice]) -> tuple[PciDevice, ...]:
    """The devices with which the VM will not start, as nobody that the format tells of gives them a driver for guests.

    libvirt does so for a device spec with the binding ``libvirt``. Hyper-V binds no drivers.
    """
    if form is Format.HYPERV:
        return ()
    return tuple(
        device
        for device in devices
        if attachment(device) is Attach.VFIO
        and not (form is Format.LIBVIRT and device.extra_info.binding is Binding.LIBVIRT)
        and not _is_bound(device)
    )


def _is_bound(device: PciDevice) -> bool:
    """Where its driver is not known, or it has none, only whether Laneway has prepared it tells, if that is its affair.

    A driver for guests is vfio-pci, or one of its variants, such as mlx5_vfio_pci (Linux, drivers/vfio/pci).
    """
    driver = device.function.driver
    if driver is None:
        return device.prepared or device.extra_info.binding is not Binding.LANEWAY
    return is_vfio_driver(driver)
