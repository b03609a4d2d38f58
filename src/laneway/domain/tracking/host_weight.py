"""Which of several hosts that fit is taken: nova's PCI weigher (rule C62)."""

from collections.abc import Mapping

_MOST = 100


def pci_weight(free: int) -> int:
    """The weight of a host with so many free devices, from 1 to 100: the fewer, the more.

    So guests with devices are put where others took some already, which leaves whole hosts to those
    who need many; and guests without devices stay away from hosts that have some. From 99 on there
    is no scarcity.
    """
    return _MOST - min(free, _MOST - 1)


def heaviest_first(free_devices: Mapping[str, int]) -> list[str]:
    """The hosts in the order in which they are taken; of equal weight by name (rule D34)."""
    return sorted(free_devices, key=lambda host: (-pci_weight(free_devices[host]), host))
