"""Hosts that tests of changes share, and what they do with them."""

from collections.abc import Iterable
from pathlib import Path

from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.address import PciAddress
from laneway.domain.inventory import PciFunction
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.linux.changes.programs import Ended
from laneway.interfaces.host_changes import Action, Outcome, Prepare, Release, Step

CARD = "0000:22:00.0"
DISPLAY, SOUND, PORT = "0000:23:00.0", "0000:23:00.1", "0000:20:01.0"
DISK = "0000:24:00.0"
PF, FIRST_VF, SECOND_VF = "0000:81:00.0", "0000:81:10.0", "0000:81:10.2"


def at(address: str) -> PciAddress:
    return PciAddress.parse(address)


def with_card(kernel: FakeKernel) -> FakeKernel:
    """A network card in a group of its own, which can be reset."""
    kernel.sysfs.function(CARD, "8086", "10d3", driver="e1000e", iommu_group=1).attribute("reset", "")
    return kernel


def with_display(kernel: FakeKernel) -> FakeKernel:
    """A display and its audio function in one group, with the port above them."""
    port = kernel.sysfs.function(PORT, "8086", "3420", class_code="060400", driver="pcieport", iommu_group=2)
    kernel.sysfs.function(
        DISPLAY, "1234", "1111", below=port, class_code="038000", driver="bochs-drm", iommu_group=2
    ).attribute("reset", "")
    kernel.sysfs.function(
        SOUND,
        "8086",
        "2668",
        below=port,
        class_code="040300",
        driver="snd_hda_intel",
        iommu_group=2,
        reset_method=None,
    )
    return kernel


def with_pf(kernel: FakeKernel, *, vfs: int = 0) -> FakeKernel:
    """A PF that can have 7 VFs, as the 82576 has them."""
    pf = kernel.sysfs.function(PF, "8086", "10c9", driver="igb", iommu_group=3, total_vfs=7, vf_device="10ca")
    pf.attribute("sriov_offset", "128").attribute("sriov_stride", "2").attribute("reset", "")
    if vfs:
        kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", str(vfs))
        kernel.writes.clear()
    return kernel


def with_disk(kernel: FakeKernel) -> FakeKernel:
    """An NVMe disk with two partitions, on a host with udev and nvme-cli."""
    kernel.sysfs.function(DISK, "1b36", "0010", class_code="010802", driver="nvme", iommu_group=4).attribute(
        "reset", ""
    )
    kernel.disks[DISK] = ("nvme0n1", 2)
    kernel.find_disk(DISK)
    kernel.host.write("dev/nvme0", "")
    kernel.host.write("run/udev/control", "")
    (kernel.root / "run/udev/rules.d").mkdir()
    kernel.answers |= {
        "udevadm": Ended(status=0),
        "nvme id-ctrl": Ended(status=0, output='{"oacs": 2, "fna": 0}'),
        "nvme list-ns": Ended(status=0, output="[   0]:0x1"),
        "nvme format": Ended(status=0),
    }
    return kernel


def any_kernel(root: Path) -> FakeKernel:
    """A host with all of these."""
    return with_pf(with_display(with_card(FakeKernel(root))))


def function(driver: LinuxHostDriver, address: str) -> PciFunction:
    return driver.discover().by_address[at(address)]


def prepare(driver: LinuxHostDriver, address: str, *siblings: str, **more: object) -> Prepare:
    return Prepare(recorded=function(driver, address), siblings=frozenset(map(at, siblings)), **more)  # type: ignore[arg-type]


def release(address: str, taken: Iterable[Step], *, keep: bool = False) -> Release:
    return Release(address=at(address), taken=tuple(taken), keep=keep)


def do(driver: LinuxHostDriver, action: Action) -> Outcome:
    return driver.apply(driver.plan(action), lambda _step: None, lambda _words: None)
