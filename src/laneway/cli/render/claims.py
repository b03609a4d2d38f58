"""The claims of a host, and who holds what without one."""

from collections.abc import Iterable, Mapping

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


def claims_page(held: Iterable[PciDevice], claims: Mapping[str, ClaimRecord], screen: Screen) -> list[str]:
    """A line for each held device, by consumer and claim; what repeats from the line above is left out."""
    devices = sorted(held, key=lambda held: (held.consumer or "", held.claim or "", held.request or "", held.address))
    if not devices:
        return ["No device of this host is held."]
    return table(COLUMNS, _without_repeats([_row(device, claims) for device in devices]), screen)


def _row(device: PciDevice, claims: Mapping[str, ClaimRecord]) -> tuple[Cell, ...]:
    record = claims.get(device.claim or "")
    until = record.expires_at if record is not None else None
    return (
        Cell(device.consumer or "-"),
        Cell(device.claim or "-"),
        Cell(device.request or "-"),
        Cell(str(device.address)),
        Cell(str(device.status), Tone.HELD if device.is_owned else Tone.WAITING),
        Cell(until.isoformat(sep=" ", timespec="seconds") if until else ""),
    )


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
