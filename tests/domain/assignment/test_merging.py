"""Match constraints that come to one, and what many of them cost."""

import itertools
from collections.abc import Callable, Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.assignment_problems import rooted_problem, small_problem
from domain.hosts import at
from laneway.domain.assignment.merging import merged
from laneway.domain.assignment.problem import AssignmentConstraint, AssignmentProblem, Cohort, Solution
from laneway.domain.assignment.solver import solve
from laneway.domain.requests.request import ConstraintKind

MATCH, DISTINCT = ConstraintKind.MATCH, ConstraintKind.DISTINCT


def problem_of(
    constraints: list[AssignmentConstraint], values: Sequence[Sequence[frozenset[str] | None]]
) -> AssignmentProblem:
    """One device for each row of values, one device wanted by each request."""
    counts = 1 + max(request for constraint in constraints for request in constraint.requests)
    cohorts = tuple(
        Cohort((at(f"0000:{place:02x}:00.0"),), True, (0,) * counts, values=tuple(row))
        for place, row in enumerate(values)
    )
    return AssignmentProblem((1,) * counts, cohorts, tuple(constraints))


def requests_of(problem: AssignmentProblem) -> list[tuple[int, ...]]:
    return [constraint.requests for constraint in merged(problem).constraints]


def pairs(number: int) -> list[AssignmentConstraint]:
    return [AssignmentConstraint(MATCH, pair) for pair in itertools.combinations(range(number), 2)]


ONE, OTHER, BOTH = frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"})


def test_pairs_that_are_linked_are_one_constraint() -> None:
    assert requests_of(problem_of(pairs(4), [[ONE] * 6, [OTHER] * 6])) == [(0, 1, 2, 3)]


def test_pairs_that_share_no_request_stay_apart() -> None:
    constraints = [AssignmentConstraint(MATCH, (0, 1)), AssignmentConstraint(MATCH, (2, 3))]
    assert requests_of(problem_of(constraints, [[ONE] * 2] * 4)) == [(0, 1), (2, 3)]


def test_constraints_on_other_values_stay_apart() -> None:
    constraints = [AssignmentConstraint(MATCH, (0, 1)), AssignmentConstraint(MATCH, (1, 2))]
    assert requests_of(problem_of(constraints, [[ONE, ONE], [ONE, OTHER]])) == [(0, 1), (1, 2)]


def test_devices_with_several_values_match_in_pairs_only() -> None:
    assert requests_of(problem_of(pairs(3), [[ONE] * 3, [BOTH] * 3, [OTHER] * 3])) == [(0, 1), (0, 2), (1, 2)]


def test_what_is_distinct_in_pairs_is_not_merged() -> None:
    constraints = [AssignmentConstraint(DISTINCT, (0, 1)), AssignmentConstraint(DISTINCT, (1, 2))]
    assert requests_of(problem_of(constraints, [[ONE] * 2] * 3)) == [(0, 1), (1, 2)]


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([small_problem, rooted_problem]))
def test_the_answer_is_the_same_however_the_constraints_are_written(
    random: Random, make: Callable[[Random], AssignmentProblem]
) -> None:
    """Each match over several requests, written out in pairs, stands for the same choices."""
    problem = make(random)
    written_out = []
    places = []
    for place, constraint in enumerate(problem.constraints):
        single = all(cohort.values[place] is None or len(cohort.values[place] or ()) <= 1 for cohort in problem.cohorts)
        several = constraint.kind is MATCH and single and len(set(constraint.requests)) > 2
        for requests in itertools.combinations(constraint.requests, 2) if several else [constraint.requests]:
            written_out.append(AssignmentConstraint(constraint.kind, requests))
            places.append(place)
    cohorts = tuple(
        Cohort(
            *(cohort.addresses, cohort.offered, cohort.serves, cohort.away, cohort.distance, cohort.relatives),
            self_related=cohort.self_related,
            excludes=cohort.excludes,
            values=tuple(cohort.values[place] for place in places),
        )
        for cohort in problem.cohorts
    )
    first, second = solve(problem), solve(AssignmentProblem(problem.counts, cohorts, tuple(written_out)))
    assert type(first) is type(second)
    if isinstance(first, Solution) and isinstance(second, Solution):
        assert first.chosen == second.chosen


def test_many_constraints_on_devices_with_several_values_end_within_the_bound() -> None:
    """What a step multiplies counts as effort: it ends, with a choice or without a proof."""
    many = pairs(8)
    values = [[frozenset({f"{place % 5}", f"{place % 7}", "all"})] * len(many) for place in range(24)]
    answer = solve(problem_of(many, values), budget=20_000)
    assert answer.nodes <= 21_000
