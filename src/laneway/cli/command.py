"""A command of Laneway: the options that all have, and a help page with examples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from laneway.cli.commands import SUMMARIES
from laneway.cli.help_page import WithHelpPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the options that all commands share say. None where one was not given."""

    config: Path | None = None
    nova_conf: tuple[Path, ...] = ()
    snapshot: Path | None = None
    state: Path | None = None
    root: Path | None = None
    as_json: bool = False
    color: str = "auto"


@dataclass(frozen=True, slots=True)
class Example:
    """A command line that works as it stands, and what it is for."""

    line: str
    purpose: str


def _file(*names: str, metavar: str, help_text: str, **more: Any) -> click.Option:
    return click.Option(names, type=click.Path(path_type=Path, readable=False), metavar=metavar, help=help_text, **more)


def common_options() -> list[click.Parameter]:
    """The options that every command takes, made anew: a parameter belongs to one command."""
    return [
        _file("--config", metavar="FILE", help_text="Use this laneway.toml."),
        _file(
            "--nova-conf",
            metavar="FILE",
            multiple=True,
            help_text="Use the [pci] section of this nova.conf in its place; of several the later overrides.",
        ),
        _file("--snapshot", metavar="FILE", help_text="Read the devices from an inventory, not from this host."),
        _file("--root", metavar="PATH", help_text="Read the devices from a captured tree, or a recording of Windows."),
        _file("--state", metavar="FILE", help_text="Keep the state in this database."),
        click.Option(["--json", "as_json"], is_flag=True, help="Answer in JSON."),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="Colours; auto (the default) means on a terminal, unless NO_COLOR is set.",
        ),
    ]


COMMON_OPTION_NAMES = frozenset(name for option in common_options() for name in option.opts)
_COMMON_PARAMETERS = tuple(str(option.name) for option in common_options())


class LanewayCommand(WithHelpPage):
    """A command whose function gets the shared options as one ``Settings`` value, first."""

    def __init__(self, *, examples: Sequence[Example] = (), **attributes: Any) -> None:
        super().__init__(**attributes)
        self.examples = tuple(examples)
        self.own_params = tuple(self.params)
        self.params = [*self.params, *common_options()]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            self._refuse_unclear(ctx, given)
        return rest

    def _refuse_unclear(self, ctx: click.Context, given: list[str]) -> None:
        """An empty value is a shell's variable that is not set; of an option given twice one value would be lost."""
        values, _, params = self.make_parser(ctx).parse_args(given)
        for param in params:
            value, name = values.get(str(param.name)), param.human_readable_name
            if isinstance(param, click.Option):
                name = param.opts[0]
                if not (param.is_flag or param.multiple) and params.count(param) > 1:
                    raise click.UsageError(f"{name} is given more than once; keep one of them", ctx)
            if value == "" or (isinstance(value, list | tuple) and "" in value):
                raise click.UsageError(f"{name} is empty; give it a value", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        shared = {name: ctx.params.pop(name) for name in _COMMON_PARAMETERS}
        ctx.params["settings"] = Settings(**shared)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shared = [param for param in self.get_params(ctx) if param not in self.own_params]
        for title, params in (("Options", self.own_params), ("Options of all commands", shared)):
            options = [param for param in params if isinstance(param, click.Option)]
            records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for number, example in enumerate(self.examples):
                    if number:
                        formatter.write_paragraph()
                    formatter.write_text(f"{example.purpose}:")
                    formatter.write(f"{'':{formatter.current_indent + 2}}{example.line}\n")


def laneway_command(name: str, *examples: Example) -> Callable[[Callable[..., int]], LanewayCommand]:
    """Makes a function the command of this name; its docstring is the help page's text.

    The function returns the exit status.
    """
    return click.command(name, cls=LanewayCommand, short_help=SUMMARIES[name], examples=examples)
