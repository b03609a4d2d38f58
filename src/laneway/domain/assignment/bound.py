"""Lower bounds of the cost to complete a state: the prices, less what was paid already, plus what must be added."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from laneway.domain.assignment.addition import ANY, NEVER, Addition, Additions
from laneway.domain.assignment.component import bits_of
from laneway.domain.assignment.local import LocalStates
from laneway.domain.assignment.model import Model
from laneway.domain.assignment.prices import Prices


class Left(NamedTuple):
    """What is left to choose of each class.

    ``active`` are the classes of which something is, as a mask, and ``turn`` the first of them.
    ``price`` is what they cost at their prices, ``savers`` how many devices could be lost ones,
    ``distinct`` how many the constraint of the prices wants. ``common`` is what the classes of each
    match constraint pay beyond the prices for the value that is best for them together.
    """

    counts: tuple[int, ...]
    active: int
    turn: int | None
    price: int
    savers: int
    distinct: int
    common: tuple[int, ...]


class Sums(NamedTuple):
    """What components add together: see ``Addition``."""

    worth: int
    saves: int
    paid: int


_Option = tuple[int, int, int]
"""What a component costs, its type, and the number of components of the type."""


class Bounds:
    """The bounds for components in these untouched states, each with its number of components."""

    def __init__(self, model: Model, states: LocalStates, untouched: Mapping[int, int]) -> None:
        self._model = model
        self._states = states
        self._untouched = untouched
        self._classes = range(len(model.classes))
        self._locals: dict[int, Addition] = {}
        found = [Prices(model, states, untouched, place) for place in (*range(model.constraints[0]), None)]
        self.is_feasible = all(one.is_feasible for one in found)
        if self.is_feasible:
            self._prices = max(found, key=lambda one: one.total)
            self._additions = Additions(model, states, untouched, self._prices)
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
            common=tuple(
                min((_due(counts, dues) for dues in values.values()), default=0) for values in self._additions.dues
            ),
        )

    def sums(self, left: Left, used: int, touched: tuple[int, ...]) -> Sums:
        """What used shared values and touched components add, beside what they added untouched."""
        worth = -self._price_of(used)
        saves = paid = 0
        for state in touched:
            local = self._local(state)
            worth += local.worth + (_due(left.counts, local.dues) if local.dues else 0)
            saves += local.saves
            paid += local.paid
        return Sums(worth, saves, paid)

    def exchanged(self, left: Left, sums: Sums, before: int, after: int, uses: int) -> Sums:
        """The sums once one component changed its state, and shared values came into use."""
        was, becomes = self._local(before), self._local(after)
        worth = sums.worth + becomes.worth - was.worth - self._price_of(uses)
        if was.dues or becomes.dues:
            worth += _due(left.counts, becomes.dues) - _due(left.counts, was.dues)
        return Sums(worth, sums.saves + becomes.saves - was.saves, sums.paid + becomes.paid - was.paid)

    def quick(self, left: Left, used: int, sums: Sums) -> int:
        """Prices, less the lost devices that can still be saved or are in the prices of what is left."""
        if left.turn is None:
            return 0
        bound = left.price + self._worth + sums.worth
        for constraint in range(len(self._additions.dues)):
            bound += self._common_due(left, used, constraint)
        if sums.saves or sums.paid:
            spared = min(sums.saves, left.savers) + min(sums.paid, left.distinct * self._most_paid)
            bound -= self._model.weights.lost * spared
        return NEVER if bound >= NEVER // 2 else bound

    def thorough(self, left: Left, used: int, touched: tuple[int, ...]) -> int:
        """Also what has to be newly lost; NEVER where some class finds no room."""
        if left.turn is None:
            return 0
        locals_ = [self._local(local) for local in touched]
        met = Counter(self._states.type_of[local] for local in touched)
        gaps = []
        for k in self._classes:
            if left.counts[k]:
                gap, kinds = self._gap(left, used, locals_, met, k)
                if gap >= NEVER:
                    return NEVER
                if gap:
                    gaps.append((kinds.bit_count(), gap, kinds))
        return self.quick(left, used, self.sums(left, used, touched)) + _together(gaps)

    def _gap(self, left: Left, used: int, touched: list[Addition], met: Mapping[int, int], k: int) -> tuple[int, int]:
        """What a class costs beyond the prices and what its match constraint pays, and where.

        That is the types of components (a mask) that its devices can come from.
        """
        constraint = self._additions.constraint_of[k]
        value = ANY
        counted = 0
        if constraint is not None:
            counted = self._common_due(left, used, constraint)
            if used >> constraint & 1:
                value = next((shared for shared in self._additions.shared[constraint] if used & shared), ANY)
                if value == ANY:
                    return self._gap_at(left, touched, constraint, k)
        key = k, value
        if value != ANY or k in self._scarce:
            room = self._room.get(key, 0) + sum(local.room.get(key, 0) for local in touched)
            if room < left.counts[k]:
                return NEVER, 0
        gap = min((local.gaps.get(key, NEVER) for local in touched), default=NEVER)
        gap = _least(gap, self._gaps.get(key, ()), met)
        loss = min((local.losses.get(key, NEVER) for local in touched), default=NEVER)
        loss = _least(loss, self._losses.get(key, ()), met)
        return _beyond(gap, loss, left.counts[k], counted), self._kinds.get(key, 0)

    def _gap_at(self, left: Left, touched: list[Addition], constraint: int, k: int) -> tuple[int, int]:
        """The gap of a class whose match constraint has its value in one component."""
        local = next(local for local in touched if local.bound >> constraint & 1)
        gap, loss = local.gaps.get((k, ANY), NEVER), local.losses.get((k, ANY), NEVER)
        within = self._additions.constraint_of
        counted = sum(left.counts[j] * due for j, due in local.dues.items() if within[j] == constraint)
        return _beyond(gap, loss, left.counts[k], counted), 1 << local.kind

    def _common_due(self, left: Left, used: int, constraint: int) -> int:
        """What the classes of a match constraint pay beyond the prices, unless its value is one component's."""
        if not used >> constraint & 1:
            return left.common[constraint]
        for shared in self._additions.shared[constraint]:
            if used & shared:
                return _due(left.counts, self._additions.dues[constraint][0, shared])
        return 0

    def _price_of(self, shared: int) -> int:
        """The price of these shared values together."""
        return sum(self._priced[bit] for bit in bits_of(shared & self._priced_bits))

    # -- what all states have in common

    def _prepare(self) -> None:
        type_of = self._states.type_of
        shared = (column for column in self._prices.columns if column.of == "shared")
        self._priced = {column.which: price for column in shared if (price := self._prices.columns[column])}
        self._priced_bits = sum(self._priced)
        savers: set[int] = set()
        distinct: set[int] = set()
        self._most_paid = 0
        for state in self._untouched:
            kind = type_of[state]
            shape = self._states.types[kind]
            distinct.update(k for k in self._classes if self._prices.is_distinct(kind, k))
            for place, position in enumerate(shape.positions):
                if position.size and position.hit_by & ~position.excludes:
                    savers.update(shape.classes[place])
                if any(self._prices.in_distinct_price(kind, place, other) for other in position.hits):
                    self._most_paid = max(self._most_paid, *(shape.positions[other].size for other in position.hits))
        self._savers = tuple(sorted(savers))
        self._distinct = tuple(sorted(distinct))
        self._base = {type_of[state]: self._additions.of(state) for state in self._untouched}
        bases = [(type_of[state], number, self._base[type_of[state]]) for state, number in self._untouched.items()]
        self._worth = sum(local.worth * number for _, number, local in bases) + sum(self._priced.values())
        self._room: Counter[tuple[int, int]] = Counter()
        self._kinds: dict[tuple[int, int], int] = {}
        for kind, number, local in bases:
            for key, room in local.room.items():
                self._room[key] += room * number
                self._kinds[key] = self._kinds.get(key, 0) | 1 << kind
        self._gaps = _by_key((local.gaps, kind, number) for kind, number, local in bases)
        self._losses = _by_key((local.losses, kind, number) for kind, number, local in bases)
        self._scarce = {k for k in self._classes if self._room[k, ANY] < 2 * self._model.wanted}

    def _local(self, state: int) -> Addition:
        """What a touched component adds, beside what it added untouched."""
        found = self._locals.get(state)
        if found is None:
            base = self._base[self._states.type_of[state]]
            plain = self._additions.of(state)
            room = {key: plain.room.get(key, 0) - before for key, before in base.room.items()}
            found = self._locals[state] = plain._replace(worth=plain.worth - base.worth, room=room)
        return found


def _due(counts: tuple[int, ...], dues: Mapping[int, int]) -> int:
    """What the classes pay beyond the prices, by how many each still wants."""
    return sum(counts[k] * due for k, due in dues.items() if counts[k])


def _by_key(found: Iterable[tuple[Mapping[tuple[int, int], int], int, int]]) -> dict[tuple[int, int], list[_Option]]:
    """What the untouched components of each type cost at least, by class and value, the least first."""
    by_key: defaultdict[tuple[int, int], list[_Option]] = defaultdict(list)
    for costs, kind, number in found:
        for key, cost in costs.items():
            by_key[key].append((cost, kind, number))
    return {key: sorted(options) for key, options in by_key.items()}


def _least(known: int, options: Iterable[_Option], met: Mapping[int, int]) -> int:
    """The least of a known cost and those of untouched components, of whose types so many were touched."""
    for cost, kind, number in options:
        if cost >= known:
            break
        if met.get(kind, 0) < number:
            return cost
    return known


def _beyond(gap: int, loss: int, count: int, counted: int) -> int:
    """What a class pays at least: for each device, or once for what is newly lost; less what is counted already."""
    least = min(gap * count, loss)
    return NEVER if least >= NEVER else max(0, least - counted)


def _together(gaps: list[tuple[int, int, int]]) -> int:
    """What gaps (number of types, gap, types) amount to at least: they add up where they share no type."""
    if not gaps:
        return 0
    gaps.sort()
    taken = total = 0
    for _, gap, kinds in gaps:
        if not taken & kinds:
            taken |= kinds
            total += gap
    return max(total, *(gap for _, gap, _ in gaps))
