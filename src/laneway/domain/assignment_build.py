"""From the cohorts of a model to components."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from laneway.domain.assignment_component import UNLIMITED, ComponentType, Position
from laneway.domain.assignment_model import Model
from laneway.domain.assignment_problem import Cohort


class Component(NamedTuple):
    """A component of a problem: its type, and the cohort at each position."""

    kind: ComponentType
    cohorts: tuple[int, ...]


def components_of(model: Model) -> list[Component]:
    """The components of which something can be chosen, by their lowest addresses."""
    bits: dict[object, int] = {}
    for place in range(model.constraints[1]):
        bits["match", place] = len(bits)
    found = (_component(model, cohorts, bits) for cohorts in _linked(model.cohorts))
    return [component for component in found if component is not None]


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
    distinct: tuple[tuple[int, int], ...]
    common: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> tuple[object, ...]:
        """What sorts the positions of a component alike in all components of its type."""
        costs = tuple(-1 if cost is None else cost for cost in self.costs)
        values = len(self.distinct), tuple(map(len, self.common))
        return costs, self.size, self.capacity, self.counted, self.own, values

    def twin_keys(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Members with one of these in common are interchangeable: strangers, or relatives of each other."""
        alike = self.rank, self.excludes, self.distinct, self.common
        both = frozenset({self.cohort})
        return (*alike, self.hits, self.hit_by), (*alike, self.hits | both, self.hit_by | both, both <= self.hits)


def _component(model: Model, cohorts: list[int], bits: dict[object, int]) -> Component | None:
    members = _members(model, cohorts)
    if not members:
        return None
    twins = _twins(members)
    members.sort(key=lambda member: (member.rank, twins[member.cohort], member.cohort))
    place = {member.cohort: i for i, member in enumerate(members)}
    inside = sum(1 << i for i in cohorts)
    tokens: dict[object, int] = {}
    positions = []
    for member in members:
        inner = [0] * model.constraints[0]
        shared = [0] * model.constraints[0]
        for constraint, holders in member.distinct:
            within = holders & inside == holders
            (inner if within else shared)[constraint] |= _bit(tokens if within else bits, constraint, holders)
        common = []
        for constraint, values in enumerate(member.common):
            mine = [_bit(tokens, "match", constraint, value) for value in values if value & inside == value]
            others = [_bit(bits, "match", constraint, value) for value in values if value & inside != value]
            common.append((sum(mine), sum(others)))
        positions.append(
            Position(
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
                tuple(common),
            )
        )
    distinct = tuple(one.distinct for one in model.classes)
    matches = tuple(one.matches for one in model.classes)
    ordered = tuple(member.cohort for member in members)
    return Component(ComponentType(tuple(positions), _blocks([twins[i] for i in ordered]), distinct, matches), ordered)


def _members(model: Model, cohorts: list[int]) -> list[_Member]:
    """The cohorts of which something can be chosen or lost."""
    live = {i for i in cohorts if model.usable[i]}
    hits: dict[int, set[int]] = {i: set() for i in cohorts}
    hit_by: dict[int, set[int]] = {i: set() for i in cohorts}
    for i in live:
        cohort = model.cohorts[i]
        for j in (*cohort.relatives, i) if cohort.self_related else cohort.relatives:
            if model.cohorts[j].offered:
                hits[i].add(j)
                hit_by[j].add(i)
    found = []
    for i in cohorts:
        if i not in live and not hit_by[i]:
            continue
        excludes = live.intersection(model.cohorts[i].excludes) if i in live else set()
        savable = i in live and bool(hit_by[i] - excludes)
        limited = model.capacities[i] < model.demand(i)
        found.append(
            _Member(
                i,
                costs=tuple(one.costs[i] for one in model.classes),
                hits=frozenset(hits[i]),
                hit_by=frozenset(hit_by[i]),
                excludes=frozenset(excludes),
                size=len(model.cohorts[i].addresses) if hit_by[i] else 0,
                capacity=model.capacities[i] if limited else UNLIMITED,
                counted=limited or savable,
                own=model.own[i],
                distinct=model.distinct_values[i],
                common=tuple(model.match_values[i]),
            )
        )
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


def _blocks(twins: list[int]) -> tuple[tuple[int, int], ...]:
    """The runs of more than one position with the same twin, as (start, end)."""
    starts = [i for i, twin in enumerate(twins) if i == 0 or twin != twins[i - 1]]
    return tuple((start, end) for start, end in pairwise([*starts, len(twins)]) if end - start > 1)


def _bit(numbers: dict[object, int], *key: object) -> int:
    """The bit of a value; each value that is new has the next."""
    return 1 << numbers.setdefault(key, len(numbers))


def _linked(cohorts: tuple[Cohort, ...]) -> list[list[int]]:
    """The cohorts that are linked by relatives and excludes, by the lowest address of each first one."""
    seen: set[int] = set()
    found = []
    for start in sorted(range(len(cohorts)), key=lambda i: tuple(cohorts[i].addresses[:1])):
        if start in seen:
            continue
        seen.add(start)
        linked = [start]
        for i in linked:
            for j in (*cohorts[i].relatives, *cohorts[i].excludes):
                if j not in seen:
                    seen.add(j)
                    linked.append(j)
        found.append(linked)
    return found
