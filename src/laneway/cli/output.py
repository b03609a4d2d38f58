"""Writes answers to stdout: lines for people, one line of JSON for programs."""

import sys
from collections.abc import Callable, Iterable

from laneway.cli.command import Settings
from laneway.cli.render.screen import Screen, screen_of
from laneway.cli.streams import tell, write


def screen(settings: Settings) -> Screen:
    """What stdout shows, as the options say."""
    return screen_of(sys.stdout, settings.color)


def write_lines(lines: Iterable[str]) -> None:
    """Writes lines whose colours, if any, are meant for this stdout."""
    write("\n".join(lines))


def write_message(message: Callable[[Screen], str], color: str) -> None:
    """Writes a message to stderr, made for what that shows; ``color`` is the value of ``--color``."""
    tell(message(screen_of(sys.stderr, color)))


def write_json(document: object) -> None:
    """Writes one document as one line of JSON in UTF-8, whatever the locale says."""
    from laneway.contracts.codec import encode  # noqa: PLC0415 - start-up counts, and most calls print text

    write(encode(document))
