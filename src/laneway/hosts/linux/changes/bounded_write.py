"""Writes that may never come back: the kernel holds the writer until whoever has the device open closes it.

A process of its own writes, so that this one goes on when the time is over. A signal does not end a
writer that the kernel holds so; it ends by itself once the device is closed, and its write is done then.
"""

import errno
import os
import subprocess
import sys
from threading import Thread

_PROGRAM = """
import os, sys
try:
    file = os.open(sys.argv[1], os.O_WRONLY)
    os.write(file, os.fsencode(sys.argv[2]))
except OSError as error:
    print(error.errno)
"""


def write_bounded(path: str, value: str, seconds: float) -> None:
    """Writes as ``write`` does. Raises OSError, and TimeoutError where the write did not end in time."""
    writer = _start(path, value)
    try:
        told, _ = writer.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _give_up(writer)
        raise TimeoutError(errno.ETIMEDOUT, f"the kernel did not end the write within {seconds:g} s", path) from None
    except BaseException:
        # Such as Ctrl-C: what is taken back now has to come after the write, not before it.
        _let_end(writer, seconds)
        raise
    if told.strip():
        number = int(told)
        raise OSError(number, os.strerror(number), path)
    if writer.returncode != 0:
        raise OSError(errno.EIO, f"the process that writes ended with status {writer.returncode}", path)


def _start(path: str, value: str) -> "subprocess.Popen[str]":
    """In a session of its own: a signal for ours is none for the writer."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, path, value],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def _let_end(writer: "subprocess.Popen[str]", seconds: float) -> None:
    try:
        writer.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _give_up(writer)


def _give_up(writer: "subprocess.Popen[str]") -> None:
    writer.kill()
    Thread(target=writer.communicate, daemon=True).start()  # it may end much later, and is waited for then
