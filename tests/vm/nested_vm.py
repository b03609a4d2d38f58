"""Virtual machines of the test host itself: QEMU processes that hold devices by VFIO."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

_STARTED = "QMP"


@contextmanager
def running_vm(name: str, *addresses: str) -> Iterator[int]:
    """Runs while the block does, with its processors stopped; gives the id of its process."""
    devices = (f"vfio-pci,host={address},rombar=0" for address in addresses)
    arguments = [argument for device in devices for argument in ("-device", device)]
    process = subprocess.Popen(
        [
            *("qemu-system-x86_64", "-name", f"guest={name}", "-machine", "q35", "-accel", "tcg", "-m", "64", "-S"),
            *("-display", "none", "-nodefaults", "-qmp", "stdio", *arguments),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert _STARTED in process.stdout.readline()  # it greets once its devices are there
            yield process.pid
        finally:
            process.terminate()
