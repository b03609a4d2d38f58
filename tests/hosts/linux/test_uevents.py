"""What the kernel's messages about devices mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.hosts import at
from hosts.linux.uevent_messages import message
from laneway.hosts.linux.uevents import hotplug_event
from laneway.interfaces.host_driver import HotplugEvent

ROOT = "/devices/pci0000:80"
CARD = f"{ROOT}/0000:80:01.0/0000:81:00.0"


@pytest.mark.parametrize("action", ["add", "remove", "change", "bind", "unbind"])
def test_a_function_changed(action: str) -> None:
    sent = message(action, CARD, "pci", PCI_CLASS="20000", PCI_ID="8086:1572", PCI_SLOT_NAME="0000:81:00.0")
    assert hotplug_event(sent) == HotplugEvent((at("0000:81:00.0"),))


@pytest.mark.parametrize(
    ("path", "subsystem", "address"),
    [
        pytest.param(f"{CARD}/net/ens1f0", "net", "0000:81:00.0", id="an interface of a function"),
        pytest.param(f"{CARD}/virtio3/net/eth0", "net", "0000:81:00.0", id="an interface with a bus between"),
        pytest.param(f"{ROOT}/0000:80:01.0/0000:81:00.2/vdpa0", "vdpa", "0000:81:00.2", id="a vDPA device of a VF"),
        pytest.param(
            "/devices/pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0",
            "pci",
            "10000:01:00.0",
            id="a function in a domain of its own behind another",
        ),
    ],
)
def test_the_function_nearest_to_the_device_is_meant(path: str, subsystem: str, address: str) -> None:
    assert hotplug_event(message("add", path, subsystem)) == HotplugEvent((at(address),))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(message("add", "/devices/virtual/net/tap0", "net"), id="an interface of a guest"),
        pytest.param(message("add", f"{CARD}/net/ens1f0/queues/rx-0", "queues"), id="a queue"),
        pytest.param(message("add", f"{CARD}/0000:81:00.0:pcie001", "pci_express"), id="a port service"),
        pytest.param(message("add", "/devices/pci0000:80/pci_bus/0000:80", "pci_bus"), id="a bus"),
        pytest.param(message("add", ROOT, "pci"), id="no function in the path"),
        pytest.param(message("add", "/devices/pci0000:80/0000:80:1f.8", "pci"), id="a function that none can be"),
        pytest.param(b"libudev\0\xfe\xed\xca\xfe" + bytes(40), id="what udev passes on"),
        pytest.param(b"add@" + CARD.encode(), id="no properties"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_everything_else_means_nothing(sent: bytes) -> None:
    assert hotplug_event(sent) is None


@given(st.binary(max_size=200), st.binary(max_size=60))
def test_no_message_is_a_failure(noise: bytes, path: bytes) -> None:
    hotplug_event(noise)
    hotplug_event(b"add@/devices/" + path + b"\0SUBSYSTEM=pci\0" + noise)
