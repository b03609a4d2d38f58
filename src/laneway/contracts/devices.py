"""The JSON contract ``laneway.devices/1``: every function of a host, tracked or not."""

from laneway.contracts.answer import Json, status_json
from laneway.contracts.codec import to_plain
from laneway.contracts.inventory import function_to_plain
from laneway.domain.inventory import Inventory, PciFunction
from laneway.domain.specs.refusal import why_not
from laneway.domain.tracking.host_view import HostView

DEVICES_SCHEMA = "laneway.devices/1"


def devices_document(host: str, inventory: Inventory, view: HostView) -> Json:
    """Every function with its facts, what is tracked of it, and why it is not handed out otherwise."""
    return {
        "schema": DEVICES_SCHEMA,
        "host": host,
        "readiness": to_plain(inventory.readiness),
        "functions": [_function_json(function, inventory, view) for function in inventory.functions],
    }


def _function_json(function: PciFunction, inventory: Inventory, view: HostView) -> Json:
    device = view.device(function.address)
    parent = None if function.parent_addr is None else inventory.by_address.get(function.parent_addr)
    specs = view.report.specs
    return {
        **function_to_plain(function),
        "device": None if device is None else _device_json(view, function),
        "not_admitted": [
            {"code": refusal.code, "message": refusal.message} for refusal in why_not(function, parent, specs)
        ],
    }


def _device_json(view: HostView, function: PciFunction) -> Json:
    device = view.device(function.address)
    assert device is not None
    status = status_json(view, function.address)
    return {
        "status": status["status"],
        "consumer": status.get("consumer"),
        "claim": status.get("claim"),
        "tags": dict(device.tags),
        "entry": status["entry"],
        "blocked_by": status["blocked_by"],
    }
