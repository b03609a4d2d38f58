"""Files that an option names, or stdin."""

import sys
from pathlib import Path

from laneway.domain.errors import ErrorCode, LanewayError


def read_input(option: str, file: str) -> bytes:
    """All of the file; ``-`` is stdin. Raises LanewayError(usage) or LanewayError(no_permission)."""
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.USAGE
        message = f"{option} {file!r} cannot be read: {error.strerror}; name a file, or - for stdin"
        raise LanewayError(code, message, {"file": file}) from error
