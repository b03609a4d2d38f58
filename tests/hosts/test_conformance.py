"""The suite for authors of drivers, run on ours."""

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contracts.examples import FULL_INVENTORY
from hosts.libvirt import node_xml
from hosts.libvirt.changing_host import ChangingHost, Fn
from hosts.libvirt.fake_libvirt import FakeLibvirt, Object, install, libvirtError
from hosts.linux.changes.kernels import DISPLAY, SOUND, prepare, with_display, with_pf
from hosts.linux.changes.kernels import PF as CARD_WITH_VFS
from hosts.linux.fake_kernel import FakeKernel
from hosts.sysfs_builder import SysfsBuilder
from laneway.domain.address import PciAddress
from laneway.domain.inventory import PciFunction
from laneway.hosts.changing_conformance import ChangingDriver, ChangingHostDriverConformance
from laneway.hosts.conformance import (
    BrokenDeviceConformance,
    FactoryConformance,
    HostDriverConformance,
    UnreachableHostConformance,
    VanishingDeviceConformance,
    WatchConformance,
)
from laneway.hosts.libvirt import LibvirtHostDriverFactory
from laneway.hosts.libvirt.connection import Described
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.hosts.linux import LinuxHostDriver, LinuxHostDriverFactory
from laneway.hosts.linux.functions import Surroundings, read_functions
from laneway.hosts.linux.listing import ListedFunction
from laneway.hosts.snapshot import SnapshotHostDriver, SnapshotHostDriverFactory
from laneway.interfaces.host_changes import Prepare
from laneway.interfaces.host_driver import HostDriver, WatchingHostDriver

PF, VDPA, VF, GONE = "0000:81:00.0", "0000:81:00.1", "0000:81:00.2", "0000:82:00.0"


# linux


@pytest.fixture
def sysfs(tmp_path: Path) -> SysfsBuilder:
    host = SysfsBuilder(tmp_path)
    card = host.function(PF, driver="mlx5_core", total_vfs=8, iommu_group=1, numa_node=0)
    card.netdev("ens1f0np0")
    card.vf(VDPA, "101e", iommu_group=2).vdpa("vdpa0")
    card.vf(VF, "101e", iommu_group=3).netdev("ens1v1")
    host.numa_node(0, cpus="0-3", distances="10", socket=0)
    return host


class TestLinux(HostDriverConformance):
    @pytest.fixture
    def driver(self, sysfs: SysfsBuilder) -> HostDriver:
        return LinuxHostDriver(sysfs.root)


class TestLinuxWithABrokenDevice(BrokenDeviceConformance):
    @pytest.fixture
    def driver_with_broken_device(self, sysfs: SysfsBuilder) -> HostDriver:
        sysfs.broken(GONE)
        return LinuxHostDriver(sysfs.root)


class TestLinuxWithAVanishingDevice(VanishingDeviceConformance):
    vanishing = pytest.fixture(lambda self: PciAddress.parse(GONE))

    @pytest.fixture
    def driver_with_vanishing_device(self, sysfs: SysfsBuilder, monkeypatch: pytest.MonkeyPatch) -> HostDriver:
        sysfs.function(GONE)

        def read_when_one_is_gone(
            listed: list[ListedFunction], around: Surroundings, _pause: object
        ) -> tuple[PciFunction, ...]:
            sysfs.remove(GONE)
            return read_functions(listed, around)

        monkeypatch.setattr("laneway.hosts.linux.discovery.read_functions", read_when_one_is_gone)
        return LinuxHostDriver(sysfs.root)


class TestLinuxWithoutAHost(UnreachableHostConformance):
    @pytest.fixture
    def unreachable_driver(self, tmp_path: Path) -> HostDriver:
        return LinuxHostDriver(tmp_path)


class TestLinuxThatIsChanged(ChangingHostDriverConformance):
    @pytest.fixture
    def kernel(self, tmp_path: Path) -> FakeKernel:
        return with_pf(with_display(FakeKernel(tmp_path)), vfs=2)

    @pytest.fixture
    def changing_driver(self, kernel: FakeKernel) -> ChangingDriver:
        return kernel.host_driver()

    @pytest.fixture(params=[(DISPLAY, SOUND), (CARD_WITH_VFS,)], ids=["a group", "a PF with VFs"])
    def preparation(self, kernel: FakeKernel, request: pytest.FixtureRequest) -> Prepare:
        return prepare(kernel.host_driver(), *request.param)

    @pytest.fixture
    def open_device(self, kernel: FakeKernel) -> Callable[[PciAddress], object]:
        return lambda address: kernel.open(str(address))


class KernelMessages:
    """A socket whose messages come from the kernel, as netlink tells by the sender's port."""

    def __init__(self) -> None:
        self.kernel, self._ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def fileno(self) -> int:
        return self._ours.fileno()

    def setblocking(self, flag: bool) -> None:
        self._ours.setblocking(flag)

    def recvfrom(self, size: int) -> tuple[bytes, tuple[int, int]]:
        return self._ours.recv(size), (0, 1)

    def close(self) -> None:
        self._ours.close()
        self.kernel.close()


class TestLinuxWatch(WatchConformance):
    @pytest.fixture
    def messages(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[KernelMessages]:
        messages = KernelMessages()
        monkeypatch.setattr("laneway.hosts.linux.watch.open_uevents", lambda: messages)
        yield messages
        messages.close()

    @pytest.fixture
    def watching_driver(self, messages: KernelMessages) -> WatchingHostDriver:
        return LinuxHostDriver()

    @pytest.fixture
    def plug(self, messages: KernelMessages) -> Callable[[], object]:
        message = f"add@/devices/pci0000:80/{GONE}\0ACTION=add\0SUBSYSTEM=pci\0".encode()
        return lambda: messages.kernel.send(message)


class TestLinuxFactory(FactoryConformance):
    factory = pytest.fixture(lambda self: LinuxHostDriverFactory())


# snapshot


class TestSnapshot(HostDriverConformance):
    driver = pytest.fixture(lambda self: SnapshotHostDriver(FULL_INVENTORY))


class TestSnapshotWithoutAHost(UnreachableHostConformance):
    @pytest.fixture
    def unreachable_driver(self, tmp_path: Path) -> HostDriver:
        return SnapshotHostDriverFactory().reading(tmp_path / "nowhere.json")


class TestSnapshotFactory(FactoryConformance):
    factory = pytest.fixture(lambda self: SnapshotHostDriverFactory())


# libvirt

CARD = (
    node_xml.function(PF, node_xml.virt_functions([VDPA, VF], most=8), "<numa node='0'/>", driver="mlx5_core"),
    node_xml.function(VDPA, node_xml.phys_function(PF)),
    node_xml.function(VF, node_xml.phys_function(PF)),
    node_xml.interface("ens1f0np0", on=PF),
    node_xml.interface("ens1v1", on=VF),
    node_xml.vdpa("vdpa0", on=VDPA, chardev="/dev/vhost-vdpa-0"),
)


def libvirt_of(*devices: Described) -> LibvirtHostDriver:
    domains = [node_xml.domain("db-1", VF), node_xml.domain("db-2", VDPA), node_xml.domain("db-3", VDPA)]
    return LibvirtHostDriver(connect=node_xml.FakeHost(*devices, domains=domains).connect)


class TestLibvirt(HostDriverConformance):
    driver = pytest.fixture(lambda self: libvirt_of(*CARD))


class TestLibvirtWithABrokenDevice(BrokenDeviceConformance):
    driver_with_broken_device = pytest.fixture(lambda self: libvirt_of(*CARD, node_xml.function(GONE, ids="")))


class TestLibvirtWithAVanishingDevice(VanishingDeviceConformance):
    vanishing = pytest.fixture(lambda self: PciAddress.parse(GONE))

    @pytest.fixture
    def driver_with_vanishing_device(self, monkeypatch: pytest.MonkeyPatch) -> HostDriver:
        libvirt = install(monkeypatch)
        gone = Object(node_xml.node_name(GONE), libvirtError(code=FakeLibvirt.VIR_ERR_NO_NODE_DEVICE))
        libvirt.devices = [*(Object(one.name, one.xml or "") for one in CARD), gone]
        return LibvirtHostDriver()


class TestLibvirtThatCannotBeReached(UnreachableHostConformance):
    @pytest.fixture
    def unreachable_driver(self, monkeypatch: pytest.MonkeyPatch) -> HostDriver:
        install(monkeypatch).refuse["openReadOnly"] = libvirtError("no daemon")
        return LibvirtHostDriver()


class TestLibvirtThatIsNotInstalled(UnreachableHostConformance):
    @pytest.fixture
    def unreachable_driver(self, monkeypatch: pytest.MonkeyPatch) -> HostDriver:
        monkeypatch.setitem(sys.modules, "libvirt", None)
        return LibvirtHostDriver()


class TestLibvirtWatch(WatchConformance):
    @pytest.fixture
    def libvirt(self, monkeypatch: pytest.MonkeyPatch) -> FakeLibvirt:
        return install(monkeypatch)

    @pytest.fixture
    def watching_driver(self, libvirt: FakeLibvirt) -> WatchingHostDriver:
        return LibvirtHostDriver()

    @pytest.fixture
    def plug(self, libvirt: FakeLibvirt) -> Callable[[], object]:
        return lambda: libvirt.happen(node_xml.node_name(GONE), 0, 0)


class TestLibvirtThatChangesAHost(ChangingHostDriverConformance):
    @pytest.fixture
    def libvirt(self) -> ChangingHost:
        group = {PF: Fn(driver="nvidia", group=12), GONE: Fn(driver="snd_hda_intel", group=12, klass="0x040300")}
        return ChangingHost(functions=group)

    @pytest.fixture
    def changing_driver(self, libvirt: ChangingHost) -> ChangingDriver:
        return LibvirtHostDriver(connect=libvirt.connect, connect_to_change=libvirt.connect_to_change)

    @pytest.fixture
    def preparation(self, changing_driver: ChangingDriver) -> Prepare:
        recorded = changing_driver.discover().by_address[PciAddress.parse(PF)]
        return Prepare(recorded=recorded, siblings=frozenset({PciAddress.parse(GONE)}))

    @pytest.fixture
    def open_device(self, libvirt: ChangingHost) -> Callable[[PciAddress], object]:
        def start(address: PciAddress) -> None:
            libvirt.domains = [node_xml.domain("db-1", str(address))]

        return start


class TestLibvirtFactory(FactoryConformance):
    factory = pytest.fixture(lambda self: LibvirtHostDriverFactory())
