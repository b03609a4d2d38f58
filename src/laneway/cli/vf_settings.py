"""What ``--vf`` says: a VF, and what its PF is to enforce for it."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import LinkState, VfSettings

_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")
_SWITCH = {"on": True, "off": False}
_LARGEST_VLAN = 4094
_EXAMPLE = "such as --vf 0000:86:02.1,mac=02:00:00:00:00:01,vlan=7"


def parse_vf_settings(given: Sequence[str]) -> Mapping[PciAddress, VfSettings]:
    """The settings by VF. Raises LanewayError(usage) or (invalid_address)."""
    settings: dict[PciAddress, VfSettings] = {}
    for text in given:
        head, *pairs = text.split(",")
        address = PciAddress.parse(head)
        if address in settings:
            raise _usage(f"--vf names {address} twice; say all of its settings in one")
        if not pairs:
            raise _usage(f"--vf {text!r} has no setting; add some, {_EXAMPLE}")
        settings[address] = VfSettings(**_values(text, pairs))
    return settings


def _values(text: str, pairs: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key not in _KEYS:
            raise _usage(f"--vf {text!r}: {key!r} is no setting; there are {', '.join(_KEYS)}, {_EXAMPLE}")
        name, read, meant = _KEYS[key]
        if name in values:
            raise _usage(f"--vf {text!r}: {key} is said twice; keep one of them")
        values[name] = read(value)
        if values[name] is None:
            raise _usage(f"--vf {text!r}: {value!r} is no {key}; write {meant}")
    return values


def _mac(text: str) -> str | None:
    """A MAC address of one interface: the lowest bit of its first byte would say that it is a group's."""
    mac = text.lower()
    return mac if _MAC.fullmatch(mac) and not int(mac[:2], 16) & 1 else None


def _vlan(text: str) -> int | None:
    number = int(text) if re.fullmatch("[0-9]{1,4}", text) else None
    return number if number is not None and number <= _LARGEST_VLAN else None


def _link_state(text: str) -> LinkState | None:
    return LinkState(text) if text in tuple(LinkState) else None


_KEYS: Mapping[str, tuple[str, Callable[[str], object], str]] = {
    "mac": ("mac", _mac, "six pairs of hex digits of a unicast address, such as 02:00:00:00:00:01"),
    "vlan": ("vlan", _vlan, f"a number from 0 (none) to {_LARGEST_VLAN}"),
    "trust": ("trust", _SWITCH.get, "on or off"),
    "spoofchk": ("spoof_check", _SWITCH.get, "on or off"),
    "state": ("link_state", _link_state, "auto, enable or disable"),
}


def _usage(message: str) -> LanewayError:
    return LanewayError(ErrorCode.USAGE, message)
