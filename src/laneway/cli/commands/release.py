"""``laneway release``: devices go back to the host's drivers."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Sequence

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.parameters import address, words
from laneway.domain.address import PciAddress


@laneway_command(
    "release",
    Example("laneway release", "All that was freed and is on its way back; an agent does so by itself"),
    Example("laneway release db-1", "What db-1 has prepared, once its VM has stopped; it keeps its claim"),
    Example("laneway release --device 0000:3b:00.0 --dry-run", "Every write that this would do, in order"),
)
@click.argument("consumer", type=words, required=False)
@click.option(
    "--device", "addresses", type=address, multiple=True, metavar="ADDRESS", help="Only this device; may be repeated."
)
@click.option("--dry-run", is_flag=True, help="Change nothing; print every write, in order.")
def command(settings: Settings, consumer: str | None, addresses: Sequence[PciAddress], dry_run: bool) -> int:
    """Give devices back to the drivers of the host, exactly as they were before they were prepared.

    Without CONSUMER and --device it is all that was freed (`laneway free`). A device that is open is never given
    back. It is reset where it can be. A disk goes to the host's driver, too: the host is kept from reading what the
    guest wrote while that happens, and not afterwards.
    """
    from laneway.cli.changing import answer, progress_of
    from laneway.cli.host import open_host
    from laneway.cli.render.changes import released_page
    from laneway.compute.releasing import release
    from laneway.interfaces.host_driver import Ability

    with open_host(settings).managed(Ability.PREPARE, progress_of(settings)) as host:
        changes = release(host, consumer, addresses, dry_run=dry_run)
    return answer(settings, "release", changes, released_page)
