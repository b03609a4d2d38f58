"""Reading the text of a config file, with errors for people."""

import os
from pathlib import Path

from laneway.config.problems import unusable
from laneway.domain.errors import ErrorCode


def is_folder(path: Path) -> bool:
    """Whether there is a folder; false, too, where this user may not know."""
    return os.path.isdir(path)  # noqa: PTH112 - before Python 3.14 Path.is_dir raises where the user may not know


def read_text(path: Path, *, encoding: str = "utf-8-sig") -> str | None:
    """The text of the file, or None if there is no such file. ``utf-8`` keeps a byte order mark.

    Raises ConfigError where it is there and cannot be read: ``no_permission``, or
    ``invalid_config`` for what is not UTF-8, holds NUL, or is no file.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        # Windows refuses a folder as if permission were missing.
        if isinstance(error, PermissionError) and not is_folder(path):
            remedy = "run as a user that may, or name another file"
            raise unusable(str(path), "this user may not read it", remedy, ErrorCode.NO_PERMISSION) from error
        fault = f"it cannot be read ({error.strerror})"
        raise unusable(str(path), fault, "name a file that can be read") from error
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fault = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise unusable(f"{path}:{line}", fault, "save the file as UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise unusable(f"{path}:{line}", "there is a NUL byte, which is no text", "take it out")
    return text
