"""Events through libvirt's own event loop.

The test driver makes and destroys virtual ports of HBAs only, so here these count as what matters.
"""

from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from laneway.hosts.libvirt.events import NodeDeviceEvents
from laneway.interfaces.host_driver import HotplugEvent

DEFAULT = "test:///default"
PORT = """<device><parent>scsi_host1</parent><capability type='scsi_host'><capability type='fc_host'>
<wwnn>2000000012341234</wwnn><wwpn>1000000012341234</wwpn></capability></capability></device>"""


@pytest.fixture
def events() -> Iterator[NodeDeviceEvents]:
    watched = NodeDeviceEvents(DEFAULT, lambda name: HotplugEvent() if name.startswith("scsi_host") else None)
    yield watched
    watched.close()


def test_a_device_that_comes_and_one_that_goes_are_events(libvirt: Any, events: NodeDeviceEvents) -> None:
    host = libvirt.open(DEFAULT)
    port = host.nodeDeviceCreateXML(PORT, 0)
    assert next(events) == (HotplugEvent(),)
    port.destroy()
    assert next(events) == (HotplugEvent(),)
    host.close()


def test_another_thread_may_end_it(events: NodeDeviceEvents) -> None:
    seen: list[object] = []
    reader = Thread(target=lambda: seen.extend(events))
    reader.start()
    events.close()
    reader.join(timeout=60)
    assert not reader.is_alive()
    assert seen == []


def test_what_does_not_matter_ends_no_wait(libvirt: Any) -> None:
    ours = NodeDeviceEvents(DEFAULT)
    host = libvirt.open(DEFAULT)
    host.nodeDeviceCreateXML(PORT, 0).destroy()
    reader = Thread(target=lambda: list(ours))
    reader.start()
    assert reader.is_alive()
    ours.close()
    reader.join(timeout=60)
    assert not reader.is_alive()
    host.close()
