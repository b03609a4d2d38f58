"""A table in columns: as wide as its text in a pipe, fitted to the width of a terminal."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from laneway.cli.render.screen import Screen, Tone, fit, printable, width_of

GAP = "  "
NARROWEST = 16
"""What a wrapped column keeps where nothing else is left to shrink."""


class Cell(NamedTuple):
    """``beneath`` stands below the text where another cell of the row takes more than one line."""

    text: str = ""
    tone: Tone | None = None
    beneath: str = ""


class Column(NamedTuple):
    """A column. Where the screen is too narrow it shrinks to ``least``: cut, or wrapped.

    Where that is not enough the columns with a ``spare`` are left out, the lowest first.
    """

    title: str
    right: bool = False
    least: int | None = None
    wraps: bool = False
    spare: int | None = None


Row = Sequence[Cell]


def table(columns: Sequence[Column], rows: Sequence[Row], screen: Screen) -> list[str]:
    """The lines of the table, with a line of titles. A column with no text at all is left out.

    A table without any text has no lines.
    """
    used = [index for index in range(len(columns)) if any(row[index].text for row in rows)]
    if not used:
        return []
    body = [[_printable(cell) for cell in row] for row in rows]
    used, widths = _fitting(columns, used, body, screen.width)
    columns = [columns[index] for index in used]
    body = [[row[index] for index in used] for row in body]
    titles = [Cell(column.title, Tone.STRONG) for column in columns]
    return [line for row in (titles, *body) for line in _lines(columns, row, widths, screen)]


def _fitting(
    columns: Sequence[Column], used: list[int], rows: Sequence[Row], width: int | None
) -> tuple[list[int], list[int]]:
    """The columns that are shown, and how wide each is, so that a line fits the width where that can be."""
    full = {
        index: max(width_of(columns[index].title), *(width_of(row[index].text) for row in rows), 0) for index in used
    }
    if width is None:
        return used, list(full.values())
    least = {index: min(wide, columns[index].least or wide) for index, wide in full.items()}
    spares = sorted((spare, index) for index in used if (spare := columns[index].spare) is not None)
    for _, index in spares:
        if _length(least.values()) > width:
            del full[index], least[index]
    if _length(least.values()) > width:
        least |= {index: min(wide, NARROWEST) for index, wide in least.items() if columns[index].wraps}
    excess = _length(full.values()) - width
    for index in sorted(full, key=lambda index: not columns[index].wraps):
        given = min(max(excess, 0), full[index] - least[index])
        full[index] -= given
        excess -= given
    return list(full), list(full.values())


def _length(widths: Collection[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _printable(cell: Cell) -> Cell:
    return cell if cell.text.isprintable() else cell._replace(text=printable(cell.text))


def _lines(columns: Sequence[Column], row: Row, widths: Sequence[int], screen: Screen) -> list[str]:
    parts = [
        [cell.text] if width_of(cell.text) <= width else _fitted(column, cell.text, width, screen)
        for column, cell, width in zip(columns, row, widths, strict=True)
    ]
    lines = []
    for number in range(max(map(len, parts))):
        line = ""
        for column, cell, width, part in zip(columns, row, widths, parts, strict=True):
            text = part[number] if number < len(part) else cell.beneath
            padding = " " * (width - width_of(text))
            shown = screen.paint(text, cell.tone)
            line += (padding + shown if column.right else shown + padding) + GAP
        lines.append(line.rstrip())
    return lines


def _fitted(column: Column, text: str, width: int, screen: Screen) -> list[str]:
    return wrapped(text, width) if column.wraps else [fit(text, width, screen)]


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most this many columns, broken at blanks."""
    if width_of(text) <= width:
        return [text]
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and width_of(joined) > width:
            lines.append(word)
        else:
            lines[-1] = joined
    return lines
