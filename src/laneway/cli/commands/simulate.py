"""``laneway simulate``: scenarios played without touching any host."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.cli.streams import write
from laneway.domain.errors import ErrorCode, LanewayError, together


@laneway_command(
    "simulate",
    Example("laneway simulate scenario.json", "One scenario"),
    Example("laneway simulate - < scenarios.jsonl", "A stream of them, with one answer line for each"),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def command(settings: Settings, files: Sequence[str]) -> int:  # noqa: ARG001 - it always answers in JSON
    """Play scenarios of schema laneway.scenario/1: a host, its config and steps. "-" is stdin.

    A file holds one JSON document, or JSON Lines. Each is answered with one line of JSON, in order, as soon as it is
    read. The exit status is 0 whatever the answers are, and 2 if a line was no JSON. Of a file that cannot be read
    an error is told when all others are answered.
    """
    gc.enable()  # a stream may be long
    status: int = ExitStatus.YES
    unreadable: list[LanewayError] = []
    for file in files:
        try:
            with _opened(file) as lines:
                status = _answer(lines) or status
        except LanewayError as error:
            unreadable.append(error)
    if unreadable:
        raise together(unreadable)
    return status


def _answer(lines: Iterable[bytes]) -> int:
    """Answers each document of a file. The exit status is that of the last line that was none."""
    from laneway.contracts.codec import encode
    from laneway.contracts.scenario import document_id
    from laneway.contracts.stream import documents
    from laneway.fleet.simulation import refusal, simulate

    status: int = ExitStatus.YES
    for document in documents(lines):
        if isinstance(document, LanewayError):
            status = EXIT_STATUS[document.code]
            answer = refusal(None, document)
        else:
            answer = simulate(document, document_id(document))
        write(encode(answer))
    return status


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - a Path would turn the empty name into a folder
            yield stream
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.USAGE
        message = f"{file!r} cannot be read: {error.strerror}; name a file, or - for stdin"
        raise LanewayError(code, message, {"file": file}) from error
