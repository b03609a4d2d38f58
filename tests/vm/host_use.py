"""What the Linux driver says of functions at this moment."""

from collections.abc import Mapping

from laneway.domain.inventory import Inventory, PciFunction
from laneway.hosts.linux import LinuxHostDriver


def look() -> Inventory:
    return LinuxHostDriver().discover()


def functions_now() -> Mapping[str, PciFunction]:
    return {str(function.address): function for function in look().functions}


def uses(address: str) -> set[tuple[str, str | None]] | None:
    """Why the host needs a function, as code and detail; None where it is not known."""
    return uses_of(functions_now()[address])


def uses_of(function: PciFunction) -> set[tuple[str, str | None]] | None:
    in_use_by = function.in_use_by
    return None if in_use_by is None else {(use.code, use.detail) for use in in_use_by}
