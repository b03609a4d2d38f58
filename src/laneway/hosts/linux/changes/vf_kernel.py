"""Asks the running kernel for the settings of VFs, and sets them."""

import errno
import socket
from collections.abc import Callable, Mapping
from typing import Protocol

from laneway.hosts.linux import netlink
from laneway.hosts.linux.changes import vf_messages
from laneway.hosts.linux.changes.vf_messages import VfState

# include/uapi/linux/netlink.h, include/linux/socket.h
_NETLINK_ROUTE = 0
_SOL_NETLINK, _NETLINK_CAP_ACK, _NETLINK_EXT_ACK = 270, 10, 11

_SECONDS = 30.0
"""A driver may have to ask its firmware, or the VF, before it answers."""

_LARGEST_ANSWER = 1 << 18
"""The list of VFs is at most 64 KiB, for the length of an attribute has 16 bits."""

_ONLY_QUESTION = 1
"""The sequence number: each question has a socket of its own, on which nothing but its answer comes."""


class VfKernel(Protocol):
    """What tells and makes the settings of VFs. Interfaces go by their index; errors are OSError."""

    def read(self, interface: int) -> Mapping[int, VfState]:
        """The VFs of an interface by their index; empty where its driver tells of none."""

    def set_one(self, interface: int, setting: bytes) -> None:
        """Makes one of ``vf_messages.settings``."""


class RunningVfKernel:
    """The kernel that this runs on, as the network namespace of this process shows it."""

    def __init__(self, connect: Callable[[], socket.socket] | None = None) -> None:
        self._connect = connect or _connect

    def read(self, interface: int) -> Mapping[int, VfState]:
        return vf_messages.read(self._ask(vf_messages.ask(interface, _ONLY_QUESTION)))

    def set_one(self, interface: int, setting: bytes) -> None:
        self._ask(vf_messages.set_one(interface, _ONLY_QUESTION, setting))

    def _ask(self, question: bytes) -> netlink.Message:
        with self._connect() as link:
            link.send(question)
            answer = next(netlink.messages(link.recv(_LARGEST_ANSWER)), None)
        if answer is None:
            raise OSError(errno.EBADMSG, "the kernel's answer is cut off")
        netlink.raise_refusal(answer)
        return answer


def _connect() -> socket.socket:
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_ROUTE)
    try:
        link.settimeout(_SECONDS)
        for option in (_NETLINK_CAP_ACK, _NETLINK_EXT_ACK):
            link.setsockopt(_SOL_NETLINK, option, 1)
    except OSError:
        link.close()
        raise
    return link
