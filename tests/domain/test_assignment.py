"""The solver beside one that tries every choice: the same devices, not only the same yes or no."""

from random import Random

import pytest

from domain.assignment_problems import best_choice, small_problem
from laneway.domain.assignment import solve
from laneway.domain.assignment_problem import NoSolution, Solution

CHUNKS = 8
PROBLEMS_IN_CHUNK = 500


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_chooses_the_devices_that_trying_every_choice_finds_best(chunk: int) -> None:
    infeasible = 0
    for seed in range(chunk * PROBLEMS_IN_CHUNK, (chunk + 1) * PROBLEMS_IN_CHUNK):
        problem = small_problem(Random(seed))
        best = best_choice(problem)
        answer = solve(problem)
        if best is None:
            infeasible += 1
            assert isinstance(answer, NoSolution), seed
        else:
            assert isinstance(answer, Solution), seed
            assert (answer.chosen, answer.proven_best) == (best, True), seed
    assert infeasible >= PROBLEMS_IN_CHUNK / 3
