"""The network adapters of Windows, by iphlpapi. Thin: it reads, and decides nothing.

Works on Windows only. Structures are those of iptypes.h and netioapi.h, on 64 bits.
"""

import ctypes
import socket
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_ubyte, c_ulong, c_ulonglong, c_ushort, c_void_p, c_wchar_p
from typing import Any

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.hyperv.recording import Adapter
from laneway.hosts.hyperv.windows_library import load

_ANY_FAMILY = 0
_WITH_GATEWAYS = 0x80
_WITHOUT_ANYCAST_MULTICAST_DNS = 0x02 | 0x04 | 0x08
_OVERFLOW, _NO_DATA = 111, 232
_FIRST_SIZE, _TRIES = 64 * 1024, 5
_UP = 1
_UNKNOWN_SPEED = (1 << 64) - 1


class _SocketAddress(ctypes.Structure):
    _fields_ = (("address", c_void_p), ("length", c_int))


class _Address(ctypes.Structure):
    """IP_ADAPTER_UNICAST_ADDRESS and IP_ADAPTER_GATEWAY_ADDRESS, as far as they agree."""


_Address._fields_ = (("header", c_ulonglong), ("following", POINTER(_Address)), ("socket", _SocketAddress))


class _Adapter(ctypes.Structure):
    """IP_ADAPTER_ADDRESSES, as far as it is needed."""


_Adapter._fields_ = (
    ("header", c_ulonglong),
    ("following", POINTER(_Adapter)),
    ("name", c_char_p),
    ("unicast", POINTER(_Address)),
    ("anycast", c_void_p),
    ("multicast", c_void_p),
    ("dns_servers", c_void_p),
    ("dns_suffix", c_wchar_p),
    ("description", c_wchar_p),
    ("friendly_name", c_wchar_p),
    ("mac", c_ubyte * 8),
    ("mac_length", c_ulong),
    ("flags", c_ulong),
    ("mtu", c_ulong),
    ("kind", c_ulong),
    ("status", c_int),
    ("index_v6", c_ulong),
    ("zones", c_ulong * 16),
    ("prefix", c_void_p),
    ("transmit_speed", c_ulonglong),
    ("receive_speed", c_ulonglong),
    ("wins_servers", c_void_p),
    ("gateways", POINTER(_Address)),
    ("metric_v4", c_ulong),
    ("metric_v6", c_ulong),
    ("luid", c_ulonglong),
)


class _InterfaceRow(ctypes.Structure):
    """MIB_IF_ROW2; what comes after the addresses is not looked at."""

    _fields_ = (
        ("luid", c_ulonglong),
        ("index", c_ulong),
        ("guid", c_ubyte * 16),
        ("alias", c_ushort * 257),
        ("description", c_ushort * 257),
        ("mac_length", c_ulong),
        ("mac", c_ubyte * 32),
        ("permanent_mac", c_ubyte * 32),
        ("rest", c_ubyte * 228),
    )


def read_adapters() -> tuple[Adapter, ...]:
    """All adapters with their addresses. Raises LanewayError(host_unreachable) where Windows does not list them."""
    library = load("iphlpapi")
    buffer = _adapter_list(library)
    adapters = ctypes.cast(buffer, POINTER(_Adapter)) if buffer is not None else None
    return tuple(_adapter(library, raw) for raw in _chain(adapters))


def _adapter_list(library: Any) -> Any:
    size = c_ulong(_FIRST_SIZE)
    for _ in range(_TRIES):
        buffer = ctypes.create_string_buffer(size.value)
        status = library.GetAdaptersAddresses(
            c_ulong(_ANY_FAMILY), c_ulong(_WITH_GATEWAYS | _WITHOUT_ANYCAST_MULTICAST_DNS), None, buffer, byref(size)
        )
        if status == 0:
            return buffer
        if status == _NO_DATA:
            return None
        if status != _OVERFLOW:
            break
    raise LanewayError(
        ErrorCode.HOST_UNREACHABLE, f"Windows does not list its network adapters (error {status})", {"status": status}
    )


def _chain(first: Any) -> Iterator[Any]:
    while first:
        yield first.contents
        first = first.contents.following


def _adapter(library: Any, raw: _Adapter) -> Adapter:
    speed = raw.transmit_speed
    return Adapter(
        guid=raw.name.decode("ascii", "replace"),
        alias=raw.friendly_name or raw.description or raw.name.decode("ascii", "replace"),
        description=raw.description,
        mac=_mac(bytes(raw.mac[: raw.mac_length])),
        permanent_mac=_permanent_mac(library, raw.luid),
        speed_bps=None if speed in (0, _UNKNOWN_SPEED) else speed,
        up=raw.status == _UP,
        addresses=tuple(filter(None, (_text(found.socket) for found in _chain(raw.unicast)))),
        has_gateway=bool(raw.gateways),
    )


def _permanent_mac(library: Any, luid: int) -> str | None:
    """The address that the card came with, from MIB_IF_ROW2."""
    row = _InterfaceRow(luid=luid)
    return None if library.GetIfEntry2(byref(row)) else _mac(bytes(row.permanent_mac[: row.mac_length]))


def _mac(raw: bytes) -> str | None:
    return raw.hex(":") if len(raw) == 6 and any(raw) else None


def _text(address: _SocketAddress) -> str | None:
    """SOCKADDR_IN and SOCKADDR_IN6 (ws2def.h, ws2ipdef.h)."""
    raw = ctypes.string_at(address.address, address.length) if address.address else b""
    family = int.from_bytes(raw[:2], "little")
    if family == socket.AF_INET and len(raw) >= 8:
        return socket.inet_ntop(socket.AF_INET, raw[4:8])
    return socket.inet_ntop(socket.AF_INET6, raw[8:24]) if len(raw) >= 24 else None
