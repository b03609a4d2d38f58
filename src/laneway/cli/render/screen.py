"""What the lines are made for: how wide it is, whether it shows colours and box characters."""

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import IO


class Tone(StrEnum):
    """What a colour means; the value is the SGR parameter of ECMA-48 that shows it."""

    GOOD = "32"
    WAITING = "33"
    BAD = "31"
    HELD = "36"
    DIM = "2"
    STRONG = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A target of output. ``width`` None means lines of any length, as in a pipe or a file."""

    width: int | None = None
    color: bool = False
    unicode: bool = True

    def paint(self, text: str, tone: Tone | None = None) -> str:
        """The text in this tone, where there are colours; control characters never get through.

        Names of devices, consumers and processes come from others, so none may steer a terminal.
        """
        shown = printable(text)
        return f"\x1b[{tone}m{shown}\x1b[0m" if tone and self.color and shown else shown

    @property
    def ellipsis(self) -> str:
        return "…" if self.unicode else "..."


PLAIN = Screen()


def screen_of(stream: IO[str], color: str) -> Screen:
    """The screen that a stream is; ``color`` is auto, always or never.

    Auto shows colours on a terminal that is not dumb, unless NO_COLOR is set (no-color.org).
    """
    terminal = stream.isatty()
    capable = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(
        width=_width() if terminal else None,
        color=color == "always" or (color == "auto" and capable),
        unicode="utf" in (getattr(stream, "encoding", None) or "").lower(),
    )


def _width() -> int:
    from shutil import get_terminal_size  # noqa: PLC0415 - start-up counts, and it imports every archive format

    return get_terminal_size().columns


def printable(text: str) -> str:
    """The text with a question mark for each character that is not printable."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "?" for char in text)


def width_of(text: str) -> int:
    """How many columns of a terminal the text takes: wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # noqa: PLC0415 - rarely needed, and start-up counts

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text if not combining(char))


def fit(text: str, width: int, screen: Screen) -> str:
    """The text, cut to so many columns with an ellipsis where it is longer."""
    if width_of(text) <= width:
        return text
    room = width - len(screen.ellipsis)
    kept = text[: max(room, 0)]
    while width_of(kept) > room and kept:
        kept = kept[:-1]
    return kept.rstrip() + screen.ellipsis
