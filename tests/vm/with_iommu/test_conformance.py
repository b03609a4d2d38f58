"""The suite for authors of drivers, on the drivers of this host as it is."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from laneway.domain.address import PciAddress
from laneway.hosts.changing_conformance import ChangingDriver, ChangingHostDriverConformance
from laneway.hosts.conformance import FactoryConformance, HostDriverConformance, WatchConformance
from laneway.hosts.libvirt import LibvirtHostDriverFactory
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.hosts.linux import LinuxHostDriver, LinuxHostDriverFactory
from laneway.interfaces.host_changes import Prepare
from laneway.interfaces.host_driver import HostDriver, HostDriverFactory, WatchingHostDriver
from vm.changing import as_it_was
from vm.devices import NVME_VFS, SLOT_0, give_back
from vm.hot_plug import wait_until_gone, wait_until_there
from vm.monitor import Monitor, address_in
from vm.vfio import opened_by_vfio

_SECONDS = 60.0
"""This host is emulated, and slow."""


@pytest.fixture
def plug(monitor: Monitor) -> Iterator[Callable[[], object]]:
    address = address_in(SLOT_0)

    def into_slot() -> None:
        monitor.plug(SLOT_0, "e1000e", "hot3")
        wait_until_there(address)

    yield into_slot
    monitor.unplug("hot3")
    wait_until_gone(address)


class TestLinux(HostDriverConformance):
    most_seconds = _SECONDS

    @pytest.fixture
    def driver(self) -> HostDriver:
        return LinuxHostDriver()


class TestLinuxChanging(ChangingHostDriverConformance):
    """With a VF of the NVMe, which no driver of the host has: what a driver makes anew, such as a MAC, is another."""

    @pytest.fixture
    def changing_driver(self, vfs: None) -> Iterator[ChangingDriver]:
        with as_it_was():
            yield LinuxHostDriver()
            give_back(NVME_VFS[0])

    @pytest.fixture
    def preparation(self, changing_driver: ChangingDriver) -> Prepare:
        return Prepare(recorded=changing_driver.discover().by_address[PciAddress.parse(NVME_VFS[0])])

    @pytest.fixture
    def open_device(self) -> Iterator[Callable[[PciAddress], object]]:
        with ExitStack() as stack:
            yield lambda address: stack.enter_context(opened_by_vfio(str(address)))


class TestLinuxWatch(WatchConformance):
    most_seconds = _SECONDS

    @pytest.fixture
    def watching_driver(self) -> WatchingHostDriver:
        return LinuxHostDriver()


class TestLinuxFactory(FactoryConformance):
    @pytest.fixture
    def factory(self) -> HostDriverFactory:
        return LinuxHostDriverFactory()


class TestLibvirt(HostDriverConformance):
    most_seconds = _SECONDS

    @pytest.fixture
    def driver(self, libvirtd: Any) -> HostDriver:
        return LibvirtHostDriver()


class TestLibvirtWatch(WatchConformance):
    most_seconds = _SECONDS

    @pytest.fixture
    def watching_driver(self, libvirtd: Any) -> WatchingHostDriver:
        return LibvirtHostDriver()


class TestLibvirtFactory(FactoryConformance):
    @pytest.fixture
    def factory(self) -> HostDriverFactory:
        return LibvirtHostDriverFactory()
