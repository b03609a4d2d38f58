"""The functions of a host as a table, one line each; long runs of VFs as one line."""

from collections.abc import Sequence

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.functions import (
    Fold,
    fold,
    ids,
    remarks,
    standing,
    type_word,
    vf_remark,
    what_it_is,
)
from laneway.cli.render.screen import Screen, Tone
from laneway.cli.render.view import FunctionView, Names

COLUMNS = (
    Column("ADDRESS"),
    Column("TYPE"),
    Column("ID", spare=4),
    Column("DEVICE", least=24),
    Column("NUMA", right=True, spare=3),
    Column("GROUP", right=True, spare=1),
    Column("DRIVER", spare=2),
    Column("STATUS", least=19),
    Column("NOTES", least=32, wraps=True),
)


def device_table(views: Sequence[FunctionView], names: Names, screen: Screen, *, every: bool = False) -> list[str]:
    """The table, in order of address as the views are."""
    return table(COLUMNS, [_row(lines, names) for lines in fold(views, every=every)], screen)


def _row(lines: Fold, names: Names) -> tuple[Cell, ...]:
    view, function = lines.first, lines.first.function
    count = len(lines.views)
    tone = Tone.DIM if view.device is None else None
    notes = (*_span(lines), *remarks(view), *vf_remark(function))
    return (
        Cell(str(function.address), tone),
        Cell(f"{type_word(function)} x{count}" if count > 1 else type_word(function), tone),
        Cell(ids(function), tone),
        Cell(what_it_is(function, names), tone),
        Cell(_number(function.numa_node), tone),
        Cell(_groups(lines), tone),
        Cell(function.driver or "-", tone),
        standing(view),
        Cell("; ".join(notes), tone),
    )


def _span(lines: Fold) -> tuple[str, ...]:
    return (f"up to {lines.last.function.address}",) if len(lines.views) > 1 else ()


def _groups(lines: Fold) -> str:
    """The IOMMU group; of a fold whose functions have each their own, the lowest and the highest."""
    groups = {view.function.iommu_group for view in lines.views}
    known = [group for group in groups if group is not None]
    if len(groups) == 1 or len(known) < len(groups):
        return _number(lines.first.function.iommu_group)
    return f"{min(known)}-{max(known)}"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
