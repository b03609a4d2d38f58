"""Why a claim is refused: what each request finds, and what keeps the others from it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.screen import Screen, Tone

COLUMNS = (
    Column("REQUEST"),
    Column("WANTS", right=True),
    Column("FINDS", right=True),
    Column("LEFT OUT", right=True),
    Column("AS THEY ARE", least=40, wraps=True),
    Column("DEVICES", least=27, wraps=True),
)
_NOT_ASKED_FOR = ("ids", "type", "tags")
_SHOWN = 3


def explanation_block(explanation: Mapping[str, Any], screen: Screen) -> list[str]:
    """The explanation of a refusal, as it stands in the error's detail: a line for each rule that removed devices.

    What is simply not asked for is listed only where nothing else is left to look at.
    """
    rows = [row for request in explanation["requests"] for row in _rows(request)]
    return table(COLUMNS, rows, screen)


def _rows(request: Mapping[str, Any]) -> Iterator[tuple[Cell, ...]]:
    found, wanted = request["found"], request["wanted"]
    enough = Cell(str(found), Tone.GOOD if found >= wanted else Tone.WAITING)
    start: tuple[Cell, ...] = (Cell(request["name"], Tone.STRONG), Cell(str(wanted)), enough)
    removals = _worth_showing(request["rules"], found)
    if not removals:
        yield (*start, Cell(), Cell("" if found else "the host has none to hand out"), Cell())
    for removal in removals:
        addresses = removal["addresses"]
        more = f" and {len(addresses) - _SHOWN} more" if len(addresses) > _SHOWN else ""
        yield (
            *start,
            Cell(str(removal["removed"])),
            Cell(removal["message"]),
            Cell(", ".join(addresses[:_SHOWN]) + more, Tone.DIM),
        )
        start = (Cell(), Cell(), Cell())


def _worth_showing(removals: Sequence[Mapping[str, Any]], found: int) -> Sequence[Mapping[str, Any]]:
    asked_for = [removal for removal in removals if removal["code"] not in _NOT_ASKED_FOR]
    return asked_for if asked_for or found else removals
