"""An assignment problem, reduced to what a search needs.

Requests that nothing tells apart become one class, the cost of a choice becomes one number,
cohorts fall into components that do not touch each other, and each way to satisfy the match
constraints becomes a filter on the cohorts.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from laneway.domain.assignment_problem import AssignmentProblem, Cohort
from laneway.domain.request import ConstraintKind


class Weights(NamedTuple):
    """What one unit of each part of the cost is worth: no sum of later parts reaches an earlier one."""

    away: int
    distance: int
    lost: int

    @classmethod
    def of(cls, problem: AssignmentProblem) -> "Weights":
        wanted = sum(problem.counts)
        most_tags = max((tags for c in problem.cohorts for tags in c.serves if tags is not None), default=0)
        lost = 1 + wanted * most_tags
        distance = lost * (1 + sum(len(c.addresses) for c in problem.cohorts if c.offered))
        away = distance * (1 + wanted * max((c.distance for c in problem.cohorts), default=0))
        return cls(away, distance, lost)


@dataclass(frozen=True, slots=True)
class RequestClass:
    """Requests that the same cohorts serve at the same costs, within the same constraints.

    ``distinct`` has a bit for each distinct constraint (by its place in ``Model.distinct``),
    ``matches`` the places in ``Model.matches``. ``costs`` has the cost of one device of each
    cohort without what is lost by it, or None.
    """

    requests: tuple[int, ...]
    count: int
    distinct: int
    matches: tuple[int, ...]
    costs: tuple[int | None, ...]


Branch = tuple[int, ...]
"""For each match constraint the cohorts that its requests may use, as a bit mask."""


class Model:
    """See the module. ``classes`` stand in the order in which a search fills them."""

    def __init__(self, problem: AssignmentProblem) -> None:
        self.problem = problem
        self.cohorts: tuple[Cohort, ...] = problem.cohorts
        self.weights = Weights.of(problem)
        kinds = [constraint.kind for constraint in problem.constraints]
        self.matches = [i for i, kind in enumerate(kinds) if kind is ConstraintKind.MATCH]
        self.distinct = [i for i, kind in enumerate(kinds) if kind is ConstraintKind.DISTINCT]
        self.classes = self._classes()
        self.wanted = sum(problem.counts)
        self.components, self.component_of = _components(problem.cohorts)

    def _classes(self) -> tuple[RequestClass, ...]:
        """The classes, those with little to choose from first, else by their first request."""
        problem = self.problem
        members: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
        for request in range(len(problem.counts)):
            within = tuple(i for i, c in enumerate(problem.constraints) if request in c.requests)
            members[within, tuple(c.serves[request] for c in self.cohorts)].append(request)
        wanted = sum(problem.counts)
        found = []
        for requests in members.values():
            one = self._class(tuple(requests))
            found.append((min(self._spare(one), wanted), one.requests, one))
        return tuple(one for _, _, one in sorted(found, key=lambda item: item[:2]))

    def _spare(self, one: RequestClass) -> int:
        """How much choice a class has beyond what it needs: devices, or values where those are distinct."""
        usable = [cohort for cohort, cost in zip(self.cohorts, one.costs, strict=True) if cost is not None]
        spare = [sum(len(cohort.addresses) for cohort in usable) - one.count]
        for place, i in enumerate(self.distinct):
            if one.distinct >> place & 1:
                values = {value for cohort in usable for value in cohort.values[i] or ()}
                demand = sum(self.problem.counts[request] for request in self.problem.constraints[i].requests)
                if all(cohort.values[i] for cohort in usable):
                    spare.append(len(values) - demand)
        return min(spare)

    def _class(self, requests: tuple[int, ...]) -> RequestClass:
        constraints = self.problem.constraints
        within = [i for i, c in enumerate(constraints) if requests[0] in c.requests]
        empty_too = [i for i in within if constraints[i].kind is ConstraintKind.MATCH]
        weights = self.weights
        costs: list[int | None] = []
        for cohort in self.cohorts:
            tags = cohort.serves[requests[0]]
            values = cohort.values
            if tags is None or any(values[i] is None for i in within) or any(not values[i] for i in empty_too):
                costs.append(None)
            else:
                costs.append(cohort.away * weights.away + cohort.distance * weights.distance + tags)
        return RequestClass(
            requests,
            sum(self.problem.counts[request] for request in requests),
            sum(1 << place for place, i in enumerate(self.distinct) if i in within),
            tuple(place for place, i in enumerate(self.matches) if i in within),
            tuple(costs),
        )

    @cached_property
    def usable(self) -> tuple[tuple[int, ...], ...]:
        """For each cohort the classes that it serves."""
        return tuple(
            tuple(k for k, one in enumerate(self.classes) if one.costs[i] is not None) for i in range(len(self.cohorts))
        )

    @cached_property
    def capacities(self) -> tuple[int, ...]:
        """How many members of each cohort a choice can take at most: one, where all that it serves is distinct."""
        found = []
        for cohort, usable in zip(self.cohorts, self.usable, strict=True):
            common = (1 << len(self.distinct)) - 1
            for k in usable:
                common &= self.classes[k].distinct
            once = any(common >> place & 1 and cohort.values[i] for place, i in enumerate(self.distinct))
            demand = sum(self.classes[k].count for k in usable)
            found.append(min(len(cohort.addresses), demand, 1) if once else min(len(cohort.addresses), demand))
        return tuple(found)

    def branches(self) -> Iterator[tuple[int, Branch]]:
        """Each way to satisfy the match constraints, with a lower bound of its cost."""
        for branch in product(*(self._common_values(place) for place in range(len(self.matches)))):
            bound = self._separate_bound(branch)
            if bound is not None:
                yield bound, branch

    def _common_values(self, place: int) -> list[int]:
        """The cohorts that have a value of a match constraint, for each value that is worth a look."""
        usable = [i for i, ks in enumerate(self.usable) if any(place in self.classes[k].matches for k in ks)]
        masks: defaultdict[Hashable, int] = defaultdict(int)
        for i in usable:
            for value in self.cohorts[i].values[self.matches[place]] or ():
                masks[value] |= 1 << i
        found = sorted(set(masks.values()), key=lambda mask: (-mask.bit_count(), mask))
        kept: list[int] = []
        for mask in found:
            if not any(mask & other == mask for other in kept):
                kept.append(mask)
        return kept

    def _separate_bound(self, branch: Branch) -> int | None:
        """The cost of serving each class as if it were alone; None where even that cannot be."""
        total = 0
        for k, one in enumerate(self.classes):
            missing = one.count
            allowed = allowed_by(branch, one)
            for cost, cohort, capacity in self._cheapest[k]:
                if allowed >> cohort & 1:
                    total += cost * min(missing, capacity)
                    missing -= min(missing, capacity)
                    if not missing:
                        break
            if missing:
                return None
        return total

    @cached_property
    def _cheapest(self) -> list[list[tuple[int, int, int]]]:
        return [
            sorted((cost, i, self.capacities[i]) for i, cost in enumerate(one.costs) if cost is not None)
            for one in self.classes
        ]


def allowed_by(branch: Branch, one: RequestClass) -> int:
    """The cohorts that a class may use in a branch, as a bit mask; all bits where nothing restricts it."""
    allowed = -1
    for place in one.matches:
        allowed &= branch[place]
    return allowed


def _components(cohorts: tuple[Cohort, ...]) -> tuple[list[list[int]], list[int]]:
    """The cohorts that are linked by relatives and excludes, and the component of each cohort."""
    component_of = [-1] * len(cohorts)
    components: list[list[int]] = []
    for start in sorted(range(len(cohorts)), key=lambda i: tuple(cohorts[i].addresses[:1])):
        if component_of[start] >= 0:
            continue
        component_of[start] = len(components)
        found = [start]
        for i in found:
            for j in (*cohorts[i].relatives, *cohorts[i].excludes):
                if component_of[j] < 0:
                    component_of[j] = len(components)
                    found.append(j)
        components.append(found)
    return components, component_of
