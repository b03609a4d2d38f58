"""Which devices of a definition are still to be taken from the host's driver, and by whom nobody says."""

from dataclasses import replace

import pytest

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Binding, ExtraInfo, PciDevice
from laneway.domain.inventory import DevType, PciFunction
from laneway.formats.definition import Format
from laneway.formats.unbound import unbound

ADDRESS = PciAddress.parse("0000:3b:00.0")


def device(driver: str | None, binding: Binding, attach: Attach, dev_type: DevType = DevType.PCI) -> PciDevice:
    function = PciFunction(address=ADDRESS, vendor_id="10de", product_id="20b0", dev_type=dev_type, driver=driver)
    return PciDevice(function=function, extra_info=ExtraInfo(binding=binding), entry=0, attach=attach)


@pytest.mark.parametrize(
    ("form", "driver", "binding", "attach", "told"),
    [
        pytest.param("libvirt", "nouveau", "laneway", "vfio", True, id="the host's driver"),
        pytest.param("libvirt", "nouveau", "operator", "vfio", True, id="an operator who has not bound it"),
        pytest.param("libvirt", "nouveau", "libvirt", "vfio", False, id="libvirt binds it"),
        pytest.param("qemu", "nouveau", "libvirt", "vfio", True, id="libvirt would bind it, but it is QEMU"),
        pytest.param("cloud-hypervisor", "nvme", "laneway", "vfio", True, id="Cloud Hypervisor binds nothing"),
        pytest.param("qemu", "vfio-pci", "laneway", "vfio", False, id="bound"),
        pytest.param("qemu", "mlx5_vfio_pci", "laneway", "vfio", False, id="bound to a variant"),
        pytest.param("qemu", None, "laneway", "vfio", True, id="without a driver, as a VF that no driver takes"),
        pytest.param("qemu", None, "operator", "vfio", False, id="no driver that is known, of an operator's"),
        pytest.param("hyperv", "nouveau", "laneway", "vfio", False, id="Hyper-V has no such drivers"),
        pytest.param("libvirt", "iavf", "laneway", "macvtap", False, id="macvtap needs the host's driver"),
        pytest.param("libvirt", "mlx5_core", "laneway", "vdpa", False, id="vDPA needs the host's driver"),
    ],
)
def test_what_is_still_to_be_bound(form: str, driver: str | None, binding: str, attach: str, told: bool) -> None:
    one = device(driver, Binding(binding), Attach(attach))
    assert unbound(Format(form), [one]) == ((one,) if told else ())


def test_a_vdpa_device_is_never_bound_however_it_was_claimed() -> None:
    one = device("mlx5_core", Binding.LANEWAY, Attach.VFIO, DevType.VDPA)
    assert unbound(Format.LIBVIRT, [one, replace(one)]) == ()


def test_what_is_prepared_needs_no_more() -> None:
    one = replace(device(None, Binding.LANEWAY, Attach.VFIO), prepared=True)
    assert unbound(Format.LIBVIRT, [one]) == ()
