"""The transportation problem: a lower bound for an assignment, and proof that demands exceed what there is.

Hungarian method with several units per row and column; see Ahuja, Magnanti and Orlin, *Network
Flows*, chapter 9.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Prices(NamedTuple):
    """Optimal dual values: ``rows[r] + columns[c]`` is never above the cost of ``r`` at ``c``.

    No price of a column is above 0, and it is 0 where the column has units to spare. So a choice
    costs at least the price of its rows plus, for each column, its price times its capacity.
    """

    rows: list[int]
    columns: list[int]


def prices(demands: Sequence[int], capacities: Sequence[int], costs: Sequence[Sequence[int | None]]) -> Prices | None:
    """The dual values of serving all demands at the least cost, or None if they cannot be served.

    ``costs[r][c]`` is the cost of one unit of row ``r`` at column ``c``, None if it cannot be there.
    """
    found = Prices([0] * len(demands), [0] * len(capacities))
    flow = [[0] * len(capacities) for _ in demands]
    spare = list(capacities)
    for row, demand in enumerate(demands):
        missing = demand
        options = [cost for cost in costs[row] if cost is not None]
        if missing and not options:
            return None
        if options:
            found.rows[row] = min(c - v for c, v in zip(costs[row], found.columns, strict=True) if c is not None)
        while missing:
            sent = _augment(row, missing, spare, flow, costs, found)
            if not sent:
                return None
            missing -= sent
    return found


def _augment(  # noqa: PLR0917 - the parts of one tableau, passed on from row to row
    start: int,
    missing: int,
    spare: list[int],
    flow: list[list[int]],
    costs: Sequence[Sequence[int | None]],
    duals: Prices,
) -> int:
    """Sends units of a row along a cheapest path to a column with room; 0 if there is none.

    Grows a tree of rows and columns along tight edges; where it stops, the dual values of the tree
    change by as little as makes one more edge tight.
    """
    rows, columns = duals
    slack: dict[int, tuple[int, int]] = {}
    came_from: dict[int, int] = {}
    row_from: dict[int, int] = {start: -1}
    newest = [start]
    shift = 0
    joined: dict[int, int] = {start: 0}
    reached: dict[int, int] = {}
    while True:
        for row in newest:
            base = rows[row] - shift
            for column, cost in enumerate(costs[row]):
                if cost is not None and column not in came_from:
                    gap = cost - base - columns[column]
                    if column not in slack or gap < slack[column][0]:
                        slack[column] = gap, row
        if not slack:
            return 0
        column = min(slack, key=lambda c: (slack[c][0], spare[c] == 0, c))
        gap, row = slack.pop(column)
        shift = gap
        came_from[column] = row
        reached[column] = shift
        if spare[column]:
            break
        newest = [r for r in range(len(rows)) if flow[r][column] and r not in row_from]
        for r in newest:
            row_from[r] = column
            joined[r] = shift
    for r, at in joined.items():
        rows[r] += shift - at
    for c, at in reached.items():
        columns[c] -= shift - at
    return _send(column, missing, spare, flow, came_from, row_from)


def _send(  # noqa: PLR0917 - as above
    end: int,
    missing: int,
    spare: list[int],
    flow: list[list[int]],
    came_from: dict[int, int],
    row_from: dict[int, int],
) -> int:
    """Moves as many units as the path to a column takes, and says how many."""
    path = []
    column = end
    while column >= 0:
        row = came_from[column]
        path.append((row, column, row_from[row]))
        column = row_from[row]
    sent = min(missing, spare[end], *(flow[row][before] for row, _, before in path if before >= 0))
    spare[end] -= sent
    for row, after, before in path:
        flow[row][after] += sent
        if before >= 0:
            flow[row][before] -= sent
    return sent
