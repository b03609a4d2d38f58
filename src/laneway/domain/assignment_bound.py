"""Lower bounds of the cost to complete a state.

The prices of a transportation problem over all components (see ``assignment_transport``) make a
bound that is the sum of what each component adds, so that it is quickly known for every state: a
choice costs its class's price, plus its column's price for each unit of the column, plus what it
costs beyond both.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from laneway.domain.assignment_component import UNLIMITED, ComponentType, LocalStates, Position, Raw
from laneway.domain.assignment_model import Model
from laneway.domain.assignment_transport import prices

NEVER = 1 << 400
"""The cost of what cannot be."""


class Left(NamedTuple):
    """What is left to choose of each class.

    ``active`` are the classes of which something is, as a mask, and ``turn`` the first of them.
    ``price`` is what they cost at their prices, ``savers`` how many devices could be lost ones.
    """

    counts: tuple[int, ...]
    active: int
    turn: int | None
    price: int
    savers: int


class _Local(NamedTuple):
    """What one component in a local state adds to the bounds.

    ``worth`` is the price (0 or less) of all that can still be taken of it, ``saves`` how many
    lost devices could still be chosen. For each class ``room`` is how many devices it could take,
    and ``gaps`` by how much the first of them would cost more than its price.
    """

    worth: int
    saves: int
    room: tuple[int, ...]
    gaps: tuple[int, ...]


class Column(NamedTuple):
    """Something that choices use up: ``room`` of a block of positions, or a value of a distinct constraint.

    The value is ``shared`` by components (``which`` is its bit), a ``token`` of a component type
    (likewise), or the ``own`` of each position in a block; for a block ``which`` is its start.
    """

    of: str
    kind: int
    which: int


class _Prices(NamedTuple):
    """Prices of the classes and the columns, and the distinct constraint whose values are columns, if any."""

    total: int
    classes: Sequence[int]
    columns: Mapping[Column, int]
    constraint: int | None


class Bounds:
    """The bounds for components in these untouched states, each with its number of components."""

    def __init__(self, model: Model, states: LocalStates, untouched: Mapping[int, int]) -> None:
        self._model = model
        self._states = states
        self._untouched = untouched
        self._classes = range(len(model.classes))
        self._locals: dict[int, _Local] = {}
        self._unused: dict[int, int] = {}
        self._sure = {states.type_of[state]: _sure_hits(self._shape(state)) for state in untouched}
        found = [self._price(constraint) for constraint in (*range(len(model.distinct)), None)]
        known = [one for one in found if one is not None]
        self.is_feasible = len(known) == len(found)
        if self.is_feasible:
            self._prices = max(known, key=lambda one: one.total)
            self._prepare()

    def left(self, counts: tuple[int, ...]) -> Left:
        """What is left to choose, with its prices."""
        return Left(
            counts,
            active=sum(1 << k for k in self._classes if counts[k]),
            turn=next((k for k in self._classes if counts[k]), None),
            price=sum(count * price for count, price in zip(counts, self._prices.classes, strict=True)),
            savers=sum(counts[k] for k in self._savers),
        )

    def quick(self, left: Left, used: int, touched: tuple[int, ...]) -> int:
        """Prices, less the lost devices that can still be saved."""
        if left.turn is None:
            return 0
        bound = left.price + self._worth + self._unused_worth(used)
        saves = 0
        for local in touched:
            known = self._locals.get(local) or self._local(local)
            bound += known.worth
            saves += known.saves
        return bound - self._model.weights.lost * min(saves, left.savers)

    def thorough(self, left: Left, used: int, touched: tuple[int, ...]) -> int:
        """Also what has to be newly lost; NEVER where some class finds no room."""
        if left.turn is None:
            return 0
        known = [self._locals.get(local) or self._local(local) for local in touched]
        gaps = {}
        for k in self._classes:
            if left.counts[k]:
                if k in self._scarce and self._room[k] + sum(local.room[k] for local in known) < left.counts[k]:
                    return NEVER
                gaps[k] = min((local.gaps[k] for local in known), default=NEVER)
                gaps[k] = min(gaps[k], self._gaps[k])
        worst = max(gaps.values())
        if worst >= NEVER:
            return NEVER
        return self.quick(left, used, touched) + max(worst, sum(gaps.get(k, 0) for k in self._apart))

    # -- prices

    def _shape(self, state: int) -> ComponentType:
        return self._states.types[self._states.type_of[state]]

    def _price(self, constraint: int | None) -> _Prices | None:
        """The prices where the values of one distinct constraint are columns; None if the demands exceed them."""
        capacities: dict[Column, int] = {}
        costs: defaultdict[Column, dict[int, int]] = defaultdict(dict)
        for state, number in self._untouched.items():
            kind = self._states.type_of[state]
            for start, many in Counter(self._shape(state).block_of).items():
                for k, cost in enumerate(self._priced(kind, start)):
                    if cost is not None:
                        column = self._column(kind, start, k, constraint)
                        capacities[column] = self._units(column) * {"shared": 1, "token": number}.get(
                            column.of, number * many
                        )
                        costs[column][k] = min(cost, costs[column].get(k, NEVER))
        demands = [one.count for one in self._model.classes]
        columns = list(capacities)
        found = prices(
            demands,
            [capacities[column] for column in columns],
            [[costs[c].get(k) for c in columns] for k in self._classes],
        )
        if found is None:
            return None
        by_column = dict(zip(columns, found.columns, strict=True))
        total = sum(count * price for count, price in zip(demands, found.rows, strict=True))
        total += sum(price * capacities[column] for column, price in by_column.items())
        return _Prices(total, found.rows, by_column, constraint)

    def _column(self, kind: int, place: int, k: int, constraint: int | None) -> Column:
        """What of a position a class uses up: a value of the constraint, where that is the scarcer, else its room."""
        shape = self._states.types[kind]
        position = shape.positions[place]
        if constraint is not None and shape.distinct[k] >> constraint & 1:
            if position.shared[constraint]:
                return Column("shared", 0, _lowest(position.shared[constraint]))
            if position.tokens[constraint]:
                return Column("token", kind, _lowest(position.tokens[constraint]))
            if position.own >> constraint & 1 and position.capacity == UNLIMITED:
                return Column("own", kind, shape.block_of[place])
        return Column("room", kind, shape.block_of[place])

    def _units(self, column: Column) -> int:
        """How much of a column one position has."""
        return self._states.types[column.kind].positions[column.which].capacity if column.of == "room" else 1

    def _priced(self, kind: int, place: int) -> list[int | None]:
        """The costs of a position with what is lost by it for sure."""
        positions = self._states.types[kind].positions
        lost = sum(positions[other].size - (other == place) for other in self._sure[kind][place])
        extra = self._model.weights.lost * lost
        return [None if cost is None else cost + extra for cost in positions[place].costs]

    def _unused_worth(self, used: int) -> int:
        """The price of the shared values that are still unused."""
        found = self._unused.get(used)
        if found is None:
            found = self._unused[used] = sum(price for bit, price in self._shared if not used & bit)
        return found

    # -- what all states have in common

    def _prepare(self) -> None:
        states = self._states
        self._shared = [
            (column.which, price) for column, price in self._prices.columns.items() if column.of == "shared"
        ]
        savers: set[int] = set()
        for state in self._untouched:
            for position in self._shape(state).positions:
                if position.size and not set(position.hit_by) <= set(position.excludes):
                    savers.update(k for k in self._classes if position.costs[k] is not None)
        self._savers = tuple(sorted(savers))
        self._base = {states.type_of[state]: self._plain(state) for state in self._untouched}
        bases = [(self._base[states.type_of[state]], number) for state, number in self._untouched.items()]
        self._worth = sum(local.worth * number for local, number in bases)
        self._room = [sum(local.room[k] * number for local, number in bases) for k in self._classes]
        self._scarce = {k for k in self._classes if self._room[k] < 2 * self._model.wanted}
        self._gaps = [min((local.gaps[k] for local, _ in bases), default=NEVER) for k in self._classes]
        self._apart = self._classes_apart()

    def _classes_apart(self) -> list[int]:
        """Classes no two of which can be served by one type of component: what they newly lose adds up."""
        serving = []
        for k in self._classes:
            types = {state for state in self._untouched if self._base[self._states.type_of[state]].room[k]}
            serving.append((len(types), k, types))
        taken: set[int] = set()
        found = []
        for _, k, types in sorted(serving, key=lambda item: item[:2]):
            if not taken & types:
                taken |= types
                found.append(k)
        return found

    # -- what each component adds

    def _local(self, state: int) -> _Local:
        """What a touched component adds, beside what it added untouched."""
        base = self._base[self._states.type_of[state]]
        plain = self._plain(state)
        room = tuple(now - before for now, before in zip(plain.room, base.room, strict=True))
        found = self._locals[state] = _Local(plain.worth - base.worth, plain.saves, room, plain.gaps)
        return found

    def _plain(self, state: int) -> _Local:
        kind = self._states.type_of[state]
        shape, raw = self._shape(state), self._states.raws[state]
        saves = 0
        room = [0] * len(self._classes)
        gaps = [NEVER] * len(self._classes)
        worth: dict[tuple[Column, int], int] = {}
        for place, position in enumerate(shape.positions):
            open_to = [k for k in self._classes if shape.can_take(raw, place, k)]
            if not open_to:
                continue
            remaining = shape.remaining(raw, place)
            if position.size and shape.is_hit(raw, place):
                saves += position.size - (raw[place] >> shape.bits)
            newly = self._model.weights.lost * self._newly_lost(kind, raw, place)
            priced = self._priced(kind, place)
            for k in open_to:
                column = self._column(kind, place, k, self._prices.constraint)
                price = self._prices.columns[column]
                if price and column.of != "shared":
                    worth[column, 0 if column.of == "token" else place] = price * (
                        remaining if column.of == "room" else 1
                    )
                room[k] += 1 if shape.distinct[k] & position.own or shape.tokens[place][k] else remaining
                gaps[k] = min(gaps[k], (priced[k] or 0) - self._prices.classes[k] - price + newly)
        return _Local(sum(worth.values()), saves, tuple(room), tuple(gaps))

    def _newly_lost(self, kind: int, raw: Raw, place: int) -> int:
        """What a choice of a position loses that no later choice can save, beside its sure losses."""
        shape = self._states.types[kind]
        position = shape.positions[place]
        return sum(
            shape.positions[other].size
            for other in position.hits
            if other != place
            and other not in self._sure[kind][place]
            and not shape.is_hit(raw, other)
            and not _can_join(shape.positions[other], other, position)
        )


def _sure_hits(shape: ComponentType) -> list[tuple[int, ...]]:
    """For each position the positions that every choice of it makes lost, and no other choice does."""
    positions = shape.positions
    return [
        tuple(
            other
            for other in (position.hits if position.capacity == 1 else ())
            if positions[other].hit_by == (place,)
            and (other == place or not _can_join(positions[other], other, position))
        )
        for place, position in enumerate(positions)
    ]


def _can_join(position: Position, place: int, other: Position) -> bool:
    """Whether members of a position can be chosen together with members of another one."""
    return place not in other.excludes and any(cost is not None for cost in position.costs)


def _lowest(mask: int) -> int:
    return mask & -mask
