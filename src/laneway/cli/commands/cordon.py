"""``laneway cordon``: a device is not offered until it is uncordoned."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.parameters import address, words
from laneway.domain.address import PciAddress


@laneway_command(
    "cordon",
    Example('laneway cordon 0000:3b:00.0 --reason "memory errors, ticket 4711"', "A card that is to be replaced"),
)
@click.argument("device", type=address, metavar="ADDRESS")
@click.option("--reason", type=words, metavar="TEXT", help="Why; shown to everyone who asks why it is blocked.")
def command(settings: Settings, device: PciAddress, reason: str | None) -> int:
    """Keep a device from being claimed, until `laneway uncordon`. Who has it keeps it."""
    from functools import partial

    from laneway.cli.deciding import decide
    from laneway.cli.host import open_host
    from laneway.cli.render.answers import changed_answer

    host = open_host(settings)
    return decide(
        settings,
        host,
        "cordon",
        lambda plane: plane.cordon(host.name, device, reason),
        partial(changed_answer, "cordoned"),
    )
