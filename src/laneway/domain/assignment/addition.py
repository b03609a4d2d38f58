"""What one component adds to the lower bounds, by its local state."""

from collections.abc import Mapping
from typing import NamedTuple

from laneway.domain.assignment.component import ComponentType, Position, Raw, bits_of
from laneway.domain.assignment.local import LocalStates
from laneway.domain.assignment.model import Model
from laneway.domain.assignment.prices import Column, Prices, can_join

NEVER = 1 << 400
"""The cost of what cannot be."""

ANY = 0
"""In place of a shared value: whatever value there is."""


class Addition(NamedTuple):
    """What one component in a local state adds to the bounds.

    ``worth`` is the price (0 or less) of all that can still be taken of it, ``saves`` how many
    lost devices could still be chosen, ``paid`` how many are lost already that the price of a
    distinct choice has in it. ``room`` is how many devices a class could take that have a shared
    value (or ANY). What one of them would cost beyond the prices are the ``gaps`` where nothing is
    newly lost by it, and the ``losses`` where something is. ``dues`` is what
    a class pays beyond its price whose match constraint has its value here; ``bound`` has these
    constraints. ``kind`` is the component's type.
    """

    worth: int
    saves: int
    paid: int
    room: Mapping[tuple[int, int], int]
    gaps: Mapping[tuple[int, int], int]
    losses: Mapping[tuple[int, int], int]
    dues: Mapping[int, int]
    bound: int
    kind: int


class Additions:
    """What components add, those in these untouched states and all that they become.

    ``constraint_of`` has the first match constraint of each class. For each match constraint,
    ``dues`` has what its classes pay at least beyond the prices for each value of it: a value is
    known by (0, its bit) where it is shared, else by (1 + type, token). ``shared`` has the bits.
    """

    def __init__(self, model: Model, states: LocalStates, untouched: Mapping[int, int], prices: Prices) -> None:
        self._lost = model.weights.lost
        self._states = states
        self._prices = prices
        self._classes = range(len(model.classes))
        constraints = range(model.constraints[1])
        self.constraint_of = [next((c for c in constraints if one.matches >> c & 1), None) for one in model.classes]
        self.dues: list[dict[tuple[int, int], dict[int, int]]] = [{} for _ in constraints]
        for state in untouched:
            self._add_dues(states.type_of[state])
        self.shared = [[bit for owner, bit in dues if not owner] for dues in self.dues]
        for constraint, dues in enumerate(self.dues):
            within = [k for k in self._classes if self.constraint_of[k] == constraint]
            for by_class in dues.values():
                for k in within:
                    by_class.setdefault(k, NEVER)

    def _add_dues(self, kind: int) -> None:
        """What the classes of match constraints pay beyond the prices for values that a type of component has."""
        shape = self._states.types[kind]
        for place, position in enumerate(shape.positions):
            for k in shape.classes[place]:
                constraint = self.constraint_of[k]
                if constraint is not None:
                    beyond = self._prices.beyond(kind, place, k)
                    mine, shared = position.common[constraint]
                    for key in (*((1 + kind, bit) for bit in bits_of(mine)), *((0, bit) for bit in bits_of(shared))):
                        dues = self.dues[constraint].setdefault(key, {})
                        dues[k] = min(dues.get(k, beyond), beyond)

    def of(self, state: int) -> Addition:
        """What a component in a local state adds."""
        kind = self._states.type_of[state]
        shape, raw = self._states.types[kind], self._states.raws[state]
        prices = self._prices
        takers = [
            [k for k in classes if mask >> k & 1]
            for classes, mask in zip(shape.classes, self._states.takers[state], strict=True)
        ]
        saves = 0
        room: dict[tuple[int, int], int] = {}
        gaps: dict[tuple[int, int], int] = {}
        losses: dict[tuple[int, int], int] = {}
        worth: dict[tuple[Column, int], int] = {}
        expected = self._expected(kind, shape, takers)
        for place, position in enumerate(shape.positions):
            if not takers[place]:
                continue
            remaining = shape.remaining(raw, place)
            if position.size and shape.is_hit(raw, place):
                saves += position.size - (raw[place] >> shape.bits)
            newly = self._lost * self._newly_lost(kind, raw, place, expected)
            for k in takers[place]:
                column = prices.column(kind, place, k)
                price = prices.columns[column]
                if price and column.of != "shared":
                    key = column, self._prices.token(kind, place) if column.of == "token" else place
                    worth[key] = price * (remaining if column.of == "room" else 1)
                once = shape.distinct[k] & position.own or shape.tokens[place][k]
                beyond = prices.beyond(kind, place, k) + newly
                least = losses if newly else gaps
                for value in self._values_of(position, k):
                    room[k, value] = room.get((k, value), 0) + (1 if once else remaining)
                    least[k, value] = min(least.get((k, value), beyond), beyond)
        paid = sum(shape.positions[other].size for other in expected if shape.is_hit(raw, other))
        bound, dues = self._bound_here(kind, raw)
        return Addition(sum(worth.values()), saves, paid, room, gaps, losses, dues, bound, kind)

    def _expected(self, kind: int, shape: ComponentType, takers: list[list[int]]) -> set[int]:
        """The positions whose loss is in the price of a distinct choice that can still come."""
        return {
            other
            for place, position in enumerate(shape.positions)
            if any(self._prices.is_distinct(kind, k) for k in takers[place])
            for other in position.hits
            if self._prices.in_distinct_price(kind, place, other)
        }

    def _values_of(self, position: Position, k: int) -> list[int]:
        """ANY, and the shared values of a position for the match constraint of a class."""
        constraint = self.constraint_of[k]
        return [ANY] if constraint is None else [ANY, *bits_of(position.common[constraint][1])]

    def _bound_here(self, kind: int, raw: Raw) -> tuple[int, dict[int, int]]:
        """The match constraints that have their value in a component, and what their classes pay for it."""
        bound = 0
        dues: dict[int, int] = {}
        for constraint, tokens in enumerate(self._states.types[kind].common):
            if raw[-1] & tokens:
                bound |= 1 << constraint
                dues |= self.dues[constraint].get((1 + kind, raw[-1] & tokens), {})
        return bound, dues

    def _newly_lost(self, kind: int, raw: Raw, place: int, expected: set[int]) -> int:
        """What a choice of a position loses that no later choice can save, and that is in no price (``expected``)."""
        shape = self._states.types[kind]
        return sum(
            shape.positions[other].size
            for other in shape.positions[place].hits
            if other != place
            and other not in expected
            and not self._prices.in_sure_price(kind, place, other)
            and not shape.is_hit(raw, other)
            and not can_join(shape, other, place)
        )
