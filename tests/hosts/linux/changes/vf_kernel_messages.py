"""What a kernel answers about VFs, put together as net/core/rtnetlink.c does (rtnl_fill_vfinfo), by hand."""

import struct
from collections.abc import Sequence


def nested(kind: int, *parts: bytes) -> bytes:
    value = b"".join(parts)
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def vf_info(
    vf: int,
    *,
    mac: str = "00:00:00:00:00:00",
    vlan: tuple[int, int] = (0, 0),
    protocol: int | None = 0x8100,
    spoof_check: int = 1,
    link_state: int = 0,
    trust: int = 0,
) -> bytes:
    """One VF. ``protocol`` None: a kernel before 4.9, whose answer has no list of VLANs."""
    hardware = bytes.fromhex(mac.replace(":", "")).ljust(32, b"\0")
    list_of_vlans = nested(12, nested(1, struct.pack("=III", vf, *vlan) + struct.pack(">H2x", protocol or 0)))
    return nested(
        1,
        nested(1, struct.pack("=I", vf) + hardware),
        nested(13, b"\xff" * 6 + bytes(26)),
        nested(2, struct.pack("=III", vf, *vlan)),
        nested(6, struct.pack("=III", vf, 0, 0)),
        nested(3, struct.pack("=II", vf, 0)),
        nested(4, struct.pack("=II", vf, spoof_check)),
        nested(5, struct.pack("=II", vf, link_state)),
        nested(7, struct.pack("=II", vf, 0xFFFFFFFF)),
        nested(9, struct.pack("=II", vf, trust)),
        list_of_vlans if protocol is not None else b"",
    )


def new_link(vfs: Sequence[bytes], *, index: int = 3) -> bytes:
    """RTM_NEWLINK of an Ethernet interface with its name, the number of its VFs, and them."""
    body = struct.pack("=BxHiII", 0, 1, index, 0x1003, 0)
    body += nested(3, b"ens5\0") + nested(21, struct.pack("=I", len(vfs)))
    body += nested(22, *vfs) if vfs else b""
    return struct.pack("=IHHII", 16 + len(body), 16, 0, 1, 0) + body


def acknowledgement(number: int = 0) -> bytes:
    return struct.pack("=IHHIIi", 36, 2, 0x100, 1, 0, -number) + struct.pack("=IHHII", 16, 19, 5, 1, 0)
