from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.assignment.transport import prices

Costs = list[list[int | None]]


def least_cost(demands: list[int], capacities: list[int], costs: Costs) -> int | None:
    """The least cost of serving all demands, by trying every way to."""
    units = [row for row, demand in enumerate(demands) for _ in range(demand)]
    best = None
    for columns in product(range(len(capacities)), repeat=len(units)):
        if any(columns.count(column) > capacity for column, capacity in enumerate(capacities)):
            continue
        found = [costs[row][column] for row, column in zip(units, columns, strict=True)]
        if None not in found:
            total = sum(cost for cost in found if cost is not None)
            best = total if best is None else min(best, total)
    return best


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[int], Costs]:
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    demands = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    capacities = draw(st.lists(st.integers(0, 3), min_size=columns, max_size=columns))
    row = st.lists(st.none() | st.integers(0, 6), min_size=columns, max_size=columns)
    return demands, capacities, draw(st.lists(row, min_size=rows, max_size=rows))


@given(problems())
def test_prices_add_up_to_the_least_cost_and_are_never_above_a_cost(
    problem: tuple[list[int], list[int], Costs],
) -> None:
    demands, capacities, costs = problem
    found = prices(demands, capacities, costs)
    best = least_cost(demands, capacities, costs)
    if found is None:
        assert best is None
        return
    rows, columns = found
    assert best == sum(d * p for d, p in zip(demands, rows, strict=True)) + sum(
        c * p for c, p in zip(capacities, columns, strict=True)
    )
    assert all(price <= 0 for price in columns)
    for row, row_costs in enumerate(costs):
        for column, cost in enumerate(row_costs):
            assert cost is None or rows[row] + columns[column] <= cost


@pytest.mark.parametrize(
    ("demands", "capacities", "costs"),
    [
        pytest.param([1], [], [[]], id="nowhere to go"),
        pytest.param([3], [2], [[0]], id="one row wants too much"),
        pytest.param([1, 1], [1, 9], [[0, None], [0, None]], id="two rows want the same"),
    ],
)
def test_demands_that_cannot_be_served_have_no_prices(demands: list[int], capacities: list[int], costs: Costs) -> None:
    assert prices(demands, capacities, costs) is None
