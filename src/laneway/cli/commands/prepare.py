"""``laneway prepare``: devices are taken from the host for the virtual machine that they are allocated to."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Sequence

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.parameters import address, words
from laneway.domain.address import PciAddress


@laneway_command(
    "prepare",
    Example("laneway prepare db-1", "All that is allocated to db-1, before it starts"),
    Example("laneway prepare db-1 --dry-run", "Every write that this would do, in order"),
    Example("laneway prepare db-1 --device 0000:3b:00.0", "One of its devices"),
    Example(
        "laneway prepare db-1 --vf 0000:86:02.1,mac=02:00:00:00:00:01,vlan=7,spoofchk=on",
        "A virtual function with what its PF enforces for it",
    ),
)
@click.argument("consumer", type=words)
@click.option(
    "--device", "addresses", type=address, multiple=True, metavar="ADDRESS", help="Only this device; may be repeated."
)
@click.option(
    "--vf",
    "settings_of_vfs",
    type=words,
    multiple=True,
    metavar="ADDRESS,KEY=VALUE,...",
    help="Settings of a network VF: mac, vlan (0: none), trust, spoofchk (on, off), state (auto, enable, disable).",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; print every write, in order.")
def command(
    settings: Settings, consumer: str, addresses: Sequence[PciAddress], settings_of_vfs: Sequence[str], dry_run: bool
) -> int:
    """Take the devices that are allocated to a consumer from the host's drivers, so that its VM can open them.

    All of them, or none: where one cannot be taken, those that were are given back. Members of an IOMMU group that a
    device spec admits are taken along. Each step is written down before it is done, and undone if a later one
    fails; a process that is killed is undone by the next command. To prepare what is prepared does nothing.
    """
    from laneway.cli.changing import answer, progress_of
    from laneway.cli.host import open_host
    from laneway.cli.render.changes import prepared_page
    from laneway.cli.vf_settings import parse_vf_settings
    from laneway.compute.preparing import prepare
    from laneway.interfaces.host_driver import Ability

    wanted = parse_vf_settings(settings_of_vfs)
    with open_host(settings).managed(Ability.PREPARE, progress_of(settings)) as host:
        changes = prepare(host, consumer, addresses, wanted, dry_run=dry_run)
    return answer(settings, "prepare", changes, prepared_page)
