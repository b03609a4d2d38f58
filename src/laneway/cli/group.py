"""The root of the command line: finds a command's module when it is called, not before."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import NoReturn

import click

from laneway.cli.command import COMMON_OPTION_NAMES
from laneway.cli.help_page import WithHelpPage


class LazyGroup(WithHelpPage, click.Group):
    """A group over modules ``<package>.<name>``, each of which holds its command as ``command``.

    The help page is made from ``summaries``, so it imports no command at all.
    """

    def __init__(self, *, package: str, summaries: Mapping[str, str], **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        self._package = package
        self._summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in self._summaries:
            return None
        command: click.Command = import_module(f"{self._package}.{_module_of(cmd_name)}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._summaries and not ctx.resilient_parsing:
            self._refuse(ctx, name)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))

    def _refuse(self, ctx: click.Context, name: str) -> NoReturn:
        from difflib import get_close_matches

        near = get_close_matches(name, self._summaries, n=1, cutoff=0.6)
        hint = f"did you mean `laneway {near[0]}`?" if near else "`laneway --help` lists the commands"
        raise click.UsageError(f"there is no command {name!r}; {hint}", ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name in COMMON_OPTION_NAMES:
                raise click.UsageError(
                    f"{error.option_name} goes behind the command: `laneway devices {error.option_name} ...`", ctx
                ) from None
            raise


def _module_of(command: str) -> str:
    """No module has the name of a statement of Python: ``import`` is in ``import_``."""
    name = command.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name
