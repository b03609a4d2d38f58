"""Freeing what is held for consumers that are gone (rule C44)."""

from collections.abc import Collection
from dataclasses import dataclass

from laneway.contracts.answer import Json
from laneway.domain.device import PciDevice
from laneway.domain.tracking.claim import Update
from laneway.domain.tracking.tracker import PciDeviceTracker

CLEANUP_SCHEMA = "laneway.cleanup/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """The devices that are freed, as they were held, by consumer and address."""

    devices: tuple[PciDevice, ...]
    update: Update


def plan_cleanup(tracker: PciDeviceTracker, keep: Collection[str]) -> Cleanup:
    """What is freed where only the consumers in ``keep`` exist."""
    update = tracker.cleanup(keep)
    freed = [device for address in update.held if (device := tracker.view.held.get(address))]
    return Cleanup(
        devices=tuple(sorted(freed, key=lambda device: (device.consumer or "", device.address))), update=update
    )


def cleanup_document(host: str, cleanup: Cleanup, *, applied: bool) -> Json:
    """The JSON contract ``laneway.cleanup/1``; ``applied`` is false for a dry run."""
    return {
        "schema": CLEANUP_SCHEMA,
        "host": host,
        "applied": applied,
        "devices": [
            {
                "address": str(device.address),
                "consumer": device.consumer,
                "claim": device.claim,
                "status": str(device.status),
                "open": None if device.function.opened_by is None else bool(device.function.opened_by),
            }
            for device in cleanup.devices
        ],
    }
