"""Tells the service manager how the service is: systemd's protocol of sd_notify(3), nothing elsewhere."""

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

_NEVER = float("inf")


class Supervisor:
    """The service manager that started this process, if it wants to be told.

    ``environment`` says so: NOTIFY_SOCKET names a datagram socket, WATCHDOG_USEC how many
    microseconds it waits for a sign of life, WATCHDOG_PID from whom. Without the first nothing is
    ever sent. A manager that cannot be reached is not worth failing for, nor one
    that does not read worth waiting for.
    """

    def __init__(self, environment: Mapping[str, str], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._address = _socket_address(environment.get("NOTIFY_SOCKET", ""))
        self._between_signs = _watchdog_seconds(environment) / 2
        self._monotonic = monotonic
        self._next_sign = 0.0

    def ready(self, summary: str) -> None:
        """The service has started, or is done with reloading; ``summary`` is one line about it."""
        self._send(f"READY=1\nSTATUS={summary}")

    def reloading(self) -> None:
        """The config is being read anew; ``ready`` is said after it."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def summary(self, summary: str) -> None:
        """How it stands, in one line."""
        self._send(f"STATUS={summary}")

    def stopping(self) -> None:
        """The service is about to end."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """A sign of life for the watchdog, sent as often as it needs one (half of its time, as sd_notify(3) has it)."""
        now = self._monotonic()
        if self._between_signs < _NEVER and now >= self._next_sign:
            self._next_sign = now + self._between_signs
            self._send("WATCHDOG=1")

    def expect_work(self, seconds: float) -> None:
        """Signs of life may be missing for so long from now on; 0: no longer than usual."""
        if self._between_signs < _NEVER:
            self._send(f"WATCHDOG_USEC={round((2 * self._between_signs + seconds) * 1_000_000)}")

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
            sender.setblocking(False)
            sender.sendto(message.encode(), self._address)


def _socket_address(name: str) -> str | None:
    """The address of the socket: a path, or with ``@`` a name in Linux' abstract namespace. No other kind is used."""
    if name.startswith("@") and hasattr(socket, "AF_UNIX"):
        return f"\0{name[1:]}"
    return name if name.startswith("/") and hasattr(socket, "AF_UNIX") else None


def _watchdog_seconds(environment: Mapping[str, str]) -> float:
    interval, process = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    if not interval.isdecimal() or (process and process != str(os.getpid())):
        return _NEVER
    return int(interval) / 1_000_000
