"""Processes that claim and free at once never hold one device, or two that are in conflict, together."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fleet import race_runner
from laneway.interfaces.store import AuditEntry
from laneway.store.sqlite import open_store
from store.programs import output_of

PROCESSES, ROUNDS = 6, 12


def test_processes_that_compete_never_hold_one_device_together(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    output_of(race_runner, tmp_path, PROCESSES, ROUNDS)
    with open_store(tmp_path / "state.db") as store:
        state = store.read(race_runner.HOST)
        log = store.audit(race_runner.HOST, last=10_000)
    witnesses = {path.name for path in tmp_path.iterdir() if not path.name.startswith("state.db")}
    assert {str(address) for address in state.held} == witnesses
    changes = owner_changes(log)
    record_property("devices that changed hands between competing processes", changes)
    assert changes >= 2 * PROCESSES


def owner_changes(log: Sequence[AuditEntry]) -> int:
    """How often a device was taken; between two owners each was free."""
    owners: dict[str, object] = {}
    taken = 0
    for entry in log:
        devices = entry.detail.get("devices", {})
        assert isinstance(devices, Mapping)
        for address, device in devices.items():
            owner = device and device["consumer"]
            assert owner is None or owners.get(address) in (None, owner)
            taken += owner is not None and owners.get(address) is None
            owners[address] = owner
    return taken
