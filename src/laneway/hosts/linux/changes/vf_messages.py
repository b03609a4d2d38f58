"""What the kernel is told, and tells, of the VFs of a network interface: rtnetlink. Pure.

Layouts and numbers: include/uapi/linux/if_link.h, rtnetlink.h; how the kernel reads them:
net/core/rtnetlink.c (do_setvfinfo, rtnl_fill_vfinfo).
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from laneway.hosts.linux import netlink
from laneway.interfaces.host_changes import LinkState, VfSettings

IEEE_802_1Q = 0x8100

_RTM_NEWLINK, _RTM_GETLINK, _RTM_SETLINK = 16, 18, 19
_IFLA_VFINFO_LIST, _IFLA_EXT_MASK = 22, 29
_RTEXT_FILTER_VF, _RTEXT_FILTER_SKIP_STATS = 1 << 0, 1 << 3
_IFLA_VF_INFO = 1
_IFLA_VF_MAC, _IFLA_VF_VLAN, _IFLA_VF_SPOOFCHK, _IFLA_VF_LINK_STATE = 1, 2, 4, 5
_IFLA_VF_TRUST, _IFLA_VF_VLAN_LIST = 9, 12
_IFLA_VF_VLAN_INFO = 1
_ANY_FAMILY = 0

_INTERFACE = struct.Struct("=BxHiII")
_MAC = struct.Struct("=I32s")
_VLAN = struct.Struct("=III")
_VLAN_INFO = struct.Struct("=III2s2x")
_PAIR = struct.Struct("=II")
_MAC_SIZE = 6
_NOT_TOLD = 0xFFFFFFFF
"""What the kernel presets a switch with before the driver fills in what it knows."""

_LINK_STATES = (LinkState.AUTO, LinkState.ENABLE, LinkState.DISABLE)


@dataclass(frozen=True, slots=True)
class Vlan:
    """Of a VF: its VLAN (0: none), its priority, and the protocol of its tags, an Ethertype."""

    id: int = 0
    qos: int = 0
    protocol: int = IEEE_802_1Q


@dataclass(frozen=True, slots=True, kw_only=True)
class VfState:
    """What a PF enforces for one VF, in full. None is not known, or not to be set."""

    mac: str | None = None
    vlan: Vlan | None = None
    spoof_check: bool | None = None
    trust: bool | None = None
    link_state: LinkState | None = None

    @classmethod
    def wanted(cls, settings: VfSettings) -> "VfState":
        """Settings as a state: the VLAN without priority, with tags of 802.1Q."""
        return cls(
            mac=None if settings.mac is None else settings.mac.lower(),
            vlan=None if settings.vlan is None else Vlan(settings.vlan),
            spoof_check=settings.spoof_check,
            trust=settings.trust,
            link_state=settings.link_state,
        )


def ask(interface: int, sequence: int) -> bytes:
    """Asks for an interface with its VFs, without their statistics: with those, 256 VFs have no room in an answer."""
    mask = netlink.attribute(_IFLA_EXT_MASK, struct.pack("=I", _RTEXT_FILTER_VF | _RTEXT_FILTER_SKIP_STATS))
    return netlink.request(_RTM_GETLINK, 0, sequence, _of_interface(interface) + mask)


def read(message: netlink.Message) -> Mapping[int, VfState]:
    """The states of the VFs of an interface, by index. Empty: its driver tells of none."""
    if message.kind != _RTM_NEWLINK:
        return {}
    told = dict(netlink.attributes(message.body[_INTERFACE.size :]))
    found = {}
    for kind, vf in netlink.attributes(told.get(_IFLA_VFINFO_LIST, b"")):
        if kind == _IFLA_VF_INFO:
            values = dict(netlink.attributes(vf))
            mac = values.get(_IFLA_VF_MAC, b"")
            if len(mac) >= 4 + _MAC_SIZE:
                found[struct.unpack_from("=I", mac)[0]] = _state(values)
    return found


def _state(values: Mapping[int, bytes]) -> VfState:
    number = _number(values, _IFLA_VF_LINK_STATE)
    return VfState(
        mac=values[_IFLA_VF_MAC][4 : 4 + _MAC_SIZE].hex(":"),
        vlan=_vlan(values),
        spoof_check=_switch(values, _IFLA_VF_SPOOFCHK),
        trust=_switch(values, _IFLA_VF_TRUST),
        link_state=_LINK_STATES[number] if number is not None and number < len(_LINK_STATES) else None,
    )


def _vlan(values: Mapping[int, bytes]) -> Vlan | None:
    """From the list, which kernels since 4.9 have and which tells the protocol, else from the plain attribute."""
    for kind, info in netlink.attributes(values.get(_IFLA_VF_VLAN_LIST, b"")):
        if kind == _IFLA_VF_VLAN_INFO and len(info) >= _VLAN_INFO.size:
            _, number, qos, protocol = _VLAN_INFO.unpack_from(info)
            return Vlan(number, qos, int.from_bytes(protocol, "big"))
    plain = values.get(_IFLA_VF_VLAN, b"")
    return Vlan(*_VLAN.unpack_from(plain)[1:]) if len(plain) >= _VLAN.size else None


def _switch(values: Mapping[int, bytes], kind: int) -> bool | None:
    number = _number(values, kind)
    return None if number is None or number == _NOT_TOLD else number != 0


def _number(values: Mapping[int, bytes], kind: int) -> int | None:
    pair = values.get(kind, b"")
    return _PAIR.unpack_from(pair)[1] if len(pair) >= _PAIR.size else None


def set_one(interface: int, sequence: int, setting: bytes) -> bytes:
    """Asks for one setting (of ``settings``) to be made, and for an answer."""
    vfs = netlink.attribute(_IFLA_VFINFO_LIST, netlink.attribute(_IFLA_VF_INFO, setting))
    return netlink.request(_RTM_SETLINK, netlink.ACKNOWLEDGE, sequence, _of_interface(interface) + vfs)


def settings(vf: int, state: VfState) -> dict[str, bytes]:
    """What a state takes, by the names of its fields. One message each: then an answer says what was refused."""
    wanted = {}
    if state.mac is not None:
        wanted["mac"] = netlink.attribute(_IFLA_VF_MAC, _MAC.pack(vf, bytes.fromhex(state.mac.replace(":", ""))))
    if state.vlan is not None:
        wanted["vlan"] = _set_vlan(vf, state.vlan)
    if state.spoof_check is not None:
        wanted["spoof_check"] = netlink.attribute(_IFLA_VF_SPOOFCHK, _PAIR.pack(vf, state.spoof_check))
    if state.trust is not None:
        wanted["trust"] = netlink.attribute(_IFLA_VF_TRUST, _PAIR.pack(vf, state.trust))
    if state.link_state is not None:
        number = _LINK_STATES.index(state.link_state)
        wanted["link_state"] = netlink.attribute(_IFLA_VF_LINK_STATE, _PAIR.pack(vf, number))
    return wanted


def _set_vlan(vf: int, vlan: Vlan) -> bytes:
    """The plain attribute means 802.1Q, and every kernel knows it."""
    if vlan.protocol == IEEE_802_1Q:
        return netlink.attribute(_IFLA_VF_VLAN, _VLAN.pack(vf, vlan.id, vlan.qos))
    info = _VLAN_INFO.pack(vf, vlan.id, vlan.qos, vlan.protocol.to_bytes(2, "big"))
    return netlink.attribute(_IFLA_VF_VLAN_LIST, netlink.attribute(_IFLA_VF_VLAN_INFO, info))


def _of_interface(index: int) -> bytes:
    return _INTERFACE.pack(_ANY_FAMILY, 0, index, 0, 0)
