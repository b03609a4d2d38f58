"""The network interfaces of a function."""

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from laneway.domain.inventory import NetDevice
from laneway.hosts.linux.device_directory import DeviceDirectory, read_attribute

FEATURES = (
    *("rx", "tx", "sg", "tso", "gso", "gro", "lro", "rxvlan", "txvlan"),
    *("ntuple", "rxhash", "rdma", "txudptnl", "switchdev"),
)
"""The features in libvirt's names (virNetDevFeature) and order."""

_REPRESENTOR = r"(c\d+)?pf\d+(vf|sf)\d+"
"""``phys_port_name`` of a port that stands for a VF or subfunction (Documentation/networking/representors.rst)."""

_IFF_UP = 0x1
_PERMANENT = "0"


class InterfaceQuery(Protocol):
    """What only the running system can tell of an interface; see ``ethtool``."""

    def features(self, interface: str) -> frozenset[str] | None: ...

    def permanent_mac(self, interface: str) -> str | None: ...


class NetdevReader:
    """Reads the interfaces of functions. ``query`` asks the running system; None for a captured tree."""

    def __init__(self, query: InterfaceQuery | None) -> None:
        self._query = query

    def read(self, directory: DeviceDirectory, *, virtio: bool, below_switchdev: bool) -> tuple[NetDevice, ...]:
        """The interfaces by port, then name; those that stand for VFs come last.

        ``virtio`` tells that they may stand behind a bus of their own, ``below_switchdev`` that this
        is a VF whose PF is in switchdev mode.
        """
        places = _interfaces(directory, virtio=virtio)
        if not places:
            return ()
        representors = {path for path in places if len(places) > 1 and _is_representor(path)}
        known = {"rdma"} if "infiniband" in directory.names else set()
        if representors or below_switchdev:
            # Only then do ports exist that stand for VFs; ``phys_switch_id`` alone is there in legacy mode too.
            known.add("switchdev")
        ordered = sorted(places, key=lambda path: (path in representors, _port(path), _name(path)))
        return tuple(self._read(path, known) for path in ordered)

    def _read(self, path: str, known: set[str]) -> NetDevice:
        name = _name(path)
        mac = _text(path, "address")
        return NetDevice(
            name=name,
            mac=mac,
            permanent_mac=self._permanent_mac(path, name, mac),
            features=self._features(name, known),
            speed_mbps=_number(path, "speed"),
            up=_is_up(path),
        )

    def _features(self, name: str, known: set[str]) -> tuple[str, ...] | None:
        asked = self._query.features(name) if self._query is not None else None
        if asked is None and not known:
            return None
        return tuple(feature for feature in FEATURES if feature in known or (asked and feature in asked))

    def _permanent_mac(self, path: str, name: str, mac: str | None) -> str | None:
        if self._query is not None:
            return self._query.permanent_mac(name)
        return mac if _text(path, "addr_assign_type") == _PERMANENT else None


def _interfaces(directory: DeviceDirectory, *, virtio: bool) -> list[str]:
    """The directories of the interfaces: in ``net``, of virtio one level down."""
    holders: list[DeviceDirectory | None] = [directory] if "net" in directory.names else []
    if virtio:
        holders += [directory.below(name) for name in directory.names if name.startswith("virtio")]
    found = (holder.below("net") for holder in holders if holder is not None)
    return [f"{net.path}/{name}" for net in found if net is not None for name in net.names]


def _is_representor(path: str) -> bool:
    return re.fullmatch(_REPRESENTOR, _text(path, "phys_port_name") or "") is not None


def _is_up(path: str) -> bool | None:
    """Whether its owner brought it up, be there a link or not."""
    flags = _text(path, "flags")
    try:
        return None if flags is None else bool(int(flags, 16) & _IFF_UP)
    except ValueError:
        return None


def _port(path: str) -> int:
    return _number(path, "dev_port") or 0


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _number(path: str, name: str) -> int | None:
    """A number above or equal to 0: the speed of a link that is down is -1, or an error."""
    text = _text(path, name)
    return int(text) if text is not None and text.isdecimal() else None


def _text(path: str, name: str) -> str | None:
    try:
        return read_attribute(f"{path}/{name}").decode("utf-8", "replace").strip() or None
    except OSError:
        return None


def interface_query(*, live: bool) -> AbstractContextManager[InterfaceQuery | None]:
    """What can be asked of the running system; nothing of a captured tree, or without sockets."""
    if not live:
        return nullcontext()
    from laneway.hosts.linux.ethtool import Ethtool  # noqa: PLC0415 - needs fcntl, which only Unix has

    try:
        return Ethtool()
    except OSError:
        return nullcontext()
