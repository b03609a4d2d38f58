"""Whether what stands at an address is still what was claimed there. Pure.

An address is no identity: buses are renumbered when a card is added. What is not known on either
side is not different.
"""

from collections.abc import Iterator

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction


def require_recorded(recorded: PciFunction, found: PciFunction) -> None:
    """Raises LanewayError(wrong_device), with both named, where ``found`` is another function than ``recorded``."""
    differences = [f"{name} {was}, now {now}" for name, was, now in _differences(recorded, found)]
    if differences:
        raise LanewayError(
            ErrorCode.WRONG_DEVICE,
            f"{found.address} is {_ids(found)}, and what was claimed there is {_ids(recorded)} "
            f"({'; '.join(differences)}): another card stands at this address; free the claim and claim again",
            {"address": str(found.address), "recorded": _ids(recorded), "found": _ids(found)},
        )


def _differences(recorded: PciFunction, found: PciFunction) -> Iterator[tuple[str, str, str]]:
    for name, was, now in (
        ("vendor_id", recorded.vendor_id, found.vendor_id),
        ("product_id", recorded.product_id, found.product_id),
        ("subsystem_vendor_id", recorded.subsystem_vendor_id, found.subsystem_vendor_id),
        ("subsystem_id", recorded.subsystem_id, found.subsystem_id),
        ("serial number", _vpd_serial(recorded), _vpd_serial(found)),
        ("device serial number", recorded.device_serial_number, found.device_serial_number),
        ("path", recorded.path, found.path),
        ("location path", recorded.location_path, found.location_path),
    ):
        if was is not None and now is not None and was != now:
            yield name, was, now


def _vpd_serial(function: PciFunction) -> str | None:
    return None if function.vpd is None else function.vpd.card_serial_number


def _ids(function: PciFunction) -> str:
    return f"{function.vendor_id}:{function.product_id}"
