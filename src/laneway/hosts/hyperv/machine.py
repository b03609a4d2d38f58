"""The machine and its edition of Windows, by the registry and kernel32. Thin: it reads, and decides nothing.

Works on Windows only.
"""

import socket
import sys
from ctypes import byref, c_ulong, create_string_buffer

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import NumaNode
from laneway.hosts.hyperv.processors import parse_numa_nodes
from laneway.hosts.hyperv.recording import Machine
from laneway.hosts.hyperv.windows_library import load

_CONTROL = r"SYSTEM\CurrentControlSet\Control"
_HYPERV_SERVICE = r"SYSTEM\CurrentControlSet\Services\vmms"
"""The Virtual Machine Management Service, which the role Hyper-V installs."""
_ACPI = int.from_bytes(b"ACPI", "big")
_ALL_RELATIONS, _NODES_IN_FULL = 0xFFFF, 6


def read_machine() -> Machine:
    product_type = registry_value(rf"{_CONTROL}\ProductOptions", "ProductType")
    return Machine(
        product_type=product_type if isinstance(product_type, str) else None,
        hyperv_role=_has_key(_HYPERV_SERVICE),
        acpi_tables=_acpi_tables(),
    )


def read_host_name() -> str:
    return socket.gethostname()


def read_release() -> str:
    """The version, such as ``10.0.20348``."""
    if sys.platform != "win32":
        raise _not_windows()
    version = sys.getwindowsversion()
    return f"{version.major}.{version.minor}.{version.build}"


def read_numa_nodes() -> tuple[NumaNode, ...]:
    """The nodes; () where Windows does not tell them. Older versions know no relation of nodes in full."""
    return parse_numa_nodes(_relations(_ALL_RELATIONS) + _relations(_NODES_IN_FULL))


def network_guid(driver_key: str) -> str | None:
    """The GUID of the network adapter with this driver key, such as ``{4d36e972-...}\\0007``."""
    guid = registry_value(rf"{_CONTROL}\Class\{driver_key}", "NetCfgInstanceId")
    return guid if isinstance(guid, str) else None


def registry_value(key: str, name: str) -> object:
    """A value below HKEY_LOCAL_MACHINE; None where there is none."""
    if sys.platform != "win32":
        raise _not_windows()
    import winreg  # noqa: PLC0415 - there on Windows only

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            return winreg.QueryValueEx(opened, name)[0]
    except OSError:
        return None


def _has_key(key: str) -> bool:
    if sys.platform != "win32":
        raise _not_windows()
    import winreg  # noqa: PLC0415 - there on Windows only

    try:
        winreg.CloseKey(winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key))
    except FileNotFoundError:
        return False
    return True


def _acpi_tables() -> tuple[str, ...] | None:
    """The signatures of the firmware's ACPI tables; None where Windows lists none, as a firmware always has some."""
    kernel = load("kernel32")
    needed = kernel.EnumSystemFirmwareTables(c_ulong(_ACPI), None, c_ulong(0))
    if not needed:
        return None
    buffer = create_string_buffer(needed)
    size = kernel.EnumSystemFirmwareTables(c_ulong(_ACPI), buffer, c_ulong(needed))
    raw = buffer.raw[: min(size, needed)]
    signatures = (raw[at : at + 4] for at in range(0, len(raw) - 3, 4))
    return tuple(sorted({signature.decode("ascii", "replace") for signature in signatures})) or None


def _relations(kind: int) -> bytes:
    kernel = load("kernel32")
    needed = c_ulong()
    kernel.GetLogicalProcessorInformationEx(c_ulong(kind), None, byref(needed))
    buffer = create_string_buffer(needed.value or 1)
    if not kernel.GetLogicalProcessorInformationEx(c_ulong(kind), buffer, byref(needed)):
        return b""
    return buffer.raw[: needed.value]


def _not_windows() -> LanewayError:
    return LanewayError(ErrorCode.HOST_UNREACHABLE, f"this machine runs {sys.platform}, not Windows")
