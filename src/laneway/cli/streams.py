"""The standard streams, whatever the program was started with: closed, full, or a pipe whose reader has gone."""

import errno
import io
import os
import sys
from contextlib import suppress

import click

from laneway.cli.exit_status import ExitStatus

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""Their names in ``sys`` and their modes, by number."""


class OutputError(Exception):
    """Stdout takes no more. Its own class, as no handler of a command's files is meant for it."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror)
        # Of a pipe whose reader has gone, Windows says that the argument is invalid.
        has_no_reader = isinstance(cause, BrokenPipeError) or (os.name == "nt" and cause.errno == errno.EINVAL)
        self.status = ExitStatus.BROKEN_PIPE if has_no_reader else ExitStatus.UNWRITABLE


def make_usable() -> None:
    """Gives each stream that is closed a null device at its own number, and lets all show any text.

    Without it the next file to be opened would get the number of a standard stream, and what is written to that
    would end in the file.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            _take_number(number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the locale cannot show is no reason to fail.
            stream.reconfigure(errors="replace")


def write(text: str | bytes) -> None:
    """Writes to stdout, with a line end. Raises OutputError."""
    try:
        click.echo(text, color=True)
    except OSError as error:
        raise OutputError(error) from error


def flush() -> None:
    """Writes what is still in the buffer of stdout. Raises OutputError."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from error


def discard_output() -> None:
    """Points stdout nowhere, so that what is still in its buffer raises nothing at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def tell(message: str = "") -> None:
    """Writes to stderr; where that fails there is nobody left to tell."""
    with suppress(OSError):
        click.echo(message, err=True, color=True)


def _take_number(number: int) -> None:
    """Opens the null device at this number of a file, unless the number is in use."""
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
