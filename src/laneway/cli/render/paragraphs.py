"""Sentences below a title, as wide as the screen."""

from collections.abc import Sequence

from laneway.cli.render.columns import wrapped
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.address import PciAddress

SHOWN = 4
"""So many functions are named one by one; of more, the rest is counted."""

_INDENT = " " * 2
_NARROWEST = 40


def notes(title: str, texts: Sequence[str], tone: Tone, screen: Screen) -> list[str]:
    """The title and a paragraph for each text; nothing where there are none."""
    lines = [line for text in texts for line in paragraph(text, screen)]
    return [screen.paint(title, tone), *lines] if lines else []


def paragraph(text: str, screen: Screen) -> list[str]:
    """The text, indented; further lines of it more so."""
    room = max(screen.width - len(_INDENT), _NARROWEST) if screen.width else None
    first, *others = [text] if room is None else wrapped(text, room)
    return [_INDENT + screen.paint(first), *(_INDENT * 2 + screen.paint(line) for line in others)]


def listed(addresses: Sequence[PciAddress]) -> str:
    """The first addresses, and how many more there are."""
    shown = ", ".join(map(str, addresses[:SHOWN]))
    more = len(addresses) - SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
