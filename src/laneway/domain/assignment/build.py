"""From the cohorts of a model to components."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from laneway.domain.assignment.component import UNLIMITED, Chunks, ComponentType, Position
from laneway.domain.assignment.model import Model
from laneway.domain.assignment.problem import Cohort

FEW = 8
"""Components with values in common are one component where that has no more cohorts, so that equal ones are found."""

Value = tuple[str, int, int]
"""A kind of constraint, which one of that kind, and the cohorts that have the value."""


class Component(NamedTuple):
    """A component of a problem: its type, and the cohort at each position."""

    kind: ComponentType
    cohorts: tuple[int, ...]


def components_of(model: Model) -> list[Component]:
    """The components of which something can be chosen, by their lowest addresses."""
    bits: dict[object, int] = {}
    for place in range(model.constraints[1]):
        bits["some", place] = len(bits)
    parts = [_Part(model, cohorts) for cohorts in _linked(model.cohorts)]
    return [_component(model, parts, bits) for parts in _clusters(model, [part for part in parts if part.members])]


class _Member(NamedTuple):
    """A cohort on its way to a position; other cohorts are named by their indexes.

    ``rank`` sorts the positions of a component alike in all components of its type. ``values`` are
    those that others have too, or that it can have in common with others.
    """

    cohort: int
    rank: tuple[object, ...]
    costs: tuple[int | None, ...]
    hits: frozenset[int]
    hit_by: frozenset[int]
    excludes: frozenset[int]
    size: int
    capacity: int
    counted: bool
    own: int
    values: tuple[Value, ...]

    def twin_keys(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """Members with one of these in common are interchangeable: strangers, or relatives of each other."""
        alike = self.rank, self.excludes, self.values
        both = frozenset({self.cohort})
        return (*alike, self.hits, self.hit_by), (*alike, self.hits | both, self.hit_by | both, both <= self.hits)


class _Part:
    """Cohorts that are linked by relatives and excludes, in the order of their positions.

    ``tokens`` has the values that only these cohorts have, by constraint and holders, numbered.
    ``key`` is the same for parts that nothing tells apart but their own values; ``rank`` sorts them.
    """

    def __init__(self, model: Model, cohorts: list[int]) -> None:
        self.cohorts = sum(1 << i for i in cohorts)
        members = _members(model, cohorts)
        twins = _twins(members)
        self.members = sorted(members, key=lambda member: (member.rank, twins[member.cohort], member.cohort))
        self.twins = _runs([twins[member.cohort] for member in self.members])
        self.tokens: dict[object, int] = {}
        for member in self.members:
            for value in member.values:
                if value[-1] & self.cohorts == value[-1]:
                    self.tokens.setdefault(value, len(self.tokens))

    @property
    def rank(self) -> tuple[object, ...]:
        return tuple(member.rank for member in self.members)

    def key(self) -> tuple[object, ...]:
        place = {member.cohort: i for i, member in enumerate(self.members)}
        return tuple(
            (
                member.rank,
                *(tuple(sorted(place[i] for i in some)) for some in (member.hits, member.hit_by, member.excludes)),
                tuple((self.tokens[value],) if value in self.tokens else value for value in member.values),
            )
            for member in self.members
        )


def _component(model: Model, parts: list[_Part], bits: dict[object, int]) -> Component:
    """The component of some parts; ``bits`` numbers the values that several components have."""
    keys = [part.key() for part in parts] if len(parts) > 1 else [parts[0].rank]
    parts_and_keys = sorted(zip(parts, keys, strict=True), key=lambda item: (item[0].rank, keys.index(item[1])))
    parts = [part for part, _ in parts_and_keys]
    place = {member.cohort: i for i, member in enumerate(member for part in parts for member in part.members)}
    inside = sum(part.cohorts for part in parts)
    tokens: dict[object, int] = {}
    for part in parts:
        for value in part.tokens:
            tokens[value] = len(tokens)
    positions: list[Position] = []
    twins: list[tuple[int, int]] = []
    for part in parts:
        twins += [(start + len(positions), end + len(positions)) for start, end in part.twins]
        positions += [_position(model, member, place, _Names(inside, tokens, bits)) for member in part.members]
    kind = ComponentType(
        tuple(positions),
        tuple(twins),
        tuple(_chunks(parts_and_keys)),
        tuple(one.distinct for one in model.classes),
        tuple(one.matches for one in model.classes),
    )
    return Component(kind, tuple(place))


def _chunks(parts: list[tuple[_Part, tuple[object, ...]]]) -> Iterator[Chunks]:
    """The runs of parts with the same key."""
    position = token = 0
    for _, run in groupby(parts, key=itemgetter(1)):
        alike = [part for part, _ in run]
        first = alike[0]
        if len(alike) > 1:
            yield Chunks(position, len(first.members), len(alike), token, len(first.tokens))
        position += len(alike) * len(first.members)
        token += len(alike) * len(first.tokens)


class _Names(NamedTuple):
    """Numbers the values of a component's cohorts (``inside``): its own are tokens, the others are shared bits."""

    inside: int
    tokens: dict[object, int]
    bits: dict[object, int]


def _position(model: Model, member: _Member, place: dict[int, int], names: _Names) -> Position:
    distinct, matches = ([[0, 0] for _ in range(number)] for number in model.constraints)
    for value in member.values:
        kind, constraint, holders = value
        is_shared = holders & names.inside != holders
        numbers = names.bits if is_shared else names.tokens
        bit = 1 << numbers.setdefault(value, len(numbers))
        (distinct if kind == "distinct" else matches)[constraint][is_shared] |= bit
    return Position(
        member.costs,
        member.size,
        member.capacity,
        member.counted,
        member.own,
        tuple(sorted([place[i] for i in member.hits])),
        sum([1 << place[i] for i in member.hit_by]),
        sum([1 << place[i] for i in member.excludes]),
        tuple([tokens for tokens, _ in distinct]),
        tuple([shared for _, shared in distinct]),
        tuple([(tokens, shared) for tokens, shared in matches]),
    )


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
        costs = tuple([one.costs[i] for one in model.classes])
        size = len(model.cohorts[i].addresses) if hit_by[i] else 0
        capacity = model.capacities[i] if limited else UNLIMITED
        counted = limited or savable
        values = (
            *(("distinct", constraint, holders) for constraint, holders in model.distinct_values[i]),
            *(("match", at, holders) for at, some in enumerate(model.match_values[i]) for holders in some),
        )
        rank = (
            tuple([-1 if cost is None else cost for cost in costs]),
            (size, capacity, counted, model.own[i]),
            tuple([(kind, constraint) for kind, constraint, _ in values]),
        )
        found.append(
            _Member(
                i,
                rank,
                costs,
                frozenset(hits[i]),
                frozenset(hit_by[i]),
                frozenset(excludes),
                size,
                capacity,
                counted,
                model.own[i],
                values,
            )
        )
    return found


def _twins(members: list[_Member]) -> dict[int, int]:
    """For each cohort the first of those that are interchangeable with it."""
    if len({member.rank for member in members}) == len(members):
        return {member.cohort: member.cohort for member in members}
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


def _runs(twins: list[int]) -> list[tuple[int, int]]:
    """The runs of more than one position with the same twin, as (start, end)."""
    starts = [i for i, twin in enumerate(twins) if i == 0 or twin != twins[i - 1]]
    return [(start, end) for start, end in pairwise([*starts, len(twins)]) if end - start > 1]


def _clusters(model: Model, parts: list[_Part]) -> list[list[_Part]]:
    """The parts, those with values in common together where they are few cohorts."""
    part_of = {member.cohort: i for i, part in enumerate(parts) for member in part.members}
    links: list[list[int]] = [[] for _ in parts]
    for value in {value for part in parts for member in part.members for value in member.values}:
        holders = value[-1]
        if holders.bit_count() <= FEW:
            linked = {part_of[i] for i in range(len(model.cohorts)) if holders >> i & 1 and i in part_of}
            for i in linked:
                links[i] += linked
    found: list[list[_Part]] = []
    for cluster in _connected(range(len(parts)), links):
        together = [parts[i] for i in cluster]
        found += [together] if sum(len(part.members) for part in together) <= FEW else [[part] for part in together]
    return found


def _linked(cohorts: tuple[Cohort, ...]) -> list[list[int]]:
    """The cohorts that are linked by relatives and excludes, by the lowest address of each first one."""
    by_address = sorted(range(len(cohorts)), key=lambda i: tuple(cohorts[i].addresses[:1]))
    return _connected(by_address, [(*cohort.relatives, *cohort.excludes) for cohort in cohorts])


def _connected(items: Iterable[int], links: Sequence[Iterable[int]]) -> list[list[int]]:
    """The items that are linked, directly or not, by their first ones."""
    seen: set[int] = set()
    found = []
    for start in items:
        if start not in seen:
            seen.add(start)
            connected = [start]
            for i in connected:
                for j in sorted(links[i]):
                    if j not in seen:
                        seen.add(j)
                        connected.append(j)
            found.append(connected)
    return found
