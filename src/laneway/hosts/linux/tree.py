"""The files of a host below a root directory: the running system's, or a captured tree's."""

# Paths are strings and the calls those of ``os``: a large host has thousands of them, and pathlib
# costs several times as much.
# ruff: noqa: PTH110, PTH115, PTH123, PTH208

import os
from pathlib import Path


class HostTree:
    """Reads below ``root``. Paths are relative to it, such as ``sys/class/net``.

    What is absent, unreadable or vanishes meanwhile is None; nothing is raised.
    """

    __slots__ = ("root",)

    def __init__(self, root: Path) -> None:
        self.root = str(root).rstrip("/") + "/"

    def names(self, path: str) -> list[str] | None:
        """The entries of a directory, sorted."""
        try:
            return sorted(os.listdir(self.root + path))
        except OSError:
            return None

    def link(self, path: str) -> str | None:
        """Where a symbolic link points to, as it is written."""
        try:
            return os.readlink(self.root + path)
        except OSError:
            return None

    def text(self, path: str) -> str | None:
        """The content of a file; bytes that are not UTF-8 are kept as surrogates."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def data(self, path: str) -> bytes | None:
        """The content of a file as bytes."""
        try:
            with open(self.root + path, "rb") as file:
                return file.read()
        except OSError:
            return None

    def head(self, path: str, size: int) -> str:
        """The first ``size`` bytes of a file, or fewer; empty where it cannot be read.

        For tables of /proc that the kernel makes as they are read, and that are long on large hosts.
        """
        try:
            with open(self.root + path, "rb", buffering=0) as file:
                return file.read(size).decode("utf-8", "replace")
        except OSError:
            return ""

    def exists(self, path: str) -> bool:
        return os.path.exists(self.root + path)

    def real(self, path: str) -> str:
        """The path with all symbolic links followed, as the system calls it (not relative to the root)."""
        return os.path.realpath(self.root + path)
