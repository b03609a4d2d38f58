"""The suite for authors of drivers, on the drivers of this host as it is."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from laneway.hosts.conformance import FactoryConformance, HostDriverConformance, WatchConformance
from laneway.hosts.libvirt import LibvirtHostDriverFactory
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.hosts.linux import LinuxHostDriver, LinuxHostDriverFactory
from laneway.interfaces.host_driver import HostDriver, HostDriverFactory, WatchingHostDriver
from vm.devices import SLOT_0
from vm.hot_plug import wait_until_gone, wait_until_there
from vm.monitor import Monitor, address_in

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
