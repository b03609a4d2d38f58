"""Which PCI functions the bus lists, and where their directories are."""

import os
from pathlib import Path
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Problem
from laneway.hosts.linux.device_directory import DeviceDirectory
from laneway.hosts.linux.function_paths import device_path
from laneway.hosts.linux.tree import HostTree

DEVICES = "sys/bus/pci/devices"
PF_LINK = "physfn"


class ListedFunction(NamedTuple):
    """A function that the bus lists. ``parent`` is the directory above it in the device tree."""

    address: PciAddress
    parent: str
    directory: DeviceDirectory

    @property
    def is_vf(self) -> bool:
        return PF_LINK in self.directory.names

    @property
    def is_there(self) -> bool:
        """Whether it still is: it may go away while it is read."""
        return Path(self.directory.path).is_dir()

    def listed_again(self) -> "ListedFunction | None":
        """Its directory as it is now; None where it is gone."""
        directory = self.directory
        try:
            return self._replace(directory=DeviceDirectory(directory.path, directory.subject, directory.problems))
        except OSError:
            return None


def list_functions(tree: HostTree, problems: list[Problem]) -> list[ListedFunction]:
    """What the bus lists, by address; each directory is listed once, here.

    A name that is no address and a link that leads nowhere are noted and left out. Raises
    LanewayError(host_unreachable) where there is no list.
    """
    names = tree.names(DEVICES)
    if names is None:
        raise LanewayError(
            ErrorCode.HOST_UNREACHABLE,
            f"{tree.root}{DEVICES} cannot be read: this is no Linux host with a PCI bus, nor a capture of one",
            {"path": tree.root + DEVICES},
        )
    listed = filter(None, (_list_function(tree, name, problems) for name in names))
    return sorted(listed, key=lambda function: function.address)


def _list_function(tree: HostTree, name: str, problems: list[Problem]) -> ListedFunction | None:
    try:
        address = PciAddress.parse(name)
    except LanewayError as error:
        problems.append(Problem(address=name, message=error.message))
        return None
    entry = f"{DEVICES}/{name}"
    place = device_path(tree.link(entry) or "")
    path = f"{tree.root}sys/devices/{place}" if place else tree.root + entry
    try:
        directory = DeviceDirectory(path, name, problems)
    except OSError as error:
        if os.path.lexists(tree.root + entry):  # else it has vanished
            problems.append(Problem(address=name, message=f"its directory cannot be read: {error.strerror}"))
        return None
    return ListedFunction(address, place.rpartition("/")[0], directory)
