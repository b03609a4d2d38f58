"""The memory ranges of devices, by CfgMgr32. Thin: it reads, and decides nothing. Works on Windows only."""

from collections.abc import Iterator
from ctypes import byref, c_ulong, c_void_p, create_string_buffer
from typing import Any

from laneway.hosts.hyperv.raw_values import decode_memory
from laneway.hosts.hyperv.windows_library import load

_ALLOCATED_CONFIG = 2
_MEMORY, _LARGE_MEMORY = 1, 7
"""ResType_Mem and ResType_MemLarge (cfgmgr32.h)."""


def read_memory(instance_id: str) -> list[object] | None:
    """The memory ranges that a device has now; None where it has no configuration, as when it is disabled."""
    library = load("cfgmgr32")
    device, config = c_ulong(), c_void_p()
    if library.CM_Locate_DevNodeW(byref(device), instance_id, c_ulong(0)):
        return None
    if library.CM_Get_First_Log_Conf(byref(config), device, c_ulong(_ALLOCATED_CONFIG)):
        return None
    try:
        found = [data for kind in (_MEMORY, _LARGE_MEMORY) for data in _resources(library, config, kind)]
        return [decode_memory(data) for data in found]
    finally:
        library.CM_Free_Log_Conf_Handle(config)


def _resources(library: Any, config: c_void_p, kind: int) -> Iterator[bytes]:
    """The resources of one kind; each handle leads to the next, and is freed then."""
    at, following = config, c_void_p()
    while not library.CM_Get_Next_Res_Des(byref(following), at, c_ulong(kind), None, c_ulong(0)):
        if at is not config:
            library.CM_Free_Res_Des_Handle(at)
        at, following = following, c_void_p()
        size = c_ulong()
        library.CM_Get_Res_Des_Data_Size(byref(size), at, c_ulong(0))
        data = create_string_buffer(size.value)
        if not library.CM_Get_Res_Des_Data(at, data, size, c_ulong(0)):
            yield data.raw
    if at is not config:
        library.CM_Free_Res_Des_Handle(at)
