"""What the entry point names. Imports nothing of the driver before it is wanted."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.hosts.hyperv.driver import HyperVHostDriver


class HyperVHostDriverFactory:
    """The driver for the machine that this runs on, or for a recording of one."""

    def unavailable(self) -> str | None:
        return None if sys.platform == "win32" else f"this machine runs {sys.platform}, not Windows"

    def __call__(self) -> "HyperVHostDriver":
        from laneway.hosts.hyperv.driver import HyperVHostDriver  # noqa: PLC0415 - late, see the module
        from laneway.hosts.hyperv.live import record  # noqa: PLC0415 - asks Windows, which a recording needs not
        from laneway.hosts.hyperv.powershell import change  # noqa: PLC0415 - likewise

        return HyperVHostDriver(record, change)

    def cannot_read(self, path: Path) -> str | None:
        if path.is_dir():
            return "a recording of a Windows host is a file"
        from laneway.hosts.hyperv.recording import looks_like_recording  # noqa: PLC0415 - late, see the module

        return looks_like_recording(path)

    def reading(self, path: Path) -> "HyperVHostDriver":
        """The driver for a recording, which is read at each discovery."""
        from laneway.hosts.hyperv.driver import HyperVHostDriver  # noqa: PLC0415 - late, see the module
        from laneway.hosts.hyperv.recording import read_recording  # noqa: PLC0415 - late, see the module

        return HyperVHostDriver(lambda: read_recording(path))
