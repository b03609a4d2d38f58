"""The command line. It calls use cases only, and imports late what a command does not need."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import click

from laneway.cli.commands import SUMMARIES
from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.cli.group import LazyGroup
from laneway.cli.streams import OutputError, discard_output, flush, make_usable, tell, write
from laneway.domain.errors import ErrorCode, LanewayError

PROGRAM = "laneway"
COMPLETION_VARIABLE = "_LANEWAY_COMPLETE"
"""The variable by which a shell's completion script asks this program; click's name for it."""


def _print_version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        write(f"laneway {version('laneway')} (Python {sys.version.split()[0]})")
        ctx.exit()


root = LazyGroup(
    name=PROGRAM,
    package="laneway.cli.commands",
    summaries=SUMMARIES,
    help="Laneway decides which virtual machine gets which PCI device.",
    epilog="`laneway COMMAND --help` explains a command, with examples.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version and exit.",
        )
    ],
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status; nothing escapes as an exception."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    make_usable()
    try:
        with _no_garbage_collection():
            status = _run(given)
        flush()
    except OutputError as error:
        discard_output()
        if error.status is ExitStatus.UNWRITABLE:
            tell(f"error: the answer cannot be written: {error}; what the command changed stays changed")
        return error.status
    except (KeyboardInterrupt, click.Abort):
        tell()
        return ExitStatus.INTERRUPTED
    return status


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Commands end before there is garbage worth collecting, and looking for it takes a tenth of their time.

    A command that may go on for long turns it on again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _run(arguments: list[str]) -> int:
    """Runs the command line; a failure is told on stderr, or with ``--json`` on stdout.

    Raises OutputError where stdout takes no more.
    """
    try:
        return _invoke(arguments)
    except click.exceptions.NoArgsIsHelpError as page:
        write(page.format_message())
        return ExitStatus.USAGE
    except click.ClickException as error:
        failure = LanewayError(ErrorCode.USAGE, error.format_message().replace("\n\t", " ").rstrip("."))
        return _tell(failure, arguments, hint=_help_hint(error))
    except LanewayError as error:
        return _tell(error, arguments)
    except (OutputError, click.Abort):
        raise
    except Exception as fault:  # the last resort: a person gets a message, never a traceback
        from laneway.cli.failure import internal_error

        if os.environ.get("LANEWAY_DEBUG") == "1":
            import traceback

            traceback.print_exception(fault)
        return _tell(internal_error(fault), arguments)


def _invoke(arguments: list[str]) -> int:
    instruction = os.environ.get(COMPLETION_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    try:
        with root.make_context(PROGRAM, arguments) as ctx:
            status: int = root.invoke(ctx)
            return status
    except click.exceptions.Exit as end:
        return end.exit_code


def _tell(error: LanewayError, arguments: Sequence[str], hint: str = "") -> int:
    from laneway.cli.failure import as_json, as_text
    from laneway.cli.output import write_json, write_message

    if "--json" in arguments:
        write_json(as_json(error))
    else:
        write_message(lambda screen: as_text(error, screen) + hint, _color_of(arguments))
    return EXIT_STATUS[error.code]


def _color_of(arguments: Sequence[str]) -> str:
    """What ``--color`` says, also where the command line could not be parsed."""
    following = dict(pairwise(arguments))
    joined = next((word.partition("=")[2] for word in arguments if word.startswith("--color=")), "auto")
    return following.get("--color", joined)


def _help_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return "" if context is None else f"\n       `{context.command_path} --help` explains the command"
