"""The JSON contract ``laneway.check/1``: what a config does on a host."""

from collections.abc import Sequence

from laneway.contracts.answer import Json, block_json, drift_json, warning_json
from laneway.contracts.codec import to_plain
from laneway.domain.device import PciDevice
from laneway.domain.inventory import ReadinessNote
from laneway.domain.tracking.config_changes import Changes, Orphan, Retagged
from laneway.domain.tracking.config_check import AliasCheck, ConfigCheck, Danger, EntryCheck
from laneway.domain.tracking.drift import Drift

CHECK_SCHEMA = "laneway.check/1"


def check_document(
    host: str,
    sources: Sequence[object],
    check: ConfigCheck,
    readiness: Sequence[ReadinessNote],
    drift: Sequence[Drift] = (),
) -> Json:
    """The check of a config without errors; one with errors is answered by them.

    ``drift`` is where the host does not stand as it is recorded.
    """
    return {
        "schema": CHECK_SCHEMA,
        "ok": True,
        "host": host,
        "sources": [str(source) for source in sources],
        "entries": [_entry_json(entry) for entry in check.entries],
        "aliases": [_alias_json(alias) for alias in check.aliases],
        "dangers": [_danger_json(danger) for danger in check.dangers],
        "warnings": [warning_json(problem) for problem in check.warnings],
        "orphans": [_orphan_json(orphan) for orphan in check.orphans],
        "deferred": [_retagged_json(device) for device in check.deferred],
        "changes": None if check.changes is None else _changes_json(check.changes),
        "drift": [drift_json(one) for one in drift],
        "readiness": to_plain(readiness),
    }


def _entry_json(entry: EntryCheck) -> Json:
    return {
        "entry": entry.spec.entry,
        "place": entry.spec.place,
        "source": entry.spec.source,
        "admitted": [str(address) for address in entry.admitted],
        "blocked": {str(address): [block_json(why) for why in reasons] for address, reasons in entry.blocked.items()},
        "passed_over": {
            str(address): {"code": refusal.code, "message": refusal.message}
            for address, refusal in entry.passed_over.items()
        },
    }


def _alias_json(alias: AliasCheck) -> Json:
    return {"name": alias.name, "devices": alias.devices, "available": alias.available, "hint": alias.hint}


def _danger_json(danger: Danger) -> Json:
    address = None if danger.address is None else str(danger.address)
    return {"code": danger.code, "message": danger.message, "address": address, "entry": danger.entry}


def _orphan_json(orphan: Orphan) -> Json:
    device, reason = orphan.device, orphan.reason
    return {
        "address": str(device.address),
        "status": str(device.status),
        "consumer": device.consumer,
        "reason": {"code": reason.code, "message": reason.message},
    }


def _retagged_json(retagged: Retagged) -> Json:
    device = retagged.device
    return {
        "address": str(device.address),
        "consumer": device.consumer,
        "before": dict(retagged.before),
        "after": dict(retagged.after),
    }


def _changes_json(changes: Changes) -> Json:
    return {
        "appear": [_admitted_json(device) for device in changes.appear],
        "vanish": [_admitted_json(device) for device in changes.vanish],
        "retagged": [
            {"address": str(one.device.address), "before": dict(one.before), "after": dict(one.after)}
            for one in changes.retagged
        ],
    }


def _admitted_json(device: PciDevice) -> Json:
    return {"address": str(device.address), "entry": device.entry, "tags": dict(device.tags)}
