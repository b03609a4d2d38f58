"""libvirt's daemon on the test host."""

import os
import select
from importlib import import_module
from pathlib import Path
from signal import SIGKILL
from typing import Any

from vm.commands import output_of

_PID = Path("/run/libvirtd.pid")


def start_libvirtd() -> Any:
    """The module of libvirt-python, once the daemon answers."""
    output_of("libvirtd", "--daemon", "--pid-file", str(_PID))
    libvirt = import_module("libvirt")
    libvirt.open("qemu:///system").close()
    return libvirt


def stop_libvirtd() -> None:
    """At once: asked to end, it may wait half a minute for nobody."""
    number = int(_PID.read_text())
    handle = os.pidfd_open(number)
    try:
        os.kill(number, SIGKILL)
        select.select([handle], [], [])
    finally:
        os.close(handle)
