"""Hot plug from the kernel's socket; here a pair of sockets stands for it."""

import errno
import socket
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from threading import Thread

import pytest

from domain.hosts import at
from hosts.linux.uevent_messages import message
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.debounce import LONGEST
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.linux.watch import UeventBatches, open_uevents
from laneway.interfaces.host_driver import Ability, HotplugEvent

KERNEL = (0, 1)
SOMEBODY = (4711, 1)
CARD = "/devices/pci0000:80/0000:81:00.0"
NET = message("add", f"{CARD}/net/ens1f0", "net")


class Messages(socket.socket):
    """What the kernel would send, with what netlink says of the sender."""

    senders: Iterator[object] = repeat(KERNEL)
    failure: OSError | None = None

    def recvfrom(self, size: int) -> tuple[bytes, object]:  # type: ignore[override]
        received = self.recv(size)
        if self.failure is not None:
            raise self.failure
        return received, next(self.senders)


@pytest.fixture
def ends() -> Iterator[tuple[Messages, socket.socket]]:
    kernel, listener = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    messages = Messages(fileno=listener.detach())
    with kernel, messages:
        yield messages, kernel


@pytest.fixture
def messages(ends: tuple[Messages, socket.socket]) -> Messages:
    return ends[0]


@pytest.fixture
def kernel(ends: tuple[Messages, socket.socket]) -> socket.socket:
    return ends[1]


def quick_clock() -> Iterator[float]:
    """A batch is complete after what is there."""
    moment = 0.0
    while True:
        yield moment
        moment += LONGEST


def test_events_in_a_short_time_are_one_batch_with_each_once(messages: Messages, kernel: socket.socket) -> None:
    for vf in range(3):
        kernel.send(message("add", f"/devices/pci0000:80/0000:81:02.{vf}", "pci"))
        kernel.send(message("bind", f"/devices/pci0000:80/0000:81:02.{vf}", "pci"))
    batches = UeventBatches(messages)
    assert next(batches) == tuple(HotplugEvent((at(f"0000:81:02.{vf}"),)) for vf in range(3))
    batches.close()


def test_a_batch_does_not_wait_for_ever_for_quiet(messages: Messages, kernel: socket.socket) -> None:
    clock = quick_clock()
    for _ in range(2):
        kernel.send(NET)
    batches = UeventBatches(messages, lambda: next(clock))
    assert next(batches) == (HotplugEvent((at("0000:81:00.0"),)),)
    batches.close()


def test_what_means_nothing_is_passed_over(messages: Messages, kernel: socket.socket) -> None:
    kernel.send(message("add", "/devices/virtual/net/tap0", "net"))
    kernel.send(NET)
    batches = UeventBatches(messages)
    assert next(batches) == (HotplugEvent((at("0000:81:00.0"),)),)
    batches.close()


@pytest.mark.parametrize("sender", [pytest.param(SOMEBODY, id="a process"), pytest.param("", id="no netlink")])
def test_only_the_kernel_is_believed(messages: Messages, kernel: socket.socket, sender: object) -> None:
    messages.senders = chain([sender], repeat(KERNEL))
    kernel.send(message("remove", "/devices/pci0000:80/0000:82:00.0", "pci"))
    kernel.send(NET)
    batches = UeventBatches(messages)
    assert next(batches) == (HotplugEvent((at("0000:81:00.0"),)),)
    batches.close()


def test_lost_messages_are_an_event_of_which_nothing_else_is_known(messages: Messages, kernel: socket.socket) -> None:
    messages.failure = OSError(errno.ENOBUFS, "No buffer space available")
    kernel.send(NET)
    batches = UeventBatches(messages)
    assert next(batches) == (HotplugEvent(),)
    batches.close()


def test_a_socket_that_breaks_is_raised(messages: Messages, kernel: socket.socket) -> None:
    messages.failure = OSError(errno.EBADF, "Bad file descriptor")
    kernel.send(NET)
    batches = UeventBatches(messages)
    with pytest.raises(LanewayError, match="no longer tells of hot plug") as caught:
        next(batches)
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE
    batches.close()


def test_who_waits_is_told_when_another_thread_ends_it(messages: Messages) -> None:
    batches = UeventBatches(messages)
    found: list[object] = []
    waiting = Thread(target=lambda: found.extend(batches))
    waiting.start()
    batches.close()
    batches.close()
    waiting.join(30)
    assert not waiting.is_alive()
    assert found == []
    assert messages.fileno() == -1, "the socket is closed"


def test_the_running_system_lets_anybody_listen() -> None:
    batches = LinuxHostDriver().watch()
    batches.close()
    batches.close()
    assert list(batches) == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(PermissionError(errno.EPERM, "Operation not permitted"), ErrorCode.NO_PERMISSION, id="forbidden"),
        pytest.param(OSError(errno.EPROTONOSUPPORT, "Protocol not supported"), ErrorCode.HOST_UNREACHABLE, id="none"),
    ],
)
def test_a_system_without_such_messages_says_so(
    monkeypatch: pytest.MonkeyPatch, error: OSError, code: ErrorCode
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(socket, "socket", refuse)
    with pytest.raises(LanewayError, match="does not tell of hot plug here") as caught:
        open_uevents()
    assert caught.value.code is code


def test_only_the_running_system_can_be_watched(tmp_path: Path) -> None:
    assert Ability.WATCH in LinuxHostDriver().describe().abilities
    assert Ability.WATCH not in LinuxHostDriver(tmp_path).describe().abilities
