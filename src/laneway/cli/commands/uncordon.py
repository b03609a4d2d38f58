"""``laneway uncordon``: a cordoned device is offered again."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.parameters import address
from laneway.domain.address import PciAddress


@laneway_command("uncordon", Example("laneway uncordon 0000:3b:00.0", "The card has been replaced"))
@click.argument("device", type=address, metavar="ADDRESS")
def command(settings: Settings, device: PciAddress) -> int:
    """Let a cordoned device be claimed again; also one that Laneway itself blocked, for whatever reasons.

    The record of a freed device is forgotten where another has been put in its place.
    """
    from functools import partial

    from laneway.cli.deciding import decide
    from laneway.cli.host import open_host
    from laneway.cli.render.answers import changed_answer

    host = open_host(settings)
    return decide(
        settings,
        host,
        "uncordon",
        lambda plane: plane.uncordon(host.name, device),
        partial(changed_answer, "uncordoned"),
    )
