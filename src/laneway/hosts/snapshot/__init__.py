"""The host driver for an inventory: a file, or a value. It is the fake of a host in tests, too."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from laneway.domain.errors import ErrorCode, LanewayError, errors_of, together
from laneway.domain.inventory import Inventory, PciFunction
from laneway.interfaces.host_driver import DriverCapabilities, HostDriver

NAME = "snapshot"
FACTS = frozenset(field.name for field in fields(PciFunction))


class SnapshotHostDriver:
    """A host that is what an inventory says: ``source`` is one, or gives one each time it is asked."""

    def __init__(self, source: Inventory | Callable[[], Inventory]) -> None:
        self._source = source

    def describe(self) -> DriverCapabilities:
        return DriverCapabilities(name=NAME, os_family="any", facts=FACTS)

    def discover(self) -> Inventory:
        """The inventory as it stands, under the name of the driver that made it; its functions by address."""
        return _in_order(self._source if isinstance(self._source, Inventory) else self._source())


class SnapshotHostDriverFactory:
    """What the entry point names."""

    def unavailable(self) -> str | None:
        """Never on its own: an inventory has to be named."""
        return "it needs an inventory, which --snapshot FILE names"

    def __call__(self) -> HostDriver:
        raise LanewayError(ErrorCode.HOST_UNREACHABLE, f"the driver {NAME!r} cannot be used: {self.unavailable()}")

    def cannot_read(self, path: Path) -> str | None:
        return "an inventory is a file, this is a directory" if path.is_dir() else None

    def reading(self, path: Path) -> HostDriver:
        """The driver for an inventory file, which is read at each discovery."""
        return SnapshotHostDriver(lambda: read_inventory(path))


def _in_order(inventory: Inventory) -> Inventory:
    """A document may list functions in any order."""
    addresses = [function.address for function in inventory.functions]
    if addresses == sorted(addresses):
        return inventory
    return replace(inventory, functions=tuple(sorted(inventory.functions, key=lambda function: function.address)))


def read_inventory(path: Path) -> Inventory:
    """The inventory in a file.

    Raises LanewayError(host_unreachable) or (no_permission) where the file cannot be read, and
    (invalid_json) or (invalid_inventory), with the file's name and all that is wrong, where it is none.
    """
    from laneway.contracts.inventory import decode_inventory  # noqa: PLC0415 - only this driver needs msgspec

    try:
        return decode_inventory(path.read_bytes())
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.HOST_UNREACHABLE
        message = f"the inventory {path} cannot be read: {error.strerror}"
        raise LanewayError(code, message, {"path": str(path)}) from error
    except LanewayError as error:
        raise together([_in_file(path, one) for one in errors_of(error)]) from error


def _in_file(path: Path, error: LanewayError) -> LanewayError:
    return LanewayError(error.code, f"{path}: {error.message}", {**error.detail, "file": str(path)})
