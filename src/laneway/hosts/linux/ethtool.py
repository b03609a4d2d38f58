"""Features and permanent addresses of the network interfaces of the running system, by ethtool's ioctl.

Layouts: include/uapi/linux/ethtool.h. Nothing here needs a privilege.
"""

import array
import fcntl
import socket
import struct
from collections.abc import Mapping
from types import TracebackType
from typing import Self

_SIOCETHTOOL = 0x8946
_GSTRINGS = 0x1B
_GPERMADDR = 0x20
_GSSET_INFO = 0x37
_GFEATURES = 0x3A

_FEATURE_STRINGS = 4
_STRING_SIZE = 32
_MAC_SIZE = 6
_BITS = 32

_KERNEL_NAMES: Mapping[str, tuple[str, ...]] = {
    "rx": ("rx-checksum",),
    "tx": (
        *("tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6"),
        *("tx-checksum-fcoe-crc", "tx-checksum-sctp"),
    ),
    "sg": ("tx-scatter-gather", "tx-scatter-gather-fraglist"),
    "tso": (
        *("tx-tcp-segmentation", "tx-tcp-ecn-segmentation"),
        *("tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation"),
    ),
    "gso": ("tx-generic-segmentation",),
    "gro": ("rx-gro",),
    "lro": ("rx-lro",),
    "rxvlan": ("rx-vlan-hw-parse",),
    "txvlan": ("tx-vlan-hw-insert",),
    "ntuple": ("rx-ntuple-filter",),
    "rxhash": ("rx-hashing",),
    "txudptnl": ("tx-udp_tnl-segmentation",),
}
"""libvirt's names of features, and those of the kernel of which one suffices for each."""


class Ethtool:
    """Asks the kernel. What it does not answer is None; only making one raises OSError."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._names: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def features(self, interface: str) -> frozenset[str] | None:
        """The features that are on, in libvirt's names."""
        names = self._feature_names(interface)
        words = -(-len(names) // _BITS)
        # For each 32 features: available, requested, active, never changed.
        reply = self._ask(interface, struct.pack("=II", _GFEATURES, words), 16 * words)
        if reply is None or not words:
            return None
        active = [struct.unpack_from("=I", reply, 8 + 16 * word + 8)[0] for word in range(words)]
        on = {name for bit, name in enumerate(names) if active[bit // _BITS] >> bit % _BITS & 1}
        return frozenset(feature for feature, any_of in _KERNEL_NAMES.items() if not on.isdisjoint(any_of))

    def permanent_mac(self, interface: str) -> str | None:
        """The address that the hardware came with."""
        reply = self._ask(interface, struct.pack("=II", _GPERMADDR, _STRING_SIZE), _STRING_SIZE)
        if reply is None or struct.unpack_from("=I", reply, 4)[0] != _MAC_SIZE:
            return None
        mac = reply[8 : 8 + _MAC_SIZE]
        return mac.hex(":") if any(mac) else None

    def _feature_names(self, interface: str) -> tuple[str, ...]:
        """The kernel's names of features by their bits: the same for every interface, so asked once."""
        if not self._names:
            known = self._ask(interface, struct.pack("=IIQ", _GSSET_INFO, 0, 1 << _FEATURE_STRINGS), 4)
            count = struct.unpack_from("=I", known, 16)[0] if known is not None else 0
            size = count * _STRING_SIZE
            reply = self._ask(interface, struct.pack("=III", _GSTRINGS, _FEATURE_STRINGS, count), size)
            if reply is not None:
                texts = (reply[at : at + _STRING_SIZE] for at in range(12, 12 + size, _STRING_SIZE))
                self._names = tuple(text.partition(b"\0")[0].decode("ascii", "replace") for text in texts)
        return self._names

    def _ask(self, interface: str, question: bytes, room: int) -> bytes | None:
        """The question as the kernel answered it, with ``room`` bytes behind it; None if it did not."""
        answer = array.array("B", question + bytes(room))
        address, _ = answer.buffer_info()
        try:
            fcntl.ioctl(self._socket, _SIOCETHTOOL, struct.pack("16sP", interface.encode(), address))
        except OSError:
            return None
        return answer.tobytes()
