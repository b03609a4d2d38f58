"""The conformance suite, and what is special about this driver."""

import pytest
from laneway_freebsd import FreeBsdHostDriver, FreeBsdHostDriverFactory, run_pciconf

from laneway.hosts.conformance import (
    BrokenDeviceConformance,
    FactoryConformance,
    HostDriverConformance,
    UnreachableHostConformance,
)

LIST = """\
hostb0@pci0:0:0:0:\tclass=0x060000 rev=0x02 hdr=0x00 vendor=0x8086 device=0x29c0 subvendor=0x1af4 subdevice=0x1100
    vendor     = 'Intel Corporation'
    class      = bridge
ppt0@pci0:129:0:0:\tclass=0x020000 rev=0x01 hdr=0x00 vendor=0x8086 device=0x1521 subvendor=0x8086 subdevice=0x0001
    device     = 'I350 Gigabit Network Connection'
none3@pci1:2:31:7:\tclass=0x030000 rev=0xa1 hdr=0x00 vendor=0x10de device=0x20b0 subvendor=0x10de subdevice=0x134f
"""
OLD = "em0@pci0:0:25:0:\tclass=0x020000 card=0x11001af4 chip=0x100e8086 rev=0x03 hdr=0x00\n"
BROKEN = "none9@pci0:5:0:0:\tclass=0x020000 rev=0x03 hdr=0x00\n"


class TestFreeBsd(HostDriverConformance):
    @pytest.fixture
    def driver(self) -> FreeBsdHostDriver:
        return FreeBsdHostDriver(lambda: LIST + OLD)


class TestBrokenDevice(BrokenDeviceConformance):
    @pytest.fixture
    def driver_with_broken_device(self) -> FreeBsdHostDriver:
        return FreeBsdHostDriver(lambda: LIST + BROKEN)


class TestNoHost(UnreachableHostConformance):
    @pytest.fixture
    def unreachable_driver(self, monkeypatch: pytest.MonkeyPatch) -> FreeBsdHostDriver:
        monkeypatch.setenv("PATH", "/nowhere")
        return FreeBsdHostDriver(run_pciconf)


class TestFactory(FactoryConformance):
    @pytest.fixture
    def factory(self) -> FreeBsdHostDriverFactory:
        return FreeBsdHostDriverFactory()


def test_what_is_read() -> None:
    found = {str(one.address): one for one in FreeBsdHostDriver(lambda: LIST + OLD).discover().functions}
    assert list(found) == ["0000:00:00.0", "0000:00:19.0", "0000:81:00.0", "0001:02:1f.7"]
    assert [one.driver for one in found.values()] == ["hostb", "em", "ppt", None]
    old = found["0000:00:19.0"]
    assert (old.vendor_id, old.product_id, old.subsystem_vendor_id, old.subsystem_id) == (
        "8086",
        "100e",
        "1af4",
        "1100",
    )


def test_a_bus_that_there_cannot_be_is_noted() -> None:
    inventory = FreeBsdHostDriver(lambda: LIST.replace("pci0:129", "pci0:300")).discover()
    assert [problem.address for problem in inventory.problems] == ["0:300:0:0"]
