"""The files of functions, read strictly: what cannot be read raises OSError, and is never taken for none.

Discovery may leave out what it cannot read. A change may not: what it does not know, it cannot restore.
"""

# Paths are strings, as in ``tree``.
# ruff: noqa: PTH115, PTH208

import os

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.standing import Standing
from laneway.hosts.linux.changes.steps import DEVICES, DRIVERS
from laneway.hosts.linux.device_directory import read_attribute
from laneway.hosts.linux.tree import HostTree

_NO_OVERRIDE = "(null)"
_STORAGE = "0x01"
_VF_LINK = "virtfn"


class FunctionFiles:
    """Below the root of ``tree``."""

    __slots__ = ("tree",)

    def __init__(self, tree: HostTree) -> None:
        self.tree = tree

    def standing(self, address: PciAddress) -> Standing | None:
        """How the function stands; None where there is none at the address."""
        names = self._names(address)
        if names is None:
            return None
        return Standing(
            driver=self._link(address, "driver") if "driver" in names else None,
            override=self._override(address) if "driver_override" in names else None,
            vf_count=self._number(address, "sriov_numvfs") if "sriov_numvfs" in names else None,
            total_vfs=self._number(address, "sriov_totalvfs") if "sriov_totalvfs" in names else None,
            autoprobe=self._text(address, "sriov_drivers_autoprobe") == "1"
            if "sriov_drivers_autoprobe" in names
            else None,
            can_reset="reset" in names,
            is_storage="class" in names and self._text(address, "class").startswith(_STORAGE),
            vfs=self._vfs(address, names),
            group=self._group(address) if "iommu_group" in names else None,
        )

    def driver(self, address: PciAddress) -> str | None:
        """The driver that has the function now. Raises FileNotFoundError where there is no function."""
        return self._link(address, "driver") if "driver" in self._names_of(address) else None

    def override(self, address: PciAddress) -> str | None:
        return self._override(address)

    def number(self, address: PciAddress, name: str) -> int:
        return self._number(address, name)

    def has_driver(self, driver: str) -> bool:
        """Whether the kernel has the driver, with its module loaded."""
        return driver in os.listdir(self.tree.root + DRIVERS)

    def _names(self, address: PciAddress) -> frozenset[str] | None:
        try:
            return self._names_of(address)
        except FileNotFoundError:
            return None

    def _names_of(self, address: PciAddress) -> frozenset[str]:
        return frozenset(os.listdir(f"{self.tree.root}{DEVICES}/{address}"))

    def _override(self, address: PciAddress) -> str | None:
        text = self._text(address, "driver_override")
        return None if text in ("", _NO_OVERRIDE) else text

    def _vfs(self, address: PciAddress, names: frozenset[str]) -> tuple[PciAddress, ...]:
        indices = (name.removeprefix(_VF_LINK) for name in names if name.startswith(_VF_LINK))
        return tuple(
            PciAddress.parse(self._link(address, f"{_VF_LINK}{index}"))
            for index in sorted(int(index) for index in indices if index.isdecimal())
        )

    def _group(self, address: PciAddress) -> tuple[PciAddress, ...]:
        members = os.listdir(f"{self.tree.root}{DEVICES}/{address}/iommu_group/devices")
        return tuple(sorted(PciAddress.parse(member) for member in members))

    def _number(self, address: PciAddress, name: str) -> int:
        return int(self._text(address, name))

    def _text(self, address: PciAddress, name: str) -> str:
        return read_attribute(f"{self.tree.root}{DEVICES}/{address}/{name}").decode("utf-8", "replace").strip()

    def _link(self, address: PciAddress, name: str) -> str:
        return os.readlink(f"{self.tree.root}{DEVICES}/{address}/{name}").rpartition("/")[2]
