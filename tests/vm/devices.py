"""The devices of the test host, as machine/topology.sh plugs them, and what may be done to them through sysfs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vm.commands import output_of

NVME_PF = "0000:21:00.0"
NVME = "0000:22:00.0"
GPU = "0000:23:00.0"
GPU_AUDIO = "0000:23:00.1"
NIC_PF = "0000:81:00.0"
NIC_PORT_0 = "0000:82:00.0"
NIC_PORT_1 = "0000:82:00.1"
NVME_WITHOUT_ACS = "0000:83:00.0"
USB = "0000:86:00.0"
NIC_ON_SWITCH = "0000:87:00.0"
EDU = "0000:01:01.0"
OLD_NIC = "0000:01:02.0"
NIC_VFS = ("0000:81:10.0", "0000:81:10.2", "0000:81:10.4")
NVME_VFS = ("0000:21:00.1", "0000:21:00.2", "0000:21:00.3", "0000:21:00.4")

SLOT_0, SLOT_1 = "slot24", "slot88"
"""Empty slots on the NUMA nodes 0 and 1, by QEMU's names of their ports.

For a card with an I/O BAR in the second the kernel takes I/O space from those beside it: VFIO cannot open them then.
"""

DEVICES = Path("/sys/bus/pci/devices")


def settle() -> None:
    """Waits until udev has handled what the kernel told it.

    It may say so before it has heard of the interfaces that come of a new driver, whose names it changes.
    """
    for _ in range(1000):
        output_of("udevadm", "settle", "--timeout=120")
        unnamed = list(DEVICES.glob("*/net/eth*"))
        if not unnamed:
            return
    raise AssertionError(f"udev has not named {unnamed}")


def make_vfs(pf: str, count: int) -> None:
    """VFs with all that comes of them."""
    (DEVICES / pf / "sriov_numvfs").write_text(f"{count}\n")
    settle()


def driver_of(address: str) -> str | None:
    link = DEVICES / address / "driver"
    return link.readlink().name if link.exists() else None


def group_of(address: str) -> int:
    return int((DEVICES / address / "iommu_group").readlink().name)


def interface_of(address: str) -> str:
    (name,) = (path.name for path in (DEVICES / address / "net").iterdir())
    return name


def disk_of(address: str) -> str:
    """The name of the disk of an NVMe; of one that others could lead to as well, that which can be opened."""
    controller = controller_of(address)
    (name,) = (path.name for path in Path("/sys/block").iterdir() if _is_opened(path) and _stands_on(path, controller))
    return name


def controller_of(address: str) -> str:
    (name,) = (path.name for path in (DEVICES / address / "nvme").iterdir())
    return name


def _is_opened(disk: Path) -> bool:
    return Path("/dev", disk.name).exists()


def _stands_on(disk: Path, controller: str) -> bool:
    """Below the controller, or with several paths below the subsystem that has it."""
    place = disk.resolve()
    return controller in place.parts or (place.parent / controller).exists()


def bind(address: str, driver: str) -> None:
    """Binds a function to a driver, whatever it is bound to."""
    if driver == "vfio-pci":
        output_of("modprobe", driver)
    device = DEVICES / address
    (device / "driver_override").write_text(f"{driver}\n")
    if driver_of(address) is not None:
        (device / "driver" / "unbind").write_text(address)
    Path("/sys/bus/pci/drivers_probe").write_text(address)
    assert driver_of(address) == driver
    settle()


def give_back(address: str) -> None:
    """To the driver that the kernel chooses."""
    device = DEVICES / address
    (device / "driver_override").write_text("\n")
    if driver_of(address) is not None:
        (device / "driver" / "unbind").write_text(address)
    Path("/sys/bus/pci/drivers_probe").write_text(address)
    settle()


@contextmanager
def bound_to_vfio(*addresses: str) -> Iterator[None]:
    for address in addresses:
        bind(address, "vfio-pci")
    try:
        yield
    finally:
        for address in addresses:
            give_back(address)
