"""``laneway vfs``: how many virtual functions a physical function has."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import address
from laneway.domain.address import PciAddress


@laneway_command(
    "vfs",
    Example("laneway vfs", "The PFs of this host and their VFs"),
    Example("laneway vfs 0000:86:00.0 8", "Eight VFs, now and after each boot"),
    Example("laneway vfs 0000:86:00.0 8 --dry-run", "Every write that this would do, in order"),
    Example("laneway vfs 0000:86:00.0 0", "None"),
)
@click.argument("pf", type=address, required=False, metavar="[PF]")
@click.argument("count", type=click.IntRange(min=0), required=False, metavar="[COUNT]")
@click.option(
    "--autoprobe/--no-autoprobe",
    default=None,
    help="Whether the host's driver takes the VFs; if not said, it does unless a device spec admits them.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; print every write, in order.")
def command(settings: Settings, pf: PciAddress | None, count: int | None, autoprobe: bool | None, dry_run: bool) -> int:
    """Give a physical function so many virtual functions, and remember it: they are made again after each boot.

    Refused while a VF is claimed, allocated, in use or open: another number means that all of them go. Without COUNT it
    only shows what there is.
    """
    from laneway.cli.changing import progress_of
    from laneway.cli.host import open_host
    from laneway.cli.render.vfs import set_page, vfs_page
    from laneway.compute.vf_counts import pfs_of, set_vf_count
    from laneway.contracts.vfs import vfs_document
    from laneway.interfaces.host_driver import Ability

    if count is None and (autoprobe is not None or dry_run):
        raise click.UsageError("without a COUNT nothing is changed; say how many VFs the PF is to have")
    local, change = open_host(settings), None
    if pf is not None and count is not None:
        with local.managed(Ability.SET_VF_COUNT, progress_of(settings)) as host:
            change = set_vf_count(host, pf, count, autoprobe=autoprobe, dry_run=dry_run)
            view = host.look()
    else:
        view = local.look()
    shown = pfs_of(view, local.changed(), None if change is not None and change.note else pf)
    if settings.as_json:
        output.write_json(vfs_document(local.name, shown, change, dry_run=dry_run))
    else:
        screen = output.screen(settings)
        lines = [] if change is None else [*set_page(change, screen, dry_run=dry_run), ""]
        output.write_lines([*lines, *vfs_page(shown, screen)])
    return ExitStatus.YES
