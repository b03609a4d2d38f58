"""Hot-plug events of libvirt's node devices."""

import re
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, Self

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.debounce import next_batch
from laneway.hosts.libvirt.connection import failure, load_libvirt, open_connection
from laneway.interfaces.host_driver import HotplugEvent

_PCI_NAME = re.compile(r"pci_([0-9a-f]{4,8})_([0-9a-f]{2})_([01][0-9a-f])_([0-7])")
_OURS = ("pci_", "net_", "vdpa_")
_NEVER = -1
_KEEP_ALIVE = (5, 6)
"""A remote libvirt that is silent for so many seconds, so many times, is gone."""


def event_of(name: str) -> HotplugEvent | None:
    """What an event of the node device ``name`` means; None for kinds that do not matter here. Pure."""
    if not name.startswith(_OURS):
        return None
    found = _PCI_NAME.fullmatch(name)
    return (
        HotplugEvent() if found is None else HotplugEvent((PciAddress.of(*(int(part, 16) for part in found.groups())),))
    )


class NodeDeviceEvents:
    """Batches of events, until it is closed, which any thread may do.

    It runs libvirt's default event loop, of which a process has one: a process watches one libvirt
    at a time. Raises LanewayError(host_unreachable) or (no_permission), also from ``next``, where
    the connection breaks.
    """

    def __init__(self, uri: str, meaning: Callable[[str], HotplugEvent | None] = event_of) -> None:
        self._uri = uri
        self._meaning = meaning
        self._libvirt = load_libvirt()
        self._libvirt.virEventRegisterDefaultImpl()
        self._pending: deque[HotplugEvent] = deque()
        self._is_closed = False
        self._is_lost = False
        self._is_due = False
        self._iterating = Lock()
        self._connection: Any = open_connection(self._libvirt, uri)
        self._timer: int = self._libvirt.virEventAddTimeout(_NEVER, self._on_time, None)
        try:
            self._subscribe()
        except self._libvirt.libvirtError as error:
            self.close()
            raise failure(self._libvirt, uri, error) from error

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[HotplugEvent, ...]:
        with self._iterating:
            batch = next_batch(self._take, time.monotonic)
        if batch is None:
            raise StopIteration
        return batch

    def close(self) -> None:
        """Ends it: who waits for the next batch is told that there is none. May be called again."""
        self._is_closed = True
        self._libvirt.virEventUpdateTimeout(self._timer, 0)
        with self._iterating:
            if self._connection is not None:
                self._libvirt.virEventRemoveTimeout(self._timer)
                with suppress(self._libvirt.libvirtError):
                    self._connection.close()
                self._connection = None

    def _subscribe(self) -> None:
        for event in (
            self._libvirt.VIR_NODE_DEVICE_EVENT_ID_LIFECYCLE,
            self._libvirt.VIR_NODE_DEVICE_EVENT_ID_UPDATE,
        ):
            self._connection.nodeDeviceEventRegisterAny(None, event, self._on_event, None)
        with suppress(self._libvirt.libvirtError):  # what is in this process itself has no connection to lose
            self._connection.registerCloseCallback(self._on_loss, None)
            self._connection.setKeepAlive(*_KEEP_ALIVE)

    def _take(self, seconds: float | None) -> HotplugEvent | None:
        if self._is_closed:
            return None
        self._is_due = False
        self._libvirt.virEventUpdateTimeout(self._timer, _NEVER if seconds is None else int(seconds * 1000) + 1)
        while not (self._pending or self._is_due or self._is_closed):
            if self._is_lost:
                raise LanewayError(
                    ErrorCode.HOST_UNREACHABLE, f"the connection to libvirt at {self._uri} broke", {"uri": self._uri}
                )
            try:
                self._libvirt.virEventRunDefaultImpl()
            except self._libvirt.libvirtError as error:
                raise failure(self._libvirt, self._uri, error) from error
        return self._pending.popleft() if self._pending else None

    def _on_event(self, _connection: object, device: Any, *_what: object) -> None:
        event = self._meaning(device.name())
        if event is not None:
            self._pending.append(event)

    def _on_time(self, _timer: int, _context: object) -> None:
        self._is_due = True

    def _on_loss(self, _connection: object, _reason: int, _context: object) -> None:
        self._is_lost = True
