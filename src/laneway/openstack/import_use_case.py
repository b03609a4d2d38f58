"""The use case ``import nova``, and the JSON contract ``laneway.import/1`` of what it did."""

from collections.abc import Callable, Mapping
from typing import Protocol

from laneway.contracts.answer import Json
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.openstack.import_findings import Finding
from laneway.openstack.nova_import import ImportedDevice, NovaImport, plan_import
from laneway.openstack.nova_nodes import chosen_node
from laneway.openstack.nova_records import NovaRecords
from laneway.openstack.port_records import PortRecord

IMPORT_SCHEMA = "laneway.import/1"


class ControlPlane(Protocol):
    """Where what is taken over is recorded."""

    def look(self, host: str) -> PciDeviceTracker:
        """The host as it stands."""

    def record(self, host: str, action: str, plan: Callable[[PciDeviceTracker], NovaImport]) -> NovaImport:
        """Makes the plan on the host as it stands, and stores what that changes."""


def import_nova(
    plane: ControlPlane,
    host: str,
    records: NovaRecords,
    ports: Mapping[str, PortRecord],
    *,
    node: str | None = None,
    dry_run: bool = False,
) -> NovaImport:
    """Takes over what nova records of a host; a dry run finds out the same and stores nothing.

    ``node`` names the compute node where that is not the host's name. Raises LanewayError(usage)
    where it cannot be told which node is meant.
    """
    found = chosen_node(records.nodes, host, node)

    def plan(tracker: PciDeviceTracker) -> NovaImport:
        return plan_import(tracker, records, found, ports)

    return plan(plane.look(host)) if dry_run else plane.record(host, "import", plan)


def import_document(host: str, imported: NovaImport, *, applied: bool) -> Json:
    """``applied`` is false for a dry run."""
    return {
        "schema": IMPORT_SCHEMA,
        "host": host,
        "node": imported.node.name or imported.node.host,
        "ok": imported.is_clean,
        "applied": applied,
        "devices": [_device_json(device) for device in imported.devices],
        "findings": [_finding_json(finding) for finding in imported.findings],
    }


def _device_json(device: ImportedDevice) -> Json:
    request, refusal = device.request, device.refusal
    return {
        "address": str(device.record.address),
        "consumer": device.consumer,
        "status": str(device.status),
        "attach": str(device.attach),
        "request": None if request is None else request.name,
        "alias": None if request is None else request.alias,
        "port": None if request is None else request.requester,
        "known": device.known,
        "refusal": None if refusal is None else {"code": refusal.code, "message": refusal.message},
    }


def _finding_json(finding: Finding) -> Json:
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "message": finding.message,
        "address": None if finding.address is None else str(finding.address),
        "consumer": finding.consumer,
    }
