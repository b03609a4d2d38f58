"""The help pages go to stdout as answers do, which click's own writing does not."""

import click

from laneway.cli.streams import write


class WithHelpPage(click.Command):
    """A command whose page is written as an answer is. Raises OutputError where stdout does not take it."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show
        return option


def _show(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        write(ctx.get_help())
        ctx.exit()
