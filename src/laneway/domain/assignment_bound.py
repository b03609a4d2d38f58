"""Lower bounds of the cost to complete a state: the prices, less what was paid already, plus what must be added."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from laneway.domain.assignment_component import ComponentType, Raw
from laneway.domain.assignment_local import LocalStates
from laneway.domain.assignment_model import Model
from laneway.domain.assignment_prices import Column, Prices, can_join

NEVER = 1 << 400
"""The cost of what cannot be."""


class Left(NamedTuple):
    """What is left to choose of each class.

    ``active`` are the classes of which something is, as a mask, and ``turn`` the first of them.
    ``price`` is what they cost at their prices, ``savers`` how many devices could be lost ones, and
    ``distinct`` how many the constraint of the prices wants.
    """

    counts: tuple[int, ...]
    active: int
    turn: int | None
    price: int
    savers: int
    distinct: int


class _Local(NamedTuple):
    """What one component in a local state adds to the bounds.

    ``worth`` is the price (0 or less) of all that can still be taken of it, ``saves`` how many
    lost devices could still be chosen, ``paid`` how many are lost already that the price of a
    distinct choice has in it. For each class ``room`` is how many devices it could take, and
    ``gaps`` what the first of them would cost beyond the prices.
    """

    worth: int
    saves: int
    paid: int
    room: tuple[int, ...]
    gaps: tuple[int, ...]


class Bounds:
    """The bounds for components in these untouched states, each with its number of components."""

    def __init__(self, model: Model, states: LocalStates, untouched: Mapping[int, int]) -> None:
        self._model = model
        self._states = states
        self._untouched = untouched
        self._classes = range(len(model.classes))
        self._locals: dict[int, _Local] = {}
        self._unused: dict[int, int] = {}
        found = [Prices(model, states, untouched, place) for place in range(len(model.distinct))]
        found.append(Prices(model, states, untouched, None))
        self.is_feasible = all(one.is_feasible for one in found)
        if self.is_feasible:
            self._prices = max(found, key=lambda one: one.total)
            self._prepare()

    def left(self, counts: tuple[int, ...]) -> Left:
        """What is left to choose, with its prices."""
        return Left(
            counts,
            active=sum(1 << k for k in self._classes if counts[k]),
            turn=next((k for k in self._classes if counts[k]), None),
            price=sum(count * price for count, price in zip(counts, self._prices.classes, strict=True)),
            savers=sum(counts[k] for k in self._savers),
            distinct=sum(counts[k] for k in self._distinct),
        )

    def quick(self, left: Left, used: int, touched: tuple[int, ...]) -> int:
        """Prices, less the lost devices that can still be saved or are in the prices of what is left."""
        if left.turn is None:
            return 0
        bound = left.price + self._worth + self._unused_worth(used)
        saves = paid = 0
        for local in touched:
            known = self._locals.get(local) or self._local(local)
            bound += known.worth
            saves += known.saves
            paid += known.paid
        return bound - self._model.weights.lost * (min(saves, left.savers) + min(paid, left.distinct * self._most_paid))

    def thorough(self, left: Left, used: int, touched: tuple[int, ...]) -> int:
        """Also what has to be newly lost; NEVER where some class finds no room."""
        if left.turn is None:
            return 0
        known = [self._locals.get(local) or self._local(local) for local in touched]
        met = Counter(self._states.type_of[local] for local in touched)
        gaps = {}
        for k in self._classes:
            if left.counts[k]:
                if k in self._scarce and self._room[k] + sum(local.room[k] for local in known) < left.counts[k]:
                    return NEVER
                least = min((local.gaps[k] for local in known), default=NEVER)
                for gap, kind, number in self._gaps[k]:
                    if gap >= least:
                        break
                    if met[kind] < number:
                        least = gap
                        break
                gaps[k] = least
        worst = max(gaps.values())
        if worst >= NEVER:
            return NEVER
        return self.quick(left, used, touched) + max(worst, sum(gaps.get(k, 0) for k in self._apart))

    def _unused_worth(self, used: int) -> int:
        """The price of the shared values that are still unused."""
        found = self._unused.get(used)
        if found is None:
            found = self._unused[used] = sum(price for bit, price in self._shared if not used & bit)
        return found

    # -- what all states have in common

    def _shape(self, state: int) -> ComponentType:
        return self._states.types[self._states.type_of[state]]

    def _prepare(self) -> None:
        type_of = self._states.type_of
        self._shared = [
            (column.which, price) for column, price in self._prices.columns.items() if column.of == "shared"
        ]
        savers: set[int] = set()
        distinct: set[int] = set()
        self._most_paid = 0
        for state in self._untouched:
            kind, shape = type_of[state], self._shape(state)
            distinct.update(k for k in self._classes if self._prices.is_distinct(kind, k))
            for place, position in enumerate(shape.positions):
                if position.size and position.hit_by & ~position.excludes:
                    savers.update(shape.classes[place])
                if any(self._prices.in_distinct_price(kind, place, other) for other in position.hits):
                    self._most_paid = max(self._most_paid, *(shape.positions[other].size for other in position.hits))
        self._savers = tuple(sorted(savers))
        self._distinct = tuple(sorted(distinct))
        self._base = {type_of[state]: self._plain(state) for state in self._untouched}
        bases = [(type_of[state], number, self._base[type_of[state]]) for state, number in self._untouched.items()]
        self._worth = sum(local.worth * number for _, number, local in bases)
        self._room = [sum(local.room[k] * number for _, number, local in bases) for k in self._classes]
        self._scarce = {k for k in self._classes if self._room[k] < 2 * self._model.wanted}
        self._gaps = [sorted((local.gaps[k], kind, number) for kind, number, local in bases) for k in self._classes]
        self._apart = self._classes_apart()

    def _classes_apart(self) -> list[int]:
        """Classes no two of which can be served by one type of component: what they newly lose adds up."""
        serving = []
        for k in self._classes:
            types = {kind for kind, local in self._base.items() if local.room[k]}
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
        found = self._locals[state] = plain._replace(worth=plain.worth - base.worth, room=room)
        return found

    def _plain(self, state: int) -> _Local:
        kind = self._states.type_of[state]
        shape, raw = self._shape(state), self._states.raws[state]
        saves = 0
        room = [0] * len(self._classes)
        gaps = [NEVER] * len(self._classes)
        worth: dict[tuple[Column, int], int] = {}
        expected: set[int] = set()
        taking = [shape.takers(raw, place) for place in range(len(shape.positions))]
        open_to = [[k for k in self._classes if takers >> k & 1] for takers in taking]
        for place, position in enumerate(shape.positions):
            if any(self._prices.is_distinct(kind, k) for k in open_to[place]):
                expected.update(o for o in position.hits if self._prices.in_distinct_price(kind, place, o))
        for place, position in enumerate(shape.positions):
            if not open_to[place]:
                continue
            remaining = shape.remaining(raw, place)
            if position.size and shape.is_hit(raw, place):
                saves += position.size - (raw[place] >> shape.bits)
            newly = self._model.weights.lost * self._newly_lost(kind, raw, place, expected)
            for k in open_to[place]:
                column = self._prices.column(kind, place, k)
                price = self._prices.columns[column]
                if price and column.of != "shared":
                    key = column, 0 if column.of == "token" else place
                    worth[key] = price * (remaining if column.of == "room" else 1)
                room[k] += 1 if shape.distinct[k] & position.own or shape.tokens[place][k] else remaining
                gaps[k] = min(gaps[k], self._prices.beyond(kind, place, k) + newly)
        paid = sum(shape.positions[other].size for other in expected if shape.is_hit(raw, other))
        return _Local(sum(worth.values()), saves, paid, tuple(room), tuple(gaps))

    def _newly_lost(self, kind: int, raw: Raw, place: int, expected: set[int]) -> int:
        """What a choice of a position loses that no later choice can save and that is in no price.

        ``expected`` are the positions whose loss is in the price of a distinct choice that can still come.
        """
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
