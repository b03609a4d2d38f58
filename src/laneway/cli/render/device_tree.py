"""The functions of a host as a tree: NUMA node, root, switches, functions, and VFs by how they stand."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.functions import FOLD_FROM, Fold, fold, remarks, standing, type_word, vf_remark, what_it_is
from laneway.cli.render.screen import Screen, Tone
from laneway.cli.render.view import FunctionView, Names
from laneway.domain.address import PciAddress
from laneway.domain.inventory import Link, NumaNode

COLUMNS = (
    Column("PLACE"),
    Column("TYPE"),
    Column("DEVICE", least=24),
    Column("LINK", spare=1),
    Column("DRIVER", spare=2),
    Column("STATUS", least=19),
    Column("NOTES", least=32, wraps=True),
)
_Key = TypeVar("_Key", int, str, PciAddress)
_Children = Mapping[PciAddress, Sequence[FunctionView]]
_BLANK = (Cell(),) * (len(COLUMNS) - 1)


@dataclass(slots=True)
class _Branch:
    """A place with what hangs below it: a node, a root, a bridge or a function."""

    title: Cell
    cells: tuple[Cell, ...] = _BLANK
    below: list["_Branch"] = field(default_factory=list)


def device_tree(
    views: Sequence[FunctionView],
    numa_nodes: Sequence[NumaNode],
    names: Names,
    screen: Screen,
    *,
    every: bool = False,
) -> list[str]:
    """The tree. A bridge is a line of its own only where several cards part below it, or with ``every``."""
    tops, vfs = _by_parent(views, bridges=every)
    nodes = {node.id: node for node in numa_nodes}
    rows: list[tuple[Cell, ...]] = []
    for node, members in _grouped(tops, lambda view: view.function.numa_node):
        rows.append((Cell(_node_title(node, nodes), Tone.STRONG), *_BLANK))
        roots = [
            _Branch(Cell(f"root {root or 'unknown'}", Tone.DIM), below=_hang(inner, 0, vfs, names, every=every))
            for root, inner in _grouped(members, _root_of)
        ]
        rows.extend(_rows(roots, "", screen))
    return table(COLUMNS, rows, screen)


def _by_parent(views: Sequence[FunctionView], *, bridges: bool) -> tuple[list[FunctionView], _Children]:
    """The functions that hang on the bus, and the VFs of each PF; of bridges only where they are asked for."""
    addresses = {view.function.address for view in views}
    tops: list[FunctionView] = []
    vfs: dict[PciAddress, list[FunctionView]] = {}
    for view in views:
        parent = view.function.parent_addr
        if parent is not None and parent in addresses:
            vfs.setdefault(parent, []).append(view)
        elif bridges or not view.function.is_bridge:
            tops.append(view)
    return tops, vfs


def _grouped(
    views: Iterable[FunctionView], key: Callable[[FunctionView], _Key | None]
) -> list[tuple[_Key | None, list[FunctionView]]]:
    """The views by a key, ascending; those without one last."""
    groups: dict[_Key | None, list[FunctionView]] = {}
    for view in views:
        groups.setdefault(key(view), []).append(view)
    return sorted(groups.items(), key=lambda item: (item[0] is None, item[0]))


def _root_of(view: FunctionView) -> str | None:
    """Its root; of a function below several, all of them."""
    return "+".join(view.function.pcie_roots or ()) or None


def _hang(views: Sequence[FunctionView], depth: int, vfs: _Children, names: Names, *, every: bool) -> list[_Branch]:
    """The functions as branches below the bridge at this depth, in order of address."""
    here = [view for view in views if len(_bridges(view)) <= depth]
    deeper = [view for view in views if len(_bridges(view)) > depth]
    leaves = {lines.first.function.address: _leaf(lines, vfs, names, every=every) for lines in fold(here)}
    placed = [(address, [leaf]) for address, leaf in leaves.items()]
    for bridge, members in _grouped(deeper, lambda view: _bridges(view)[depth]):
        below = _hang(members, depth + 1, vfs, names, every=every)
        if bridge in leaves:
            leaves[bridge].below += below
            continue
        parts = every or len({view.function.address >> 3 for view in members}) > 1
        if parts and len(below) > 1:
            below = [_Branch(Cell(f"bridge {bridge}", Tone.DIM), below=below)]
        placed.append((members[0].function.address, below))
    return [branch for _, branches in sorted(placed, key=lambda item: item[0]) for branch in branches]


def _bridges(view: FunctionView) -> Sequence[PciAddress]:
    return view.function.bridges or ()


def _leaf(lines: Fold, vfs: _Children, names: Names, *, every: bool) -> _Branch:
    view = lines.first
    count = len(lines.views)
    tone = Tone.DIM if view.device is None else None
    notes = (*remarks(view), *vf_remark(view.function))
    children = vfs.get(view.function.address, [])
    branch = _Branch(
        Cell(str(view.function.address), tone),
        (
            Cell(f"{type_word(view.function)} x{count}" if count > 1 else type_word(view.function), tone),
            Cell(what_it_is(view.function, names), tone),
            _link(view.function.link, tone),
            Cell(view.function.driver or "-", tone),
            standing(view),
            Cell("; ".join(notes), tone),
        ),
    )
    if every or len(children) < FOLD_FROM:
        branch.below = [_leaf(Fold((child,)), vfs, names, every=every) for child in children]
    else:
        branch.below = _summaries(children)
    return branch


def _summaries(children: Sequence[FunctionView]) -> list[_Branch]:
    """VFs of one PF in a line for each way they stand: how many, and how."""
    counts: Counter[Cell] = Counter(standing(child) for child in children)
    return [
        _Branch(Cell(f"{count} VF{'s' if count > 1 else ''}"), (*_BLANK[:4], cell, Cell()))
        for cell, count in counts.items()
    ]


def _link(link: Link | None, tone: Tone | None) -> Cell:
    """The width of the link, and of how many lanes where it is narrower than it could be."""
    if link is None or not link.width:
        return Cell()
    if link.max_width is not None and link.width < link.max_width:
        return Cell(f"x{link.width} of x{link.max_width}", Tone.WAITING)
    return Cell(f"x{link.width}", tone)


def _node_title(node: int | None, numa: Mapping[int, NumaNode]) -> str:
    if node is None:
        return "NUMA node unknown"
    socket = numa[node].socket if node in numa else None
    return f"NUMA node {node}" if socket is None else f"NUMA node {node}, socket {socket}"


def _rows(branches: Sequence[_Branch], indent: str, screen: Screen) -> list[tuple[Cell, ...]]:
    fork, end, line = ("├─ ", "└─ ", "│  ") if screen.unicode else ("|- ", "`- ", "|  ")
    rows: list[tuple[Cell, ...]] = []
    for number, branch in enumerate(branches, 1):
        last = number == len(branches)
        inner = indent + ("   " if last else line)
        place = Cell(
            f"{indent}{end if last else fork}{branch.title.text}",
            branch.title.tone,
            beneath=inner + (line if branch.below else ""),
        )
        rows.append((place, *branch.cells))
        rows.extend(_rows(branch.below, inner, screen))
    return rows
