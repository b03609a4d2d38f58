"""Match constraints that come to one: fewer of them, and the same choices.

Where no device has more than one value, matching is transitive: requests that match on it, and share
one with others that match on it, all have that one value.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from laneway.domain.assignment.problem import AssignmentConstraint, AssignmentProblem
from laneway.domain.requests.request import ConstraintKind

_Column = tuple[frozenset[Hashable] | None, ...]
"""The values of all cohorts for one constraint."""


def merged(problem: AssignmentProblem) -> AssignmentProblem:
    """The problem with one constraint in place of those that match the same values over linked requests."""
    if len(problem.constraints) < 2:
        return problem
    alike: defaultdict[_Column, list[int]] = defaultdict(list)
    kept: list[tuple[int, tuple[int, ...]]] = []
    for place, constraint in enumerate(problem.constraints):
        column = tuple(cohort.values[place] for cohort in problem.cohorts)
        if constraint.kind is ConstraintKind.MATCH and all(values is None or len(values) <= 1 for values in column):
            alike[column].append(place)
        else:
            kept.append((place, constraint.requests))
    for places in alike.values():
        kept += _linked(places, [problem.constraints[place].requests for place in places])
    if len(kept) == len(problem.constraints):
        return problem
    kept.sort()
    return replace(
        problem,
        constraints=tuple(AssignmentConstraint(problem.constraints[place].kind, requests) for place, requests in kept),
        cohorts=tuple(
            replace(cohort, values=tuple(cohort.values[place] for place, _ in kept)) for cohort in problem.cohorts
        ),
    )


def _linked(places: Sequence[int], requests: Sequence[tuple[int, ...]]) -> list[tuple[int, tuple[int, ...]]]:
    """The constraints that share requests, as one: the place of the first of them, and the requests of all."""
    found: list[tuple[int, set[int]]] = []
    for place, mine in zip(places, requests, strict=True):
        linked = [one for one in found if not one[1].isdisjoint(mine)]
        found = [one for one in found if one not in linked]
        found.append((min([place, *(first for first, _ in linked)]), set(mine).union(*(some for _, some in linked))))
    return [(place, tuple(sorted(some))) for place, some in found]
