"""What is freed of consumers that are gone."""

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.device import PciDevice
from laneway.fleet.cleanup import Cleanup

COLUMNS = (Column("CONSUMER"), Column("ADDRESS"), Column("STATUS"), Column("OUTCOME", least=32, wraps=True))


def cleanup_page(cleanup: Cleanup, screen: Screen, *, applied: bool) -> list[str]:
    """A line for each device, and what to do next."""
    rows = [_row(device, applied=applied) for device in cleanup.devices]
    lines = table(COLUMNS, rows, screen) or ["Every device is held for a consumer that exists."]
    if rows and not applied:
        lines += ["", "Nothing is changed yet. To free this, add --yes"]
    return lines


def _row(device: PciDevice, *, applied: bool) -> tuple[Cell, ...]:
    outcome, is_open = "freed" if applied else "to be freed", bool(device.function.opened_by)
    if is_open:
        outcome += ", and blocked as long as a process has it open"
    return (
        Cell(device.consumer or ""),
        Cell(str(device.address), Tone.HELD),
        Cell(str(device.status)),
        Cell(outcome, Tone.WAITING if is_open else Tone.GOOD),
    )
