"""The JSON contract ``laneway.devices/1``: every function of a host, tracked or not."""

from laneway.contracts.answer import Json, status_json
from laneway.contracts.codec import to_plain
from laneway.contracts.inventory import function_to_plain
from laneway.domain.inventory import Inventory, PciFunction
from laneway.domain.specs.refusal import why_not
from laneway.domain.tracking.host_view import HostView

DEVICES_SCHEMA = "laneway.devices/1"


def devices_document(host: str, inventory: Inventory, view: HostView) -> Json:
    """Every function with its facts, what is tracked of it, and why it is not handed out otherwise.

    VFs that are gone while their PF is prepared come last, as they were.
    """
    placeholders = (device.function for device in view.placeholders.values())
    return {
        "schema": DEVICES_SCHEMA,
        "host": host,
        "readiness": to_plain(inventory.readiness),
        "functions": [_function_json(function, inventory, view) for function in (*inventory.functions, *placeholders)],
    }


def _function_json(function: PciFunction, inventory: Inventory, view: HostView) -> Json:
    device = view.device(function.address)
    parent = None if function.parent_addr is None else inventory.by_address.get(function.parent_addr)
    is_there = function.address in inventory.by_address
    refusals = why_not(function, parent, view.report.specs) if is_there else ()
    return {
        **function_to_plain(function),
        "device": None if device is None else _device_json(view, function),
        "not_admitted": [{"code": refusal.code, "message": refusal.message} for refusal in refusals],
    }


def _device_json(view: HostView, function: PciFunction) -> Json:
    device = view.device(function.address)
    assert device is not None
    status = status_json(view, function.address)
    return {
        "status": status["status"],
        "consumer": status.get("consumer"),
        "claim": status.get("claim"),
        "prepared": device.prepared,
        "tags": dict(device.tags),
        "entry": status["entry"],
        "blocked_by": status["blocked_by"],
    }
