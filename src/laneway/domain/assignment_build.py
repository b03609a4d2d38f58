"""From the cohorts of a model to components, branch by branch."""

from collections import defaultdict
from dataclasses import dataclass

from laneway.domain.assignment_component import UNLIMITED, ComponentType, Position
from laneway.domain.assignment_local import LocalStates
from laneway.domain.assignment_model import Branch, Model, allowed_by


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
        untouched = self._states.untouched(ComponentType(positions, tuple(blocks), distinct))
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
            sum(1 << place[i] for i in member.hit_by),
            sum(1 << place[i] for i in member.excludes),
            tuple(inner),
            tuple(shared),
        )


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
