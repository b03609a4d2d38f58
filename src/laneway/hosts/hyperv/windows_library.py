"""The libraries of Windows, loaded when they are needed: the modules that call them can be imported anywhere."""

import ctypes
import sys
from typing import Any

from laneway.domain.errors import ErrorCode, LanewayError


def load(name: str) -> Any:
    """The functions of a library, such as ``setupapi``. Raises LanewayError(host_unreachable) where there is none."""
    if sys.platform != "win32":
        raise LanewayError(
            ErrorCode.HOST_UNREACHABLE, f"{name} is a library of Windows; this machine runs {sys.platform}"
        )
    return ctypes.WinDLL(name, use_last_error=True)


def last_failure(what: str) -> LanewayError:
    """The failure of the call before, as an error of ours."""
    if sys.platform != "win32":
        raise LanewayError(ErrorCode.INTERNAL_ERROR, "no library of Windows was called on this machine")
    failure = ctypes.WinError(ctypes.get_last_error())
    return LanewayError(ErrorCode.HOST_UNREACHABLE, f"{what}: {failure.strerror}", {"winerror": failure.winerror})
