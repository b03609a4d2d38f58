"""The PFs of a host and their VFs."""

from collections.abc import Sequence

from laneway.cli.render.changes import steps_page
from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.screen import Screen, Tone
from laneway.contracts.changes import Change
from laneway.contracts.vfs import PfVfs

COLUMNS = (
    Column("PF"),
    Column("VFS", right=True),
    Column("OF", right=True),
    Column("AFTER A BOOT"),
    Column("ADDRESSES", least=24, wraps=True),
)


def vfs_page(pfs: Sequence[PfVfs], screen: Screen) -> list[str]:
    """A line for each PF."""
    return table(COLUMNS, [_row(each) for each in pfs], screen) or [
        "This host has no PF: no function that can make VFs."
    ]


def set_page(change: Change, screen: Screen, *, dry_run: bool) -> list[str]:
    """What was done about the number of VFs, or would be."""
    if change.note is not None:
        return [f"{change.address}: {change.note}."]
    if not change.steps:
        return [f"{change.address} has as many already."]
    if dry_run:
        return [f"{change.address}:", *steps_page(change.steps, screen), "Nothing is changed: this was a dry run."]
    return [screen.paint("Done, and remembered for the next boot.", Tone.GOOD)]


def _row(each: PfVfs) -> tuple[Cell, ...]:
    sriov, kept = each.pf.sriov, each.kept
    probed = "the host's driver takes them" if kept is not None and kept.autoprobe else "no driver takes them"
    return (
        Cell(str(each.pf.address), Tone.STRONG),
        Cell(_number(None if sriov is None else sriov.num_vfs)),
        Cell(_number(None if sriov is None else sriov.total_vfs)),
        Cell("" if kept is None else f"{kept.count}, {probed}"),
        Cell(" ".join(map(str, each.vfs))),
    )


def _number(number: int | None) -> str:
    return "-" if number is None else str(number)
