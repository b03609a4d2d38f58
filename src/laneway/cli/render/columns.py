"""A table in columns: as wide as its text in a pipe, fitted to the width of a terminal."""

from collections.abc import Sequence
from typing import NamedTuple

from laneway.cli.render.screen import Screen, Tone, fit, printable, width_of

GAP = "  "


class Cell(NamedTuple):
    """``beneath`` stands below the text where another cell of the row takes more than one line."""

    text: str = ""
    tone: Tone | None = None
    beneath: str = ""


class Column(NamedTuple):
    """A column. Where the screen is too narrow it shrinks to ``least``: cut, or wrapped."""

    title: str
    right: bool = False
    least: int | None = None
    wraps: bool = False


Row = Sequence[Cell]


def table(columns: Sequence[Column], rows: Sequence[Row], screen: Screen) -> list[str]:
    """The lines of the table, with a line of titles. A column with no text at all is left out.

    A table without any text has no lines.
    """
    used = [index for index in range(len(columns)) if any(row[index].text for row in rows)]
    if not used:
        return []
    columns = [columns[index] for index in used]
    body = [[_printable(row[index]) for index in used] for row in rows]
    widths = _widths(columns, body, screen)
    titles = [Cell(column.title, Tone.STRONG) for column in columns]
    return [line for row in (titles, *body) for line in _lines(columns, row, widths, screen)]


def _widths(columns: Sequence[Column], rows: Sequence[Row], screen: Screen) -> list[int]:
    widths = [
        max(width_of(column.title), *(width_of(row[index].text) for row in rows), 0)
        for index, column in enumerate(columns)
    ]
    if screen.width is None:
        return widths
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - screen.width
    for index, column in sorted(enumerate(columns), key=lambda item: not item[1].wraps):
        if excess > 0 and column.least is not None:
            given = min(excess, max(widths[index] - column.least, 0))
            widths[index] -= given
            excess -= given
    return widths


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
