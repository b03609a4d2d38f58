"""The one place where files of a host are written."""

import os
from pathlib import Path
from typing import Protocol

from laneway.hosts.linux.changes.bounded_write import write_bounded


class Writer(Protocol):
    """Writes attributes of sysfs, and files below /run. Paths are below the root of the host."""

    def write(self, path: str, value: str) -> None:
        """The value in one write: the kernel takes each write as a whole. Raises OSError."""

    def write_bounded(self, path: str, value: str, seconds: float) -> None:
        """The same for a write that may never end. Raises OSError, and TimeoutError after the time."""

    def create(self, path: str, text: str) -> None:
        """A file that is no attribute, with its folder; one that is there gets the text. Raises OSError."""

    def remove(self, path: str) -> None:
        """Removes such a file, if it is there. Raises OSError."""


class SysfsWriter:
    """Below ``root``. An attribute that is not there is not made."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, path: str, value: str) -> None:
        file = os.open(self._root / path, os.O_WRONLY)
        try:
            os.write(file, os.fsencode(value))
        finally:
            os.close(file)

    def write_bounded(self, path: str, value: str, seconds: float) -> None:
        write_bounded(str(self._root / path), value, seconds)

    def create(self, path: str, text: str) -> None:
        file = self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def remove(self, path: str) -> None:
        (self._root / path).unlink(missing_ok=True)
