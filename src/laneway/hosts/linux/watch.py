"""Hot plug on Linux: the kernel's own messages about devices, from a netlink socket.

The kernel sends them to the multicast group 1 of NETLINK_KOBJECT_UEVENT (lib/kobject_uevent.c),
and to every user who listens. No udev is needed, which containers and small systems lack.
"""

import select
import socket
import time
from collections.abc import Callable
from errno import ENOBUFS
from threading import Lock
from typing import Self

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.debounce import next_batch
from laneway.hosts.linux.uevents import hotplug_event
from laneway.interfaces.host_driver import HotplugEvent

_NETLINK_KOBJECT_UEVENT = 15
_KERNEL_GROUP = 1
_KERNEL_PORT = 0
_MESSAGE_SIZE = 1 << 14
"""More than the largest message (UEVENT_BUFFER_SIZE and a path)."""
_BUFFER_SIZE = 1 << 22
"""Of the socket, in bytes: room for the messages of many VFs at once."""


def open_uevents() -> socket.socket:
    """A socket that gets the kernel's messages. Raises LanewayError(host_unreachable) or (no_permission)."""
    try:
        messages = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_KOBJECT_UEVENT)
        messages.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_SIZE)
        messages.bind((0, _KERNEL_GROUP))
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.HOST_UNREACHABLE
        message = f"the kernel does not tell of hot plug here ({error.strerror}); the host is looked at in intervals"
        raise LanewayError(code, message, {"reason": error.strerror}) from error
    return messages


class UeventBatches:
    """Batches of events of PCI functions, until it is closed, which any thread may do."""

    def __init__(self, messages: socket.socket, clock: Callable[[], float] = time.monotonic) -> None:
        self._messages = messages
        self._messages.setblocking(False)
        self._clock = clock
        self._ended, self._end = socket.socketpair()
        self._iterating = Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[HotplugEvent, ...]:
        with self._iterating:
            batch = None if self._is_closed else next_batch(self._take, self._clock)
        if batch is None:
            raise StopIteration
        return batch

    def close(self) -> None:
        """Ends it: who waits for the next batch is told that there is none. May be called again."""
        self._end.close()
        with self._iterating:
            self._ended.close()
            self._messages.close()

    @property
    def _is_closed(self) -> bool:
        return self._messages.fileno() < 0

    def _take(self, seconds: float | None) -> HotplugEvent | None:
        end = None if seconds is None else self._clock() + seconds
        while True:
            left = None if end is None else max(end - self._clock(), 0)
            ready, _, _ = select.select([self._messages, self._ended], [], [], left)
            if not ready or self._ended in ready:
                return None
            event = self._receive()
            if event is not None:
                return event

    def _receive(self) -> HotplugEvent | None:
        """The event of the next message; without addresses where messages were lost: anything may have changed."""
        try:
            message, sender = self._messages.recvfrom(_MESSAGE_SIZE)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno != ENOBUFS:
                raise LanewayError(
                    ErrorCode.HOST_UNREACHABLE,
                    f"the kernel no longer tells of hot plug ({error.strerror})",
                    {"reason": error.strerror},
                ) from error
            return HotplugEvent()
        return hotplug_event(message) if _is_of_kernel(sender) else None


def _is_of_kernel(sender: object) -> bool:
    """Whether no process sent it: netlink tells the sender's port and groups, and the kernel's port is 0."""
    return isinstance(sender, tuple) and sender[0] == _KERNEL_PORT
