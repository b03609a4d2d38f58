"""Hot-plug events of node devices."""

from threading import Thread

import pytest

from hosts.libvirt.fake_libvirt import FakeLibvirt, libvirtError
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.hosts.libvirt.events import NodeDeviceEvents, event_of
from laneway.interfaces.host_driver import HotplugEvent

URI = "qemu:///system"


def at(address: str) -> HotplugEvent:
    return HotplugEvent((PciAddress.parse(address),))


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("pci_0000_3b_00_0", at("0000:3b:00.0")),
        ("pci_10000_e1_1f_7", at("10000:e1:1f.7")),
        ("pci_computer", HotplugEvent()),
        ("net_ens1_02_00_00_00_00_01", HotplugEvent()),
        ("vdpa_vdpa0", HotplugEvent()),
        ("usb_1_1", None),
        ("scsi_host3", None),
    ],
)
def test_the_event_of_a_node_device(name: str, event: HotplugEvent | None) -> None:
    assert event_of(name) == event


def test_events_come_in_batches(libvirt: FakeLibvirt) -> None:
    events = LibvirtHostDriver(URI).watch()
    for name in ("pci_0000_3b_00_0", "usb_1_1", "net_ens1", "pci_0000_3b_00_0"):
        libvirt.happen(name, 0, 0)
    assert next(iter(events)) == (at("0000:3b:00.0"), HotplugEvent())
    libvirt.happen("pci_0000_3c_00_0", 1, 0)
    assert next(events) == (at("0000:3c:00.0"),)
    events.close()


def test_both_kinds_of_events_are_asked_for_and_a_dead_peer_is_found(libvirt: FakeLibvirt) -> None:
    NodeDeviceEvents(URI).close()
    assert libvirt.calls == [
        ("virEventRegisterDefaultImpl",),
        ("openReadOnly", URI),
        ("nodeDeviceEventRegisterAny", 0),
        ("nodeDeviceEventRegisterAny", 1),
        ("setKeepAlive", 5, 6),
        ("virEventRemoveTimeout", 7),
        ("close",),
    ]


def test_another_thread_may_end_it(libvirt: FakeLibvirt) -> None:
    events = NodeDeviceEvents(URI)
    seen: list[tuple[HotplugEvent, ...]] = []
    reader = Thread(target=lambda: seen.extend(events))
    reader.start()
    libvirt.happen("net_ens1", 0, 0)
    while not seen:
        assert reader.is_alive()
    events.close()
    reader.join(timeout=30)
    assert not reader.is_alive()
    assert seen == [(HotplugEvent(),)]


def test_after_its_end_there_are_no_more_and_it_may_be_ended_again(libvirt: FakeLibvirt) -> None:
    events = NodeDeviceEvents(URI)
    libvirt.happen("net_ens1", 0, 0)
    events.close()
    events.close()
    assert list(events) == []
    assert libvirt.calls.count(("close",)) == 1


def test_a_broken_connection_is_an_error(libvirt: FakeLibvirt) -> None:
    events = NodeDeviceEvents(URI)
    assert libvirt.on_loss is not None
    libvirt.run(lambda: libvirt.on_loss and libvirt.on_loss(None, 0, None))
    with pytest.raises(LanewayError, match="the connection to libvirt at qemu:///system broke") as caught:
        next(events)
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE
    events.close()


@pytest.mark.parametrize("call", ["openReadOnly", "nodeDeviceEventRegisterAny"])
def test_a_libvirt_that_cannot_be_watched(libvirt: FakeLibvirt, call: str) -> None:
    libvirt.refuse[call] = libvirtError("no support")
    with pytest.raises(LanewayError, match="does not answer: no support"):
        NodeDeviceEvents(URI)


def test_an_event_loop_that_fails_is_an_error(libvirt: FakeLibvirt) -> None:
    events = NodeDeviceEvents(URI)
    libvirt.refuse["virEventRunDefaultImpl"] = libvirtError("poll failed")
    with pytest.raises(LanewayError, match="poll failed"):
        next(events)
    events.close()


def test_a_libvirt_in_this_process_has_no_connection_to_lose(libvirt: FakeLibvirt) -> None:
    libvirt.is_remote = False
    events = NodeDeviceEvents(URI)
    assert ("setKeepAlive", 5, 6) not in libvirt.calls
    libvirt.happen("net_ens1", 0, 0)
    assert next(events) == (HotplugEvent(),)
    events.close()
