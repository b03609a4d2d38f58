"""A host in files, and a kernel that answers writes to them as the real one does (seen on Linux 6.12).

    kernel = FakeKernel(tmp_path)
    card = kernel.sysfs.function("0000:22:00.0", "8086", "10d3", driver="e1000e", iommu_group=1)
    driver = kernel.host_driver()
    driver.apply(driver.plan(Prepare(recorded=...)), journal.append, told.append)

What a driver is for stands in ``DRIVERS``; vfio-pci takes only what its override names. Writes that
would block for ever because a process has a device open end in TimeoutError where they are bounded,
and fail the test where they are not. Time passes only while somebody waits: ``at_pause`` has what
happens then, in order. ``disturb`` is called before and after each write that is done; ``is_at_work``
tells that the files are read and written by the kernel itself.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hosts.host_tree import HostTreeBuilder
from hosts.sysfs_builder import Directory, SysfsBuilder
from laneway.domain.address import PciAddress
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.linux.changes import Means
from laneway.hosts.linux.changes.programs import Ended
from laneway.hosts.linux.changes.vf_kernel import RunningVfKernel, VfKernel

DEVICES, DRIVERS_FOLDER = "sys/bus/pci/devices", "sys/bus/pci/drivers"
BOOT_ID = "3f0c1a2b-0000-4000-8000-000000000001"
VFIO_DRIVERS = {"vfio_pci": "vfio-pci", "mlx5_vfio_pci": "mlx5_vfio_pci"}


@dataclass(frozen=True)
class FakeDriver:
    """``ids`` are the vendor and device ids that it takes; ``makes_vfs``: it has sriov_configure."""

    ids: frozenset[str] = frozenset()
    makes_vfs: bool = False


DRIVERS = {
    "e1000e": FakeDriver(frozenset({"8086:10d3"})),
    "igb": FakeDriver(frozenset({"8086:10c9"}), makes_vfs=True),
    "igbvf": FakeDriver(frozenset({"8086:10ca"})),
    "nvme": FakeDriver(frozenset({"1b36:0010"}), makes_vfs=True),
    "bochs-drm": FakeDriver(frozenset({"1234:1111"})),
    "snd_hda_intel": FakeDriver(frozenset({"8086:2668"})),
    "vfio-pci": FakeDriver(),
    "mlx5_vfio_pci": FakeDriver(),
    "pcieport": FakeDriver(),
}

_CHANGING = frozenset({"uevent", "driver_override", "sriov_numvfs", "sriov_drivers_autoprobe"})
"""The attributes whose content this kernel changes."""


class WouldBlockError(Exception):
    """The kernel would hold the writer until the device is closed."""


class FakeKernel:
    """``loaded``: the modules of drivers for guests that are loaded."""

    def __init__(self, root: Path, *, loaded: tuple[str, ...] = ("vfio_pci",)) -> None:
        self.root = root = root.resolve()
        self.host = HostTreeBuilder(root)
        self.sysfs = SysfsBuilder(root)
        self.writes: list[tuple[str, str]] = []
        self.loads: list[str] = []
        self.at_pause: list[Callable[[], object]] = []
        self.disturb: Callable[[str, bool], object] = lambda _path, _done: None
        self.seconds = 0.0
        self.is_at_work = False
        self.has_iommu = True
        self.unwilling: set[str] = set()
        """Drivers whose probe fails."""
        self.broken_resets: set[str] = set()
        self.impossible_resets: set[str] = set()
        self.refused_modules: set[str] = set()
        self.vf_kernel: VfKernel = RunningVfKernel()
        self.answers: dict[str, Ended] = {}
        """What programs answer, by what their command begins with; there are no others but modprobe."""
        self.ran: list[str] = []
        self.disks: dict[str, tuple[str, int]] = {}
        """What the driver nvme finds on functions: a disk, with so many partitions."""
        for path, text in {
            "proc/sys/kernel/random/boot_id": BOOT_ID,
            "proc/sys/kernel/osrelease": "6.12.0",
            "proc/cpuinfo": "vendor_id : GenuineIntel\n",
            "proc/interrupts": " 24: 0 0 IR-PCI-MSI 0-edge\n",
            "lib/modules/6.12.0/modules.dep": "kernel/drivers/vfio/pci/vfio-pci.ko:\n",
            "sys/class/iommu/dmar0/uevent": "",
        }.items():
            self.host.write(path, text)
        for name in DRIVERS:
            if name not in VFIO_DRIVERS.values():
                (root / DRIVERS_FOLDER / name).mkdir(parents=True)
        for module in loaded:
            (root / DRIVERS_FOLDER / VFIO_DRIVERS[module]).mkdir()

    @property
    def means(self) -> Means:
        return Means(
            writer=self,
            programs=self,
            vf_kernel=self.vf_kernel,
            forget_partition=self.forget_partition,
            clock=lambda: self.seconds,
            pause=self.pause,
        )

    def host_driver(self) -> LinuxHostDriver:
        return LinuxHostDriver(
            self.root, means=self.means, exclusive=lambda disks: dict.fromkeys(disks, False), clock=lambda: 0.0
        )

    def tree(self) -> dict[str, str]:
        """Every file and link of sysfs and of udev, with what may change of them, to tell whether all is as it was."""
        found = {}
        for folder, folders, files in (*os.walk(self.root / "sys"), *os.walk(self.root / "run")):
            for name in (*folders, *files):
                path = Path(folder, name)
                if path.is_symlink():
                    found[str(path.relative_to(self.root))] = f"-> {path.readlink()}"
                elif name in files:
                    found[str(path.relative_to(self.root))] = path.read_text() if name in _CHANGING else ""
        return found

    # what tests do to the host

    def text(self, address: str, name: str) -> str:
        return (self._device(address) / name).read_text().strip()

    def driver_of(self, address: str) -> str | None:
        link = self._device(address) / "driver"
        return link.readlink().name if link.is_symlink() else None

    def open(self, address: str, pid: int = 4711, name: str = "qemu-system-x86") -> None:
        """A process opens the function's VFIO group."""
        self.host.process(pid, name, f"/dev/vfio/{self._group(address)}")

    def close(self, pid: int = 4711) -> None:
        shutil.rmtree(self.root / f"proc/{pid}")

    def find_disk(self, address: str) -> None:
        """The driver nvme finds what is in ``disks``, if anything is."""
        if address not in self.disks:
            return
        disk, partitions = self.disks[address]
        controller = self._device(address).resolve() / "nvme/nvme0"
        for number in range(partitions + 1):
            name = f"{disk}p{number}" if number else disk
            place = controller / disk / name if number else controller / disk
            for folder in ("holders", "slaves"):
                (place / folder).mkdir(parents=True)
            (place / "dev").write_text(f"259:{number}\n")
            if number:
                (place / "partition").write_text(f"{number}\n")
            block = self.root / "sys/class/block"
            (block / name).symlink_to(os.path.relpath(place, block))
        (controller / "state").write_text("live\n")

    def boot(self, boot_id: str) -> None:
        self.host.write("proc/sys/kernel/random/boot_id", boot_id)

    # what the driver under test is given

    def pause(self, seconds: float) -> None:
        self.seconds += seconds
        if self.at_pause:
            self.at_pause.pop(0)()

    def run(self, command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None) -> Ended:
        program, *arguments = command
        if program == "modprobe":
            return self._modprobe(*arguments)
        words = " ".join(command)
        for beginning, answer in self.answers.items():
            if words.startswith(beginning):
                self.disturb(words, False)
                self.ran.append(words)
                self.disturb(words, True)
                return answer
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", program)

    def _modprobe(self, module: str) -> Ended:
        self.disturb(f"modprobe {module}", False)
        if module not in VFIO_DRIVERS or module in self.refused_modules:
            return Ended(
                status=1, output=f"modprobe: FATAL: Module {module} not found in directory /lib/modules/6.12.0"
            )
        self.loads.append(module)
        with self._working():
            self._load(VFIO_DRIVERS[module])
        self.disturb(f"modprobe {module}", True)
        return Ended(status=0)

    def write(self, path: str, value: str) -> None:
        try:
            self._write(path, value)
        except WouldBlockError as blocked:
            raise AssertionError(f"this write would block for ever: {value} to {path}") from blocked

    def write_bounded(self, path: str, value: str, seconds: float) -> None:
        try:
            self._write(path, value)
        except WouldBlockError:
            self.seconds += seconds
            raise TimeoutError(errno.ETIMEDOUT, "the kernel did not end the write in time", path) from None

    def forget_partition(self, node: str, number: int) -> None:
        disk = node.rpartition("/")[2]
        name = f"{disk}p{number}"
        self.disturb(f"forget {name}", False)
        link = self.root / f"sys/class/block/{name}"
        if not link.is_symlink():
            raise _refusal(errno.ENXIO, node)
        with self._working():
            shutil.rmtree(link.resolve())
            link.unlink()
        self.disturb(f"forget {name}", True)

    def create(self, path: str, text: str) -> None:
        self.disturb(path, False)
        self.host.write(path, text)
        self.writes.append((path, text))
        self.disturb(path, True)

    def remove(self, path: str) -> None:
        self.disturb(path, False)
        (self.root / path).unlink(missing_ok=True)
        self.writes.append((path, ""))
        self.disturb(path, True)

    # what the kernel does

    @contextmanager
    def _working(self) -> Iterator[None]:
        self.is_at_work = True
        try:
            yield
        finally:
            self.is_at_work = False

    def _load(self, driver: str) -> None:
        (self.root / DRIVERS_FOLDER / driver).mkdir(exist_ok=True)
        for name in _names(self.root / DEVICES):
            if self.driver_of(name) is None and self._matches(name, driver):
                self._bind(name, driver)

    def _write(self, path: str, value: str) -> None:
        self.disturb(path, False)
        with self._working():
            if value:  # a write of no bytes never gets to the attribute
                self._store(path, value.rstrip("\n"))
        self.writes.append((path, value))
        self.disturb(path, True)

    def _store(self, path: str, value: str) -> None:
        parts = path.split("/")
        if path == "sys/bus/pci/drivers_probe":
            self._probe(self._existing(value, errno.ENODEV))
        elif path.startswith(f"{DRIVERS_FOLDER}/") and parts[-1] in ("bind", "unbind"):
            self._driver_file(parts[-2], parts[-1], value)
        elif path.startswith(f"{DEVICES}/"):
            self._device_file(self._existing(parts[4], errno.ENOENT), parts[5], value)
        else:
            raise _refusal(errno.ENOENT, path)

    def _driver_file(self, driver: str, name: str, value: str) -> None:
        if not (self.root / DRIVERS_FOLDER / driver).is_dir():
            raise _refusal(errno.ENOENT, driver)
        address = self._existing(value, errno.ENODEV)
        if name == "unbind":
            if self.driver_of(address) != driver:
                raise _refusal(errno.ENODEV, address)
            self._unbind(address)
        elif self.driver_of(address) is not None:
            raise _refusal(errno.EBUSY, address)
        elif not self._matches(address, driver):
            raise _refusal(errno.ENODEV, address)
        elif not self._bind(address, driver):
            raise _refusal(errno.EINVAL, address)

    def _device_file(self, address: str, name: str, value: str) -> None:
        file = self._device(address) / name
        if name == "driver_override":
            file.write_text(f"{value or '(null)'}\n")
        elif name == "sriov_numvfs":
            self._set_vf_count(address, int(value))
        elif name == "reset":
            if not file.exists():
                raise _refusal(errno.ENOENT, str(file))
            if address in self.broken_resets:
                raise _refusal(errno.EIO, str(file))
            if address in self.impossible_resets:
                raise _refusal(errno.ENOTTY, str(file))
        elif name == "sriov_drivers_autoprobe" and value not in ("0", "1"):
            raise _refusal(errno.EINVAL, str(file))
        elif file.exists():
            file.write_text(f"{value}\n")
        else:
            raise _refusal(errno.ENOENT, str(file))

    def _probe(self, address: str) -> None:
        """It answers well whether or not a driver takes the function."""
        if self.driver_of(address) is None:
            for driver in _names(self.root / DRIVERS_FOLDER):
                if self._matches(address, driver) and self._bind(address, driver):
                    return

    def _matches(self, address: str, driver: str) -> bool:
        """The bus matches by the override alone where there is one, and lets no VF be taken without autoprobe."""
        override = self.text(address, "driver_override")
        if override != "(null)":
            return override == driver
        pf = self._device(address) / "physfn"
        if pf.is_symlink() and self.text(pf.readlink().name, "sriov_drivers_autoprobe") == "0":
            return False
        ids = f"{self.text(address, 'vendor')}:{self.text(address, 'device')}".replace("0x", "")
        return driver in DRIVERS and ids in DRIVERS[driver].ids

    def _bind(self, address: str, driver: str) -> bool:
        if driver in self.unwilling or (driver in VFIO_DRIVERS.values() and not self.has_iommu):
            return False
        device = self._device(address)
        folder = Directory(self.sysfs, self.root / DRIVERS_FOLDER / driver)
        folder.link(address, device)
        Directory(self.sysfs, device).link("driver", folder.path)
        (device / "uevent").write_text(f"DRIVER={driver}\n{(device / 'uevent').read_text()}")
        if driver == "nvme":
            self.find_disk(address)
        self._show_group(address)
        return True

    def _unbind(self, address: str) -> None:
        driver = self.driver_of(address)
        if driver in VFIO_DRIVERS.values() and self._is_open(address):
            raise WouldBlockError
        device = self._device(address)
        if (device / "nvme").exists():
            self._lose_disk(device.resolve() / "nvme")
        (device / "driver").unlink()
        (self.root / DRIVERS_FOLDER / str(driver) / address).unlink()
        text = (device / "uevent").read_text()
        (device / "uevent").write_text(text.removeprefix(f"DRIVER={driver}\n"))
        self._show_group(address)

    def _lose_disk(self, controllers: Path) -> None:
        for link in list((self.root / "sys/class/block").iterdir()):
            if controllers in link.resolve().parents:
                link.unlink()
        shutil.rmtree(controllers)

    def _show_group(self, address: str) -> None:
        """A group has its node as long as a member is on a driver for guests."""
        group = self._group(address)
        members = _names(self.root / f"sys/kernel/iommu_groups/{group}/devices") if group else ()
        node = self.root / f"sys/class/vfio/{group}"
        if any(self.driver_of(member) in VFIO_DRIVERS.values() for member in members):
            self.host.write(f"sys/class/vfio/{group}/dev", f"511:{group}\n")
        elif node.exists():
            shutil.rmtree(node)

    def _set_vf_count(self, address: str, count: int) -> None:
        device = self._device(address)
        now, driver = int(self.text(address, "sriov_numvfs")), self.driver_of(address)
        if count > int(self.text(address, "sriov_totalvfs")):
            raise _refusal(errno.ERANGE, address)
        if count == now:
            return
        if driver not in DRIVERS or not DRIVERS[driver].makes_vfs:
            raise _refusal(errno.ENOENT, address)
        if count and now:
            raise _refusal(errno.EBUSY, address)
        vfs = [(device / f"virtfn{index}").readlink().name for index in range(now)]
        if any(self._is_open(vf) for vf in vfs):
            raise WouldBlockError
        for index, vf in enumerate(vfs):
            self._remove_vf(vf)
            (device / f"virtfn{index}").unlink()
        (device / "sriov_numvfs").write_text(f"{count}\n")
        for index in range(count):
            self._add_vf(address, index)

    def _add_vf(self, pf: str, index: int) -> None:
        device, address = self._device(pf), PciAddress.parse(pf)
        offset, stride = int(self.text(pf, "sriov_offset")), int(self.text(pf, "sriov_stride"))
        vf = str(PciAddress(address + offset + stride * index))
        groups = {int(name) for name in _names(self.root / "sys/kernel/iommu_groups")}
        placed = self.sysfs.place(
            device.parent / vf,
            root=vf.rpartition(":")[0],
            vendor=self.text(pf, "vendor").removeprefix("0x"),
            device=self.text(pf, "sriov_vf_device"),
            class_code=self.text(pf, "class").removeprefix("0x"),
            iommu_group=min(set(range(len(groups) + 1)) - groups),
            reset_method="flr",
        )
        placed.attribute("reset", "")
        placed.link("physfn", device)
        Directory(self.sysfs, device).link(f"virtfn{index}", placed.path)
        self._probe(vf)

    def _remove_vf(self, vf: str) -> None:
        if self.driver_of(vf) is not None:
            self._unbind(vf)
        group = self._device(vf) / "iommu_group"
        shutil.rmtree(group.resolve())
        self.sysfs.remove(vf)

    def _is_open(self, address: str) -> bool:
        node = f"/dev/vfio/{self._group(address)}"
        return any(str(fd.readlink()) == node for fd in self.root.glob("proc/[0-9]*/fd/*"))

    def _group(self, address: str) -> str | None:
        link = self._device(address) / "iommu_group"
        return link.readlink().name if link.is_symlink() else None

    def _device(self, address: str) -> Path:
        return (self.root / DEVICES / address).resolve()

    def _existing(self, address: str, number: int) -> str:
        if not self._device(address).is_dir():
            raise _refusal(number, address)
        return address


def _refusal(number: int, what: str) -> OSError:
    return OSError(number, os.strerror(number), what)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
