"""The claims of a host, and who holds what without one."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.device import PciDevice
from laneway.domain.tracking.claim import ClaimRecord

COLUMNS = (
    Column("CONSUMER", least=16),
    Column("CLAIM"),
    Column("REQUEST", least=12),
    Column("ADDRESS"),
    Column("STATUS"),
    Column("UNTIL"),
)


def claims_page(
    held: Iterable[PciDevice], claims: Mapping[str, ClaimRecord], now: datetime, screen: Screen
) -> list[str]:
    """A line for each held device, by consumer and claim; what repeats from the line above is left out."""
    devices = sorted(held, key=lambda held: (held.consumer or "", held.claim or "", held.request or "", held.address))
    if not devices:
        return ["No device of this host is held."]
    return table(COLUMNS, _without_repeats([_row(device, claims, now) for device in devices]), screen)


def _row(device: PciDevice, claims: Mapping[str, ClaimRecord], now: datetime) -> tuple[Cell, ...]:
    record = claims.get(device.claim or "")
    return (
        Cell(device.consumer or "-"),
        Cell(device.claim or "-"),
        Cell(device.request or "-"),
        Cell(str(device.address)),
        Cell(str(device.status), Tone.HELD if device.is_owned else Tone.WAITING),
        Cell() if record is None else _until(record, now),
    )


def _until(record: ClaimRecord, now: datetime) -> Cell:
    if record.expires_at is None:
        return Cell()
    until = record.expires_at.isoformat(sep=" ", timespec="seconds")
    return Cell(f"{until}, overdue", Tone.WAITING) if record.is_overdue(now) else Cell(until)


def _without_repeats(rows: Iterable[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    shown = []
    above: tuple[Cell, ...] = ()
    for row in rows:
        same = 0
        while same < 3 and above and row[same] == above[same]:
            same += 1
        shown.append((*(Cell() for _ in range(same)), *row[same:]))
        above = row
    return shown
