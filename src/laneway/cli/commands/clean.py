"""``laneway clean``: a device that a guest had is made fit for the next."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Sequence

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.parameters import address
from laneway.domain.address import PciAddress


@laneway_command(
    "clean",
    Example("laneway clean", "All dirty devices whose device spec says how; an agent does so by itself"),
    Example("laneway clean 0000:5e:00.0", "This one, also after its cleaning has failed"),
    Example("laneway clean --dry-run", "What would be done"),
)
@click.argument("addresses", type=address, nargs=-1, metavar="[ADDRESS]...")
@click.option("--dry-run", is_flag=True, help="Change nothing; print every step, in order.")
def command(settings: Settings, addresses: Sequence[PciAddress], dry_run: bool) -> int:
    """Clean dirty devices, which a guest had, so that they can be claimed again.

    How is said by `cleaning` of their device spec; a device without it (`one_time_use`) is cleaned only if it is named
    here, by a reset. One whose cleaning fails is blocked, with the reason; name it here to try again.
    """
    from laneway.cli.changing import answer, progress_of
    from laneway.cli.host import open_host
    from laneway.cli.render.changes import cleaned_page
    from laneway.compute.cleaning import clean
    from laneway.interfaces.host_driver import Ability

    with open_host(settings).managed(Ability.CLEAN, progress_of(settings)) as host:
        changes = clean(host, addresses, dry_run=dry_run)
    return answer(settings, "clean", changes, cleaned_page)
