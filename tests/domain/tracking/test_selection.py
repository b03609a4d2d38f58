"""From a claim to the problem that is solved."""

import pytest

from domain.hosts import claim, function, tracker, wants
from laneway.domain.requests.request import Constraint, ConstraintKind
from laneway.domain.tracking.selection import problem_of

A, B, C = (wants(name) for name in "abc")
MATCH, DISTINCT = ConstraintKind


def on(kind: ConstraintKind, attribute: str, *requests: str) -> Constraint:
    return Constraint(kind=kind, attribute=attribute, requests=requests)


@pytest.mark.parametrize(
    ("constraints", "left"),
    [
        pytest.param([on(MATCH, "parent", "a", "b")] * 1000, 1, id="one a thousand times"),
        pytest.param([on(MATCH, "parent", "b"), on(MATCH, "parent", "a", "b")], 1, id="one within another"),
        pytest.param([on(DISTINCT, "parent", "b", "a"), on(DISTINCT, "parent", "a", "b")], 1, id="in another order"),
        pytest.param([on(MATCH, "parent", "a", "b"), on(DISTINCT, "parent", "a", "b")], 2, id="of another kind"),
        pytest.param([on(MATCH, "parent", "a", "b"), on(MATCH, "socket", "a", "b")], 2, id="on another attribute"),
        pytest.param([on(MATCH, "parent", "a", "b"), on(MATCH, "parent", "b", "c")], 2, id="over other requests"),
    ],
)
def test_a_constraint_that_another_implies_is_no_work(constraints: list[Constraint], left: int) -> None:
    host = tracker(function("0000:3b:00.0"), function("0000:3d:00.0"))
    problem = problem_of(host.view, claim("vm1", A, B, C, constraints=tuple(constraints)))
    assert len(problem.constraints) == left
    assert all(len(cohort.values) == left for cohort in problem.cohorts)
