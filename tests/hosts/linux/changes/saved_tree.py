"""The files of a made-up host, put back as they were: cheaper than making the host again."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_KEPT = ("sys", "run", "dev")
"""What changes of a host write, and what the kernel changes by that."""


class SavedTree:
    """The files, links and folders below ``root`` as they are when it is made."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._saved = {path: _entry(path) for path in _paths(root)}

    def put_back(self) -> None:
        for path in sorted(set(_paths(self._root)) - self._saved.keys()):
            _remove(path)
        for path, entry in self._saved.items():
            if _entry(path) != entry:
                _remove(path)
                _make(path, entry)


@dataclass(frozen=True)
class Entry:
    """A file with its text, a link with its target, a folder, or nothing."""

    kind: str
    content: bytes = b""


def _paths(root: Path) -> list[Path]:
    """Folders before what is in them."""
    return [
        Path(folder, name)
        for kept in _KEPT
        for folder, folders, files in os.walk(root / kept)
        for name in (*folders, *files)
    ]


def _entry(path: Path) -> Entry:
    if path.is_symlink():
        return Entry("link", bytes(path.readlink()))
    if path.is_file():
        return Entry("file", path.read_bytes())
    return Entry("folder" if path.is_dir() else "nothing")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _make(path: Path, entry: Entry) -> None:
    match entry.kind:
        case "link":
            path.symlink_to(os.fsdecode(entry.content))
        case "file":
            path.write_bytes(entry.content)
        case "folder":
            path.mkdir()
