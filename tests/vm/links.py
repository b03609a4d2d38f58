"""Interfaces of the test host, with the cable that QEMU plugs into each."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vm.commands import output_of
from vm.devices import interface_of

_LINK_GROUP = 1
"""RTMGRP_LINK: messages about interfaces (rtnetlink(7))."""


@contextmanager
def up(*addresses: str) -> Iterator[str]:
    """Interfaces of functions that are up, and as they were in the end; gives the name of the first."""
    names = [interface_of(address) for address in addresses]
    for name in names:
        output_of("ip", "link", "set", name, "up")
    try:
        yield names[0]
    finally:
        for name in names:
            output_of("ip", "link", "set", name, "nomaster")
            output_of("ip", "addr", "flush", "dev", name)
            output_of("ip", "link", "set", name, "down")


@contextmanager
def connected(address: str) -> Iterator[str]:
    """An interface that is up and has a link to the other end."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as changes:
        changes.bind((0, _LINK_GROUP))
        with up(address) as name:
            while Path("/sys/class/net", name, "operstate").read_text() != "up\n":
                changes.recv(1 << 16)
            yield name
