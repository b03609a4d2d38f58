"""Which condition keeps requests from fitting together: found by leaving out one at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from laneway.domain.assignment import DEFAULT_BUDGET, solve
from laneway.domain.assignment_problem import AssignmentProblem, SearchExhausted, Solution


@dataclass(frozen=True, slots=True)
class Blame:
    """The constraints (by index) without any one of which there is a choice.

    ``exclusions`` says that there is one if devices could go together that never may, such as a PF
    and its own VF. ``complete`` is False where the budget ended before all was tried.
    """

    constraints: tuple[int, ...]
    exclusions: bool
    complete: bool


def blame(problem: AssignmentProblem, budget: int = DEFAULT_BUDGET) -> Blame:
    """What to blame for a problem without a choice. The budget of nodes is for all trials together."""
    constraints: list[int] = []
    exclusions = False
    for constraint, easier in _easier(problem):
        answer = solve(easier, budget)
        budget -= answer.nodes
        if isinstance(answer, SearchExhausted) or budget <= 0:
            return Blame(tuple(constraints), exclusions, complete=False)
        if isinstance(answer, Solution):
            if constraint is None:
                exclusions = True
            else:
                constraints.append(constraint)
    return Blame(tuple(constraints), exclusions, complete=True)


def _easier(problem: AssignmentProblem) -> Iterator[tuple[int | None, AssignmentProblem]]:
    """The problem without each of its constraints, then without exclusions."""
    for i in range(len(problem.constraints)):
        cohorts = tuple(replace(c, values=(*c.values[:i], *c.values[i + 1 :])) for c in problem.cohorts)
        constraints = (*problem.constraints[:i], *problem.constraints[i + 1 :])
        yield i, replace(problem, cohorts=cohorts, constraints=constraints)
    if any(cohort.excludes for cohort in problem.cohorts):
        yield None, replace(problem, cohorts=tuple(replace(cohort, excludes=()) for cohort in problem.cohorts))
