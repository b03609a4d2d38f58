"""What follows from the facts of a function and its PF, and of nothing else."""

from laneway.domain.address import MAX_ASSIGNABLE_DOMAIN
from laneway.domain.inventory import NetDevice, PciFunction

_HIGHEST_ASSIGNABLE = MAX_ASSIGNABLE_DOMAIN << 16 | 0xFFFF
_MAX_SERIAL = 255
"""The longest value of a VPD field: its length is one byte (PCI Local Bus 2.2, appendix I)."""
_NETWORK_CLASS = "02"


def has_assignable_domain(function: PciFunction) -> bool:
    """Can a guest have a device of this domain (rules C8 and C14)?"""
    return function.address <= _HIGHEST_ASSIGNABLE


def netdev_names(function: PciFunction | None) -> tuple[str, ...]:
    """The names of the host's network interfaces on a function; none where it is not known."""
    return tuple(netdev.name for netdev in function.netdevs or ()) if function else ()


def first_netdev(function: PciFunction | None) -> NetDevice | None:
    """The first interface: that of the port itself, representors come after it."""
    return function.netdevs[0] if function is not None and function.netdevs else None


def card_serial_number(function: PciFunction, parent: PciFunction | None) -> str | None:
    """The serial in the function's VPD, else in its PF's (rule C30). Blank text counts as none."""
    for source in (function, parent):
        if source is not None and source.vpd is not None:
            serial = source.vpd.card_serial_number
            if serial is not None and serial.strip() and len(serial) <= _MAX_SERIAL:
                return serial
    return None


def mac_address(function: PciFunction | None) -> str | None:
    """The MAC of the first interface: the permanent one, as a bond may change the current one."""
    netdev = first_netdev(function)
    return (netdev.permanent_mac or netdev.mac) if netdev is not None else None


def is_network_vf(function: PciFunction, parent: PciFunction | None) -> bool:
    """Is it a VF of a NIC? By its class; where that is not known, by the interfaces."""
    if not function.dev_type.is_virtual:
        return False
    if function.class_code is not None:
        return function.class_code.startswith(_NETWORK_CLASS)
    return bool(function.netdevs or (parent is not None and parent.netdevs))


def network_capabilities(function: PciFunction, parent: PciFunction | None) -> tuple[str, ...]:
    """The features of all interfaces of a network VF, each once, in the order met (rule C27)."""
    if not is_network_vf(function, parent):
        return ()
    return tuple(dict.fromkeys(feature for netdev in function.netdevs or () for feature in netdev.features or ()))


def place_under_pf(function: PciFunction, parent: PciFunction | None) -> tuple[str, int] | None:
    """The MAC of a network VF's PF and the VF's number: both, or None (rule C29)."""
    pf_mac_address = mac_address(parent)
    if not is_network_vf(function, parent) or pf_mac_address is None or function.vf_index is None:
        return None
    return pf_mac_address, function.vf_index
