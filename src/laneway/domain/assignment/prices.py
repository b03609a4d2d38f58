"""What devices cost at least, component by component: prices from a transportation problem over all of them.

A choice costs the price of its class, plus the price of the column that it uses up, plus what it
costs beyond both, which is never below 0. What a choice loses is in its price where no other choice
can share that loss.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from laneway.domain.assignment.component import UNLIMITED, ComponentType
from laneway.domain.assignment.local import LocalStates
from laneway.domain.assignment.model import Model
from laneway.domain.assignment.transport import prices


class Column(NamedTuple):
    """Something that choices use up: ``room`` of a block of positions, or a value of a distinct constraint.

    The value is ``shared`` by components (``which`` is its bit), a ``token`` of a component type
    (likewise), or the ``own`` of each position in a block; for a block ``which`` is its start.
    """

    of: str
    kind: int
    which: int


class Prices:
    """Prices over components in these untouched states, each with its number of components.

    The values of one distinct ``constraint``, if any, are columns of their own. ``classes`` and
    ``columns`` have the prices, ``total`` is the lower bound that they make. ``is_feasible`` is
    False where the demands exceed the columns; then there are no prices.
    """

    def __init__(self, model: Model, states: LocalStates, untouched: Mapping[int, int], constraint: int | None) -> None:
        self._lost = model.weights.lost
        self._shapes = states.types
        self._constraint = constraint
        kinds = {states.type_of[state]: number for state, number in untouched.items()}
        self._sure = {kind: _sure_losses(self._shapes[kind]) for kind in kinds}
        self._once = {kind: _losses_of_one(self._shapes[kind], constraint) for kind in kinds}
        capacities: dict[Column, int] = {}
        costs: defaultdict[Column, dict[int, int]] = defaultdict(dict)
        for kind, number in kinds.items():
            for place, many in Counter(self._shapes[kind].first_like).items():
                for k in self._shapes[kind].classes[place]:
                    column, cost = self.column(kind, place, k), self._cost(kind, place, k)
                    capacities[column] = self._capacity(column, number, many)
                    costs[column][k] = min(cost, costs[column].get(k, cost))
        columns = list(capacities)
        demands = [one.count for one in model.classes]
        table = [[costs[column].get(k) for column in columns] for k in range(len(demands))]
        found = prices(demands, [capacities[column] for column in columns], table)
        self.is_feasible = found is not None
        if found is not None:
            self.classes: Sequence[int] = found.rows
            self.columns: Mapping[Column, int] = dict(zip(columns, found.columns, strict=True))
            self.total = sum(count * price for count, price in zip(demands, found.rows, strict=True))
            self.total += sum(price * capacities[column] for column, price in self.columns.items())

    def column(self, kind: int, place: int, k: int) -> Column:
        """What of a position a class uses up: a value of the constraint, where that is the scarcer, else its room."""
        shape = self._shapes[kind]
        place = shape.first_like[place]
        position = shape.positions[place]
        if self._constraint is not None and self.is_distinct(kind, k):
            if position.shared[self._constraint]:
                return Column("shared", 0, _lowest(position.shared[self._constraint]))
            if position.tokens[self._constraint]:
                return Column("token", kind, _lowest(position.tokens[self._constraint]))
            if position.own >> self._constraint & 1 and position.capacity == UNLIMITED:
                return Column("own", kind, place)
        return Column("room", kind, place)

    def token(self, kind: int, place: int) -> int:
        """The token of a position that it uses up for the constraint."""
        assert self._constraint is not None
        return _lowest(self._shapes[kind].positions[place].tokens[self._constraint])

    def beyond(self, kind: int, place: int, k: int) -> int:
        """What a class pays for a position beyond the prices."""
        return self._cost(kind, place, k) - self.classes[k] - self.columns[self.column(kind, place, k)]

    def is_distinct(self, kind: int, k: int) -> bool:
        """Whether the values that a class uses are columns."""
        return self._constraint is not None and bool(self._shapes[kind].distinct[k] >> self._constraint & 1)

    def in_sure_price(self, kind: int, place: int, lost: int) -> bool:
        """Whether what position ``lost`` loses is in the price of ``place`` for every class."""
        return lost in self._sure[kind][place]

    def in_distinct_price(self, kind: int, place: int, lost: int) -> bool:
        """Whether what position ``lost`` loses is in the price of ``place`` for the classes of the constraint."""
        return lost in self._once[kind][place]

    def _cost(self, kind: int, place: int, k: int) -> int:
        positions = self._shapes[kind].positions
        lost = sum(positions[other].size - (other == place) for other in self._sure[kind][place])
        if self.is_distinct(kind, k):
            lost += sum(positions[other].size for other in self._once[kind][place])
        return (positions[place].costs[k] or 0) + self._lost * lost

    def _capacity(self, column: Column, number: int, many: int) -> int:
        if column.of == "shared":
            return 1
        if column.of == "token":
            return number * self._shapes[column.kind].copies(column.which)
        units = self._shapes[column.kind].positions[column.which].capacity if column.of == "room" else 1
        return units * number * many


def can_join(shape: ComponentType, place: int, other: int) -> bool:
    """Whether members of a position can be chosen together with members of another one."""
    return not shape.positions[other].excludes >> place & 1 and bool(shape.classes[place])


def _sure_losses(shape: ComponentType) -> list[frozenset[int]]:
    """For each position the positions that every choice of it makes lost, and no other choice does."""
    return [
        frozenset(
            other
            for other in position.hits
            if position.capacity == 1
            and shape.positions[other].hit_by == 1 << place
            and (other == place or not can_join(shape, other, place))
        )
        for place, position in enumerate(shape.positions)
    ]


def _losses_of_one(shape: ComponentType, constraint: int | None) -> list[frozenset[int]]:
    """For each position what is lost with a choice of it for the constraint, of which there can be only one."""
    if constraint is None:
        return [frozenset()] * len(shape.positions)
    found = []
    sure = _sure_losses(shape)
    for place, position in enumerate(shape.positions):
        found.append(
            frozenset(
                other
                for other in position.hits
                if other != place
                and other not in sure[place]
                and not can_join(shape, other, place)
                and _has_one_value(shape, shape.positions[other].hit_by, constraint)
            )
        )
    return found


def _has_one_value(shape: ComponentType, places: int, constraint: int) -> bool:
    """Whether at most one device of these positions (a mask) can be chosen for a distinct constraint."""
    positions = [position for place, position in enumerate(shape.positions) if places >> place & 1]
    if len(positions) == 1 and positions[0].own >> constraint & 1:
        return True
    tokens = shared = -1
    for position in positions:
        tokens &= position.tokens[constraint]
        shared &= position.shared[constraint]
    return bool(tokens or shared)


def _lowest(mask: int) -> int:
    return mask & -mask
