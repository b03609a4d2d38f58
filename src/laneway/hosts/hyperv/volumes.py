"""Volumes of Windows and the disks that they are on, by kernel32. Thin: it reads, and decides nothing.

Works on Windows only. Disks and volumes are opened without the right to read them, which needs no
privilege (fileapi.h, winioctl.h).
"""

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ctypes import byref, c_ulong, c_void_p, c_wchar, create_string_buffer, create_unicode_buffer
from typing import Any

from laneway.hosts.hyperv.raw_values import decode_texts
from laneway.hosts.hyperv.recording import Disk, Volume
from laneway.hosts.hyperv.windows_library import load

_INVALID_HANDLE = c_void_p(-1).value
_SHARE_ALL, _OPEN_EXISTING = 0x7, 3
_DEVICE_NUMBER, _VOLUME_EXTENTS = 0x2D1080, 0x560000
"""IOCTL_STORAGE_GET_DEVICE_NUMBER and IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS."""
_EXTENT = struct.Struct("<I4xqq")
_FIRST_EXTENT = 8
_ANSWER_SIZE = 4096


def read_disks(interfaces: Iterable[tuple[str, str]]) -> tuple[Disk, ...]:
    """The numbers of disks, by the path and the instance id of each. One that does not answer is left out."""
    kernel = _kernel()
    numbered = ((_device_number(kernel, path), instance_id) for path, instance_id in interfaces)
    return tuple(Disk(number=number, instance_id=instance) for number, instance in numbered if number is not None)


def read_volumes() -> tuple[Volume, ...]:
    """All volumes, mounted or not."""
    kernel = _kernel()
    return tuple(
        Volume(name=name, mounts=_mounts(kernel, name), disks=_extents(kernel, name)) for name in _names(kernel)
    )


def _kernel() -> Any:
    kernel = load("kernel32")
    kernel.CreateFileW.restype = c_void_p
    kernel.FindFirstVolumeW.restype = c_void_p
    return kernel


def _names(kernel: Any) -> Iterator[str]:
    text = create_unicode_buffer(512)
    search = kernel.FindFirstVolumeW(text, c_ulong(len(text)))
    if search == _INVALID_HANDLE:
        return
    try:
        yield text.value
        while kernel.FindNextVolumeW(c_void_p(search), text, c_ulong(len(text))):
            yield text.value
    finally:
        kernel.FindVolumeClose(c_void_p(search))


def _mounts(kernel: Any, volume: str) -> tuple[str, ...]:
    needed = c_ulong()
    kernel.GetVolumePathNamesForVolumeNameW(volume, None, c_ulong(0), byref(needed))
    buffer = (c_wchar * max(needed.value, 1))()
    if not kernel.GetVolumePathNamesForVolumeNameW(volume, buffer, needed, byref(needed)):
        return ()
    return tuple(decode_texts(bytes(buffer)))


def _extents(kernel: Any, volume: str) -> tuple[int, ...] | None:
    answer = _ask(kernel, volume.rstrip("\\"), _VOLUME_EXTENTS)
    if answer is None:
        return None
    (count,) = struct.unpack_from("<I", answer)
    numbers = {_EXTENT.unpack_from(answer, _FIRST_EXTENT + index * _EXTENT.size)[0] for index in range(count)}
    return tuple(sorted(numbers))


def _device_number(kernel: Any, path: str) -> int | None:
    """STORAGE_DEVICE_NUMBER: the type of device, then its number."""
    answer = _ask(kernel, path, _DEVICE_NUMBER)
    return None if answer is None else int(struct.unpack_from("<II", answer)[1])


def _ask(kernel: Any, path: str, question: int) -> bytes | None:
    with _opened(kernel, path) as handle:
        answer, got = create_string_buffer(_ANSWER_SIZE), c_ulong()
        asked = handle is not None and kernel.DeviceIoControl(
            handle, c_ulong(question), None, c_ulong(0), answer, c_ulong(_ANSWER_SIZE), byref(got), None
        )
        return answer.raw if asked else None


@contextmanager
def _opened(kernel: Any, path: str) -> Iterator[c_void_p | None]:
    handle = kernel.CreateFileW(path, c_ulong(0), c_ulong(_SHARE_ALL), None, c_ulong(_OPEN_EXISTING), c_ulong(0), None)
    if handle == _INVALID_HANDLE:
        yield None
        return
    try:
        yield c_void_p(handle)
    finally:
        kernel.CloseHandle(c_void_p(handle))
