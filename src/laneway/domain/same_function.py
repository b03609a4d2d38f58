"""Whether two functions are one device, as far as their facts tell.

An address is no identity: buses are renumbered when a card is added. What is not known on either
side is not different.
"""

from collections.abc import Iterator

from laneway.domain.inventory import PciFunction


def differences(recorded: PciFunction, found: PciFunction) -> tuple[str, ...]:
    """In what they differ, as text with both values; none where they may be one device at one place."""
    return tuple(f"{name} {was}, now {now}" for name, was, now in _different(recorded, found))


def _different(recorded: PciFunction, found: PciFunction) -> Iterator[tuple[str, str, str]]:
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
