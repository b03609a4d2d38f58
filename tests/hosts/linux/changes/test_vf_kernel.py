"""How the kernel is asked about VFs; the socket is played."""

import socket
from typing import Self

import pytest

from hosts.linux.changes.vf_kernel_messages import acknowledgement, new_link, vf_info
from laneway.hosts.linux.changes import vf_messages
from laneway.hosts.linux.changes.vf_kernel import RunningVfKernel
from laneway.hosts.linux.changes.vf_messages import VfState


class PlayedSocket(socket.socket):
    """Takes a question and gives one answer."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.sent: list[bytes] = []
        self.is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed = True

    def send(self, data: object, *_: object) -> int:
        assert isinstance(data, bytes)
        self.sent.append(data)
        return len(data)

    def recv(self, size: int, *_: object) -> bytes:
        return self.answer[:size]


def test_the_vfs_of_an_interface_are_asked_for() -> None:
    link = PlayedSocket(new_link([vf_info(4, mac="02:00:00:00:00:0a")]))
    states = RunningVfKernel(lambda: link).read(3)
    assert states[4].mac == "02:00:00:00:00:0a"
    assert link.sent == [vf_messages.ask(3, 1)]
    assert link.is_closed


def test_a_setting_is_made_and_acknowledged() -> None:
    link = PlayedSocket(acknowledgement())
    (setting,) = vf_messages.settings(1, VfState(trust=True)).values()
    RunningVfKernel(lambda: link).set_one(3, setting)
    assert link.sent == [vf_messages.set_one(3, 1, setting)]


def test_a_refusal_is_the_kernels_error() -> None:
    link = PlayedSocket(acknowledgement(95))
    with pytest.raises(OSError, match="Operation not supported") as refused:
        RunningVfKernel(lambda: link).set_one(3, b"")
    assert refused.value.errno == 95
    assert link.is_closed


def test_an_answer_that_is_cut_off_is_an_error() -> None:
    with pytest.raises(OSError, match="cut off"):
        RunningVfKernel(lambda: PlayedSocket(b"\x10")).read(3)
