"""From a place in the device tree of sysfs to the PCI functions that it hangs on."""

from collections.abc import Collection, Iterator, Mapping

from laneway.domain.address import PciAddress

_DEVICES = "sys/devices/"


def device_path(text: str) -> str:
    """The part of a sysfs path, or of a link's target, from the device tree on.

    ``../../devices/pci0000:00/0000:00:02.0`` and ``/root/sys/devices/pci0000:00/0000:00:02.0`` are
    both ``pci0000:00/0000:00:02.0``. Empty where the text leads nowhere in the device tree.
    """
    start = text.rfind(_DEVICES)
    if start >= 0:
        return text[start + len(_DEVICES) :].rstrip("/")
    _, found, rest = text.partition("devices/")
    return rest.rstrip("/") if found else ""


class FunctionPaths:
    """The PCI functions by their directories in the device tree.

    ``entries`` are the names in these directories, where somebody has listed them already.
    """

    __slots__ = ("_by_path", "_entries", "unplaced")

    def __init__(
        self, functions: Mapping[PciAddress, str], entries: Mapping[PciAddress, Collection[str]] | None = None
    ) -> None:
        self._by_path: dict[str, PciAddress] = {}
        self._entries = entries
        self.unplaced: set[PciAddress] = set()
        """Functions whose directory is not in the device tree: nothing can be traced to them."""
        for address, directory in functions.items():
            start = directory.rfind(_DEVICES)
            if start < 0:
                self.unplaced.add(address)
            else:
                self._by_path[directory[start + len(_DEVICES) :].rstrip("/")] = address

    def functions_of(self, path: str) -> tuple[PciAddress, ...]:
        """The functions without which the device at ``path`` would be gone, nearest first.

        That is the nearest function on the way to the root, and each one above it that is no bridge
        but makes a PCI domain of its own: Intel's VMD shows its disks as
        ``0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0``.
        """
        found: list[PciAddress] = []
        below = ""
        while path:
            address = self._by_path.get(path)
            if address is not None and (not found or _is_root_bus(below)):
                found.append(address)
            path, _, below = path.rpartition("/")
        return tuple(found)

    def with_entry(self, name: str) -> Iterator[tuple[PciAddress, str]]:
        """The functions that may have ``name`` in their directory, with its path below the root."""
        for path, address in self._by_path.items():
            if self._entries is None or name in self._entries.get(address, ()):
                yield address, f"{_DEVICES}{path}/{name}"


def _is_root_bus(name: str) -> bool:
    return name.startswith("pci") and ":" in name
