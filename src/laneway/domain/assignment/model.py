"""An assignment problem, reduced to what a search needs.

Requests that nothing tells apart become one class, the cost of a choice becomes one number, and of
the values of constraints only those stay that can make a difference. A value is known by the
cohorts that have it, as a bit mask: values that the same cohorts have are the same.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from laneway.domain.assignment.problem import AssignmentProblem, Cohort
from laneway.domain.requests.request import ConstraintKind


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

    ``distinct`` and ``matches`` are masks of the constraints, by their places in the lists of the
    model. ``costs`` has the cost of one device of each cohort, without what is lost by it, or None.
    """

    requests: tuple[int, ...]
    count: int
    distinct: int
    matches: int
    costs: tuple[int | None, ...]


class Model:
    """See the module.

    ``classes`` stand in the order in which a search fills them. For each cohort there are: the
    classes that it serves (``usable``); how many members a choice can take at most
    (``capacities``); the distinct constraints of which no other cohort has its values (``own``);
    its other values for distinct constraints, as (constraint, value); and the values that it can
    have in common with others, for each match constraint.
    """

    def __init__(self, problem: AssignmentProblem) -> None:
        self.problem = problem
        self.cohorts: tuple[Cohort, ...] = problem.cohorts
        self.weights = Weights.of(problem)
        self.wanted = sum(problem.counts)
        self._demands = [sum(problem.counts[request] for request in set(c.requests)) for c in problem.constraints]
        # one device alone is distinct from all others, and has all values in common with them
        together = [i for i, demand in enumerate(self._demands) if demand > 1]
        self._matches = [i for i in together if problem.constraints[i].kind is ConstraintKind.MATCH]
        self._distinct = [i for i in together if problem.constraints[i].kind is ConstraintKind.DISTINCT]
        self.constraints = len(self._distinct), len(self._matches)
        classes = self._classes()
        self.match_values = self._match_values(classes)
        self.classes = self._ordered(self._with_common_values(one) for one in classes)
        self.usable = tuple(
            tuple(k for k, one in enumerate(self.classes) if one.costs[i] is not None) for i in range(len(self.cohorts))
        )
        self.capacities = tuple(self._capacity(i) for i in range(len(self.cohorts)))
        self.own, self.distinct_values = self._distinct_values()

    # -- classes

    def _classes(self) -> list[RequestClass]:
        """Requests within the same constraints that each cohort serves alike are one class."""
        constraints = self.problem.constraints
        members: defaultdict[tuple[tuple[int, ...], tuple[int | None, ...]], list[int]] = defaultdict(list)
        for request in range(len(self.problem.counts)):
            within = tuple(i for i, constraint in enumerate(constraints) if request in constraint.requests)
            members[within, tuple(cohort.serves[request] for cohort in self.cohorts)].append(request)
        return [self._class(tuple(requests), within) for (within, _), requests in members.items()]

    def _class(self, requests: tuple[int, ...], within: tuple[int, ...]) -> RequestClass:
        constraints, weights = self.problem.constraints, self.weights
        matches = [i for i in within if constraints[i].kind is ConstraintKind.MATCH]
        costs: list[int | None] = []
        for cohort in self.cohorts:
            tags = cohort.serves[requests[0]]
            unknown = any(cohort.values[i] is None for i in within)
            if tags is None or unknown or not all(cohort.values[i] for i in matches):
                costs.append(None)
            else:
                costs.append(cohort.away * weights.away + cohort.distance * weights.distance + tags)
        return RequestClass(
            requests,
            sum(self.problem.counts[request] for request in requests),
            sum(1 << place for place, i in enumerate(self._distinct) if i in within),
            sum(1 << place for place, i in enumerate(self._matches) if i in within),
            tuple(costs),
        )

    def _with_common_values(self, one: RequestClass) -> RequestClass:
        """The class without the cohorts that have no value in common with enough others."""
        places = [place for place in range(len(self._matches)) if one.matches >> place & 1]
        return replace(
            one,
            costs=tuple(
                cost if all(self.match_values[i][place] for place in places) else None
                for i, cost in enumerate(one.costs)
            ),
        )

    def _ordered(self, classes: Iterable[RequestClass]) -> tuple[RequestClass, ...]:
        """Those with little to choose from first, else by their first request."""
        return tuple(sorted(classes, key=lambda one: (min(self._spare(one), self.wanted), one.requests)))

    def _spare(self, one: RequestClass) -> int:
        """How much choice a class has beyond what it needs: devices, values that are distinct, devices that match."""
        usable = [i for i, cost in enumerate(one.costs) if cost is not None]
        spare = [sum(len(self.cohorts[i].addresses) for i in usable) - one.count]
        for place, i in enumerate(self._distinct):
            if one.distinct >> place & 1 and all(self.cohorts[at].values[i] for at in usable):
                different = {value for at in usable for value in self.cohorts[at].values[i] or ()}
                spare.append(len(different) - self._demands[i])
        for place in range(len(self._matches)):
            if one.matches >> place & 1:
                together: defaultdict[int, int] = defaultdict(int)
                for at in usable:
                    for value in self.match_values[at][place]:
                        together[value] += len(self.cohorts[at].addresses)
                spare.append(max(together.values(), default=0) - one.count)
        return min(spare)

    def _capacity(self, i: int) -> int:
        """All members that are wanted; one, where all that the cohort serves is distinct."""
        usable = self.usable[i]
        capacity = min(len(self.cohorts[i].addresses), self.demand(i))
        common = (1 << len(self._distinct)) - 1 if usable else 0
        for k in usable:
            common &= self.classes[k].distinct
        once = any(common >> place & 1 and self.cohorts[i].values[d] for place, d in enumerate(self._distinct))
        return min(capacity, 1) if once else capacity

    def demand(self, i: int) -> int:
        """How many devices the classes that a cohort serves want."""
        return sum(self.classes[k].count for k in self.usable[i])

    # -- values of constraints

    def _holders(self, i: int, concerned: Iterable[int]) -> dict[Hashable, int]:
        """The values that these cohorts have for a constraint, each with those that have it."""
        holders: defaultdict[Hashable, int] = defaultdict(int)
        for cohort in concerned:
            for value in self.cohorts[cohort].values[i] or ():
                holders[value] |= 1 << cohort
        return holders

    def _match_values(self, classes: list[RequestClass]) -> list[list[tuple[int, ...]]]:
        """For each cohort, for each match constraint: its values that are worth a look.

        Those are values that enough devices have, and of which no other has the same cohorts and more.
        """
        found: list[list[tuple[int, ...]]] = [[] for _ in self.cohorts]
        for place, i in enumerate(self._matches):
            within = [one for one in classes if one.matches >> place & 1]
            concerned = [c for c in range(len(self.cohorts)) if any(one.costs[c] is not None for one in within)]
            values = sorted(set(self._holders(i, concerned).values()), key=lambda mask: (-mask.bit_count(), mask))
            kept: list[int] = []
            for mask in values:
                if self._can_have_in_common(mask, within) and not any(mask & other == mask for other in kept):
                    kept.append(mask)
            for cohort in range(len(self.cohorts)):
                found[cohort].append(tuple(mask for mask in kept if mask >> cohort & 1))
        return found

    def _can_have_in_common(self, holders: int, classes: list[RequestClass]) -> bool:
        """Whether these cohorts alone have enough devices for each of the classes, and for all of them."""
        sizes = [len(c.addresses) if holders >> i & 1 else 0 for i, c in enumerate(self.cohorts)]
        served = [0] * len(sizes)
        for one in classes:
            serving = [size if cost is not None else 0 for size, cost in zip(sizes, one.costs, strict=True)]
            if sum(serving) < one.count:
                return False
            served = list(map(max, served, serving))
        return sum(served) >= sum(one.count for one in classes)

    def _distinct_values(self) -> tuple[list[int], list[tuple[tuple[int, int], ...]]]:
        """For each cohort the constraints of which only it has its values, and its values that others have too."""
        own = [0] * len(self.cohorts)
        shared: list[list[tuple[int, int]]] = [[] for _ in self.cohorts]
        for place, i in enumerate(self._distinct):
            within = {k for k, one in enumerate(self.classes) if one.distinct >> place & 1}
            concerned = [cohort for cohort, usable in enumerate(self.usable) if within.intersection(usable)]
            holders = self._holders(i, concerned)
            for cohort in concerned:
                values = {holders[value] for value in self.cohorts[cohort].values[i] or ()}
                if values == {1 << cohort}:
                    own[cohort] |= 1 << place
                shared[cohort] += sorted((place, mask) for mask in values if mask != 1 << cohort)
        return own, [tuple(values) for values in shared]
