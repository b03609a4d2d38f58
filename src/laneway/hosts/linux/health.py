"""How functions do: whether they answer, and how often their link failed fatally. Reads only."""

import os
import re
from collections.abc import Iterable

from laneway.domain.address import PciAddress
from laneway.domain.tracking.health import Health
from laneway.hosts.linux.device_directory import read_attribute
from laneway.hosts.linux.listing import DEVICES
from laneway.hosts.linux.tree import HostTree

_HEADER_SIZE = 16
"""All that every kind of header has alike (PCI Express Base Specification 7.5.1.1)."""

_OFF = "D3cold"
_TOTAL = re.compile(r"^TOTAL_ERR_FATAL (\d+)$", re.MULTILINE)


def read_health(tree: HostTree, addresses: Iterable[PciAddress]) -> dict[PciAddress, Health]:
    """The health of those of the functions that are there."""
    return {
        address: Health(reads_all_ones=reads_all_ones(tree, address), fatal_errors=_fatal_errors(tree, address))
        for address in addresses
        if tree.exists(f"{DEVICES}/{address}")
    }


def reads_all_ones(tree: HostTree, address: PciAddress) -> bool | None:
    """Whether its configuration space reads as ones only, which is how nothing reads that does not answer.

    The ids alone would not tell: those of a VF read as ones always (PCI Express Base Specification
    9.3.4.1.1). One that is off is not woken up for this: it is not known.
    """
    directory = f"{tree.root}{DEVICES}/{address}"
    try:
        if read_attribute(f"{directory}/power_state").strip() == _OFF.encode():
            return None
    except OSError:
        pass  # before Linux 5.11 nothing tells
    try:
        file = os.open(f"{directory}/config", os.O_RDONLY)
        try:
            header = os.read(file, _HEADER_SIZE)
        finally:
            os.close(file)
    except OSError:
        return None
    return header == b"\xff" * _HEADER_SIZE if len(header) == _HEADER_SIZE else None


def _fatal_errors(tree: HostTree, address: PciAddress) -> int | None:
    """The total of ``aer_dev_fatal`` (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats)."""
    total = _TOTAL.search(tree.text(f"{DEVICES}/{address}/aer_dev_fatal") or "")
    return int(total[1]) if total else None
