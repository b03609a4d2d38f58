import pytest

from domain.assignment_hosts import tangled_values
from domain.assignment_problems import Draft, problem_of, relate
from laneway.domain.assignment_blame import Blame, blame
from laneway.domain.assignment_problem import AssignmentConstraint
from laneway.domain.request import ConstraintKind

MATCH, DISTINCT = ConstraintKind.MATCH, ConstraintKind.DISTINCT


def place(*values: str, serves: tuple[int | None, ...] = (0, 0)) -> Draft:
    return Draft(1, serves=serves, values=tuple(frozenset(value) for value in values))


@pytest.mark.parametrize(
    ("drafts", "kinds", "expected"),
    [
        pytest.param([place("a"), place("b")], [MATCH], (0,), id="the constraint that no choice satisfies"),
        pytest.param(
            [place("a", "x"), place("b", "y")], [MATCH, DISTINCT], (0,), id="only the one of two that is in the way"
        ),
        pytest.param([place("a", "x"), place("a", "x")], [DISTINCT, DISTINCT], (), id="neither of two that both are"),
        pytest.param([place("a")], [MATCH], (), id="none where there are too few devices"),
    ],
)
def test_which_constraint_is_to_blame(drafts: list[Draft], kinds: list[ConstraintKind], expected: tuple[int]) -> None:
    constraints = [AssignmentConstraint(kind, (0, 1)) for kind in kinds]
    assert blame(problem_of(drafts, (1, 1), constraints)) == Blame(expected, exclusions=False, complete=True)


def test_a_pf_and_its_own_vf_are_to_blame() -> None:
    drafts = [place(serves=(0, None)), place(serves=(None, 0))]
    relate(drafts, 0, 1, exclude=True)
    assert blame(problem_of(drafts, (1, 1))) == Blame((), exclusions=True, complete=True)


def test_a_budget_that_ends_too_early_is_said() -> None:
    assert not blame(tangled_values(0), 50).complete
