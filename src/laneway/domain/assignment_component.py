"""Components of an assignment problem: cohorts linked by loss and exclusion, with what is chosen of them.

Two components of one type differ in addresses only. A search therefore works on states of types
(*local states*), each known by a number, and never on addresses.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from laneway.domain.assignment_model import Branch, Model, allowed_by

UNLIMITED = 1 << 40
"""The capacity of a cohort that has more members than all requests together can take of it."""

Raw = tuple[int, ...]
"""What is chosen of a component: a number for each position, and the mask of its used tokens at the end."""


class Position(NamedTuple):
    """One cohort of a component. Other positions are named by their places in the component.

    ``costs`` are those of each class. ``size`` is what is lost when the cohort becomes unclaimable
    (0 if it never counts), ``capacity`` how many can be chosen, ``counted`` whether a state must
    know how many were. ``hits`` are the positions that become unclaimable with a choice here,
    ``hit_by`` the reverse. ``own`` has the distinct constraints of which it alone has its values;
    values that others have too are ``tokens`` (of this component) and ``shared`` (of several), as
    masks for each distinct constraint.
    """

    costs: tuple[int | None, ...]
    size: int
    capacity: int
    counted: bool
    own: int
    hits: tuple[int, ...]
    hit_by: tuple[int, ...]
    excludes: tuple[int, ...]
    tokens: tuple[int, ...]
    shared: tuple[int, ...]


@dataclass(frozen=True)
class ComponentType:
    """The positions of a component; those of one block (start, end) are interchangeable."""

    positions: tuple[Position, ...]
    blocks: tuple[tuple[int, int], ...]
    distinct: tuple[int, ...]

    @cached_property
    def bits(self) -> int:
        """How many low bits of a position's number say which distinct constraints have used it."""
        return max(self.distinct, default=0).bit_length()

    @cached_property
    def block_of(self) -> tuple[int, ...]:
        """The start of the block of each position."""
        found = list(range(len(self.positions)))
        for start, end in self.blocks:
            found[start:end] = [start] * (end - start)
        return tuple(found)

    @cached_property
    def tokens(self) -> tuple[tuple[int, ...], ...]:
        """For each position the tokens that a choice for each class uses."""
        return tuple(tuple(_union(position.tokens, mask) for mask in self.distinct) for position in self.positions)

    @cached_property
    def shared(self) -> tuple[tuple[int, ...], ...]:
        """For each position the shared values that a choice for each class uses."""
        return tuple(tuple(_union(position.shared, mask) for mask in self.distinct) for position in self.positions)

    @cached_property
    def serves(self) -> int:
        """The classes that can take something of the component, as a mask."""
        serves = range(len(self.distinct))
        return sum(1 << k for k in serves if any(position.costs[k] is not None for position in self.positions))

    def start(self) -> Raw:
        return (0,) * (len(self.positions) + 1)

    def canonical(self, raw: Raw) -> Raw:
        """The same state with interchangeable positions in a fixed order."""
        if not self.blocks:
            return raw
        found = list(raw)
        for start, end in self.blocks:
            found[start:end] = sorted(found[start:end], reverse=True)
        return tuple(found)

    def remaining(self, raw: Raw, place: int) -> int:
        """How many members of a position are left, UNLIMITED where that is more than can be asked for."""
        position = self.positions[place]
        if position.capacity == UNLIMITED:
            return UNLIMITED
        return position.capacity - (raw[place] >> self.bits)

    def is_hit(self, raw: Raw, place: int) -> bool:
        """Whether the position's members became unclaimable for others."""
        return any(raw[other] for other in self.positions[place].hit_by)

    def can_take(self, raw: Raw, place: int, k: int) -> bool:
        """Whether class ``k`` can take a member of a position, as far as this component tells."""
        position = self.positions[place]
        return (
            position.costs[k] is not None
            and not raw[place] & position.own & self.distinct[k]
            and not raw[-1] & self.tokens[place][k]
            and self.remaining(raw, place) > 0
            and not any(raw[other] for other in position.excludes)
        )

    def take(self, raw: Raw, place: int, k: int) -> tuple[int, Raw] | None:
        """How many devices are lost, and the state, once class ``k`` takes one member of a position.

        The loss is negative where the member itself counted as lost. None where it cannot be taken.
        """
        if not self.can_take(raw, place, k):
            return None
        position = self.positions[place]
        lost = 0
        for other in position.hits:
            if not self.is_hit(raw, other):
                lost += self.positions[other].size - (raw[other] >> self.bits)
        used = (1 << self.bits) - 1
        changed = list(raw)
        count = (raw[place] >> self.bits) + 1 if position.counted else 1
        changed[place] = count << self.bits | raw[place] & used | position.own & self.distinct[k]
        changed[-1] |= self.tokens[place][k]
        after = tuple(changed)
        if position.size and self.is_hit(after, place):
            lost -= 1
        return lost, after

    def rest(self, raw: Raw, active: int) -> Raw:
        """All of a state that makes a difference to choices for the active classes."""
        found = []
        takers = [
            sum(1 << k for k in range(len(self.distinct)) if active >> k & 1 and self.can_take(raw, place, k))
            for place in range(len(self.positions))
        ]
        for place, position in enumerate(self.positions):
            hit = self.is_hit(raw, place)
            pending = position.size and not hit and any(takers[other] for other in position.hit_by)
            found += [
                takers[place],
                self.remaining(raw, place) if takers[place] else 0,
                int(bool(takers[place] and position.size and hit)),
                position.size - (raw[place] >> self.bits) if pending else 0,
            ]
        return tuple(found)


class LocalMove(NamedTuple):
    """A class takes one device: its cost, the local state after it, the shared values it uses."""

    cost: int
    after: int
    shared: int


class LocalStates:
    """Numbers the types and the local states as they are met, and knows the moves between them."""

    def __init__(self, lost: int, classes: int) -> None:
        self._lost = lost
        self._classes = range(classes)
        self._types: dict[ComponentType, int] = {}
        self._ids: dict[tuple[int, Raw], int] = {}
        self._moves: list[tuple[tuple[LocalMove, ...], ...] | None] = []
        self._like: dict[tuple[int, int], int] = {}
        self._first: dict[tuple[int, int, Raw], int] = {}
        self.types: list[ComponentType] = []
        self.raws: list[Raw] = []
        self.type_of: list[int] = []

    def fresh(self, kind: ComponentType) -> int:
        """The number of the untouched state of a type."""
        number = self._types.get(kind)
        if number is None:
            number = self._types[kind] = len(self.types)
            self.types.append(kind)
        return self.id(number, kind.start())

    def id(self, kind: int, raw: Raw) -> int:
        """The number of a state of the type with this number."""
        key = kind, self.types[kind].canonical(raw)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self.raws)
            self.raws.append(key[1])
            self.type_of.append(kind)
            self._moves.append(None)
        return found

    def like(self, state: int, active: int) -> int:
        """The state that stands for all those of its type that choices for the ``active`` classes do not tell apart."""
        number = self.type_of[state]
        kind = self.types[number]
        active &= kind.serves
        found = self._like.get((state, active))
        if found is None:
            untouched = self._ids[number, kind.start()]
            self._first.setdefault((number, active, kind.rest(kind.start(), active)), untouched)
            found = self._first.setdefault((number, active, kind.rest(self.raws[state], active)), state)
            self._like[state, active] = found
        return found

    def moves(self, state: int) -> tuple[tuple[LocalMove, ...], ...]:
        """For each class what it can take of a component in this state."""
        found = self._moves[state]
        if found is None:
            found = self._moves[state] = tuple(self._moves_of(state, k) for k in self._classes)
        return found

    def take(self, kind: int, raw: Raw, place: int, k: int) -> tuple[int, Raw, int] | None:
        """The cost when class ``k`` takes one device of a position, the state after it, the shared values it uses."""
        position = self.types[kind].positions[place]
        cost = position.costs[k]
        taken = None if cost is None else self.types[kind].take(raw, place, k)
        if cost is None or taken is None:
            return None
        return cost + self._lost * taken[0], taken[1], self.types[kind].shared[place][k]

    def _moves_of(self, state: int, k: int) -> tuple[LocalMove, ...]:
        kind = self.type_of[state]
        found: dict[tuple[int, ...], LocalMove] = {}
        for place in range(len(self.types[kind].positions)):
            taken = self.take(kind, self.raws[state], place, k)
            if taken is not None:
                move = LocalMove(taken[0], self.id(kind, taken[1]), taken[2])
                known = found.get(move[1:])
                if known is None or move.cost < known.cost:
                    found[move[1:]] = move
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class _Member:
    """A cohort on its way to a position; other cohorts are named by their indexes."""

    cohort: int
    costs: tuple[int | None, ...]
    hits: frozenset[int]
    hit_by: frozenset[int]
    excludes: frozenset[int]
    size: int
    capacity: int
    counted: bool
    own: int
    values: tuple[tuple[int, int], ...]

    @property
    def rank(self) -> tuple[object, ...]:
        """What sorts the positions of a component alike in all components of its type."""
        costs = tuple(-1 if cost is None else cost for cost in self.costs)
        return costs, self.size, self.capacity, self.counted, self.own, len(self.values)

    def twin_keys(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Members with one of these in common are interchangeable: strangers, or relatives of each other."""
        alike = self.rank, self.excludes, self.values
        both = frozenset({self.cohort})
        return (*alike, self.hits, self.hit_by), (*alike, self.hits | both, self.hit_by | both, both <= self.hits)


class Components:
    """Makes the component types of a model, branch by branch."""

    def __init__(self, model: Model, states: LocalStates) -> None:
        self._model = model
        self._states = states
        self._made: dict[tuple[int, Branch], tuple[int, tuple[int, ...]] | None] = {}
        self._masks = [sum(1 << i for i in component) for component in model.components]
        self._own, self._values = _values(model)
        self._shared_bits: dict[tuple[int, int], int] = {}

    def of(self, branch: Branch) -> list[tuple[int, tuple[int, ...]]]:
        """The components of which something can be chosen: the untouched state, and the cohort at each position."""
        found = []
        for number, mask in enumerate(self._masks):
            key = number, tuple(allowed & mask for allowed in branch)
            if key not in self._made:
                self._made[key] = self._make(number, branch)
            made = self._made[key]
            if made is not None:
                found.append(made)
        return found

    def _make(self, number: int, branch: Branch) -> tuple[int, tuple[int, ...]] | None:
        members = self._members(self._model.components[number], branch)
        if not members:
            return None
        twins = _twins(members)
        members.sort(key=lambda m: (m.rank, twins[m.cohort], m.cohort))
        place = {member.cohort: i for i, member in enumerate(members)}
        tokens: dict[tuple[int, int], int] = {}
        positions = tuple(self._position(member, place, tokens) for member in members)
        blocks = []
        start = 0
        for end in range(1, len(members) + 1):
            if end == len(members) or twins[members[end].cohort] != twins[members[start].cohort]:
                if end - start > 1:
                    blocks.append((start, end))
                start = end
        distinct = tuple(one.distinct for one in self._model.classes)
        untouched = self._states.fresh(ComponentType(positions, tuple(blocks), distinct))
        return untouched, tuple(member.cohort for member in members)

    def _members(self, component: list[int], branch: Branch) -> list[_Member]:
        model = self._model
        allowed = [allowed_by(branch, one) for one in model.classes]
        costs = {
            i: tuple(one.costs[i] if mask >> i & 1 else None for one, mask in zip(model.classes, allowed, strict=True))
            for i in component
        }
        live = {i for i in component if any(cost is not None for cost in costs[i])}
        hits: dict[int, set[int]] = {i: set() for i in component}
        hit_by: dict[int, set[int]] = {i: set() for i in component}
        for i in live:
            cohort = model.cohorts[i]
            for j in (*cohort.relatives, i) if cohort.self_related else cohort.relatives:
                if model.cohorts[j].offered:
                    hits[i].add(j)
                    hit_by[j].add(i)
        found = []
        for i in component:
            if i not in live and not hit_by[i]:
                continue
            cohort = model.cohorts[i]
            excludes = live.intersection(cohort.excludes) if i in live else frozenset()
            savable = i in live and bool(hit_by[i] - excludes)
            demand = sum(model.classes[k].count for k in model.usable[i])
            limited = model.capacities[i] < demand
            found.append(
                _Member(
                    i,
                    costs[i],
                    frozenset(hits[i]),
                    frozenset(hit_by[i]),
                    frozenset(excludes),
                    size=len(cohort.addresses) if hit_by[i] else 0,
                    capacity=model.capacities[i] if limited else UNLIMITED,
                    counted=limited or savable,
                    own=self._own[i],
                    values=self._values[i],
                )
            )
        return found

    def _position(self, member: _Member, place: dict[int, int], tokens: dict[tuple[int, int], int]) -> Position:
        model = self._model
        inner = [0] * len(model.distinct)
        shared = [0] * len(model.distinct)
        inside = self._masks[model.component_of[member.cohort]]
        for constraint, holders in member.values:
            within = holders & inside == holders
            numbers = tokens if within else self._shared_bits
            bit = 1 << numbers.setdefault((constraint, holders), len(numbers))
            (inner if within else shared)[constraint] |= bit
        return Position(
            member.costs,
            member.size,
            member.capacity,
            member.counted,
            member.own,
            tuple(sorted(place[i] for i in member.hits)),
            tuple(sorted(place[i] for i in member.hit_by)),
            tuple(sorted(place[i] for i in member.excludes)),
            tuple(inner),
            tuple(shared),
        )


def _union(masks: tuple[int, ...], which: int) -> int:
    """The union of those masks whose bit is in ``which``."""
    found = 0
    for place, mask in enumerate(masks):
        if which >> place & 1:
            found |= mask
    return found


def _twins(members: list[_Member]) -> dict[int, int]:
    """For each cohort the first of those that are interchangeable with it."""
    found: dict[int, int] = {}
    for which in (0, 1):
        alike: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
        for member in members:
            if member.cohort not in found:
                alike[member.twin_keys()[which]].append(member.cohort)
        for cohorts in alike.values():
            if len(cohorts) > 1 or which == 1:
                found.update(dict.fromkeys(cohorts, cohorts[0]))
    return found


def _values(model: Model) -> tuple[list[int], list[tuple[tuple[int, int], ...]]]:
    """For each cohort the distinct constraints of which no other has its values, and the values that others have.

    A value is known by the cohorts that have it, as a bit mask: values that the same cohorts have
    make no difference.
    """
    holders: defaultdict[tuple[int, object], int] = defaultdict(int)
    concerned = []
    for i, usable in enumerate(model.usable):
        places = [d for d in range(len(model.distinct)) if any(model.classes[k].distinct >> d & 1 for k in usable)]
        concerned.append(places)
        for d in places:
            for value in model.cohorts[i].values[model.distinct[d]] or ():
                holders[d, value] |= 1 << i
    own = []
    shared = []
    for i, places in enumerate(concerned):
        values = {d: {holders[d, v] for v in model.cohorts[i].values[model.distinct[d]] or ()} for d in places}
        common = sorted((d, mask) for d, masks in values.items() for mask in masks if mask != 1 << i)
        own.append(sum(1 << d for d, masks in values.items() if masks == {1 << i}))
        shared.append(tuple(common))
    return own, shared
