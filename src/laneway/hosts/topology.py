"""Where functions stand: the bridges above them, their root, and a path without bus numbers."""

import re
from typing import NamedTuple

from laneway.domain.address import PciAddress

_ROOT = re.compile(r"pci([0-9a-f]{4,8}:[0-9a-f]{2})")
_FUNCTION = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class Place(NamedTuple):
    """Where the children of one directory stand; all None where that is not known."""

    pcie_roots: tuple[str, ...] | None = None
    bridges: tuple[PciAddress, ...] | None = None
    path: str | None = None

    def path_of(self, name: str) -> str | None:
        """The path of a child by its name, such as ``0000:85/00.0/00.0`` of ``0000:86:00.0``."""
        return None if self.path is None else f"{self.path}/{name.rpartition(':')[2]}"


class Topology:
    """Tells the place of each directory of the device tree, worked out once for all its children."""

    def __init__(self) -> None:
        self._known: dict[str, Place] = {}

    def place(self, parent: str) -> Place:
        """The place of functions directly below ``parent``, a path below ``/sys/devices``.

        ``pci0000:80/0000:80:03.0/0000:84:00.0`` has the root ``0000:80`` and two bridges, from the
        root down. Intel's VMD makes a PCI domain of its own; its function counts as a bridge, and
        the root is the one that it stands on itself. A path that names no root gives no place.
        """
        if parent not in self._known:
            self._known[parent] = _place(parent.split("/"))
        return self._known[parent]


def _place(parts: list[str]) -> Place:
    roots = [found[1] for part in parts if (found := _ROOT.fullmatch(part))]
    if not roots:
        return Place()
    bridges = [part for part in parts if _FUNCTION.fullmatch(part)]
    return Place(
        pcie_roots=(roots[0],),
        bridges=tuple(map(PciAddress.parse, bridges)),
        path="/".join((roots[0], *(part.rpartition(":")[2] for part in bridges))),
    )
