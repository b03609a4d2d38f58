"""What every store does alike with an update: what is refused, and what the audit log says."""

from collections.abc import Mapping

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.claim import Update


def refuse_second_owner(consumers: Mapping[PciAddress, str | None], update: Update) -> None:
    """Refuses to overwrite a consumer's device with one of another consumer.

    ``consumers`` are those that the store holds now. Whoever reads the state in the transaction
    never meets this; it stands here so that a mistake elsewhere cannot give one device twice.

    Raises LanewayError(internal_error).
    """
    for address, device in update.held.items():
        owner = consumers.get(address)
        if device is not None and device.consumer is not None and owner not in (None, device.consumer):
            raise LanewayError(
                ErrorCode.INTERNAL_ERROR,
                f"{address} is held by {owner!r} and cannot go to {device.consumer!r} before it is freed",
                {"address": str(address), "consumer": owner, "refused": device.consumer},
            )


def audit_detail(update: Update) -> dict[str, object]:
    """What the audit log keeps of an update, as plain JSON values; parts without changes are left out."""
    parts: dict[str, Mapping[str, object]] = {
        "devices": {str(address): device and _device_detail(device) for address, device in update.held.items()},
        "claims": {
            claim: record
            and {
                "consumer": record.request.consumer,
                "devices": {name: [str(address) for address in chosen] for name, chosen in record.devices.items()},
            }
            for claim, record in update.claims.items()
        },
        "blocks": {
            str(address): None if reasons is None else [reason.code for reason in reasons]
            for address, reasons in update.blocks.items()
        },
    }
    told: dict[str, object] = {name: changes for name, changes in parts.items() if changes}
    return told | ({"boot_id": update.boot_id} if update.boot_id else {})


def _device_detail(device: PciDevice) -> dict[str, object]:
    told = {"status": device.status.value, "consumer": device.consumer, "claim": device.claim}
    return told | ({"prepared": True} if device.prepared else {})
