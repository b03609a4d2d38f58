"""An inventory that can be shown to others: without what identifies one card among all of its kind."""

import re
from dataclasses import replace

from laneway.domain.inventory import HostUse, Inventory, NetDevice, PciFunction

_MAC_IN_NAME = re.compile(r"\b(enx|wlx|wwx)[0-9a-f]{12}\b")
"""Names that systemd makes of a MAC address (systemd.net-naming-scheme, ID_NET_NAME_MAC)."""


def without_identifiers(inventory: Inventory) -> Inventory:
    """The inventory without serial numbers and MAC addresses: they are null, as if not known.

    All VPD fields go but the part number and the product name: vendors keep serials under keys of
    their own. Interfaces that are named by their MAC address are named by zeros.
    """
    return replace(inventory, functions=tuple(map(_blanked, inventory.functions)))


def _blanked(function: PciFunction) -> PciFunction:
    netdevs, uses, vpd = function.netdevs, function.in_use_by, function.vpd
    return replace(
        function,
        netdevs=None if netdevs is None else tuple(map(_blanked_netdev, netdevs)),
        in_use_by=None if uses is None else tuple(map(_blanked_use, uses)),
        vpd=None if vpd is None else replace(vpd, card_serial_number=None, fields=None),
        device_serial_number=None,
    )


def _blanked_netdev(netdev: NetDevice) -> NetDevice:
    return replace(netdev, name=_without_mac(netdev.name), mac=None, permanent_mac=None)


def _blanked_use(use: HostUse) -> HostUse:
    return replace(use, detail=None if use.detail is None else _without_mac(use.detail))


def _without_mac(text: str) -> str:
    return _MAC_IN_NAME.sub(r"\g<1>" + "0" * 12, text)
