"""Which components are of one type: those that differ in nothing but their addresses and the names of values."""

from domain.assignment_problems import Draft, problem_of, relate
from laneway.domain.assignment.build import components_of
from laneway.domain.assignment.local import LocalStates
from laneway.domain.assignment.model import Model
from laneway.domain.assignment.problem import AssignmentConstraint
from laneway.domain.requests.request import ConstraintKind

DISTINCT = (AssignmentConstraint(ConstraintKind.DISTINCT, (0,)),)


def types_of(drafts: list[Draft], constraints: tuple[AssignmentConstraint, ...] = ()) -> list[int]:
    """For each component the first one of its type."""
    kinds = [component.kind for component in components_of(Model(problem_of(drafts, (2,), constraints)))]
    return [kinds.index(kind) for kind in kinds]


def pf_and_vfs(*, vfs: int = 8, tags: int = 0) -> list[Draft]:
    drafts = [Draft(1, serves=(None,)), Draft(vfs, serves=(tags,))]
    relate(drafts, 0, 1, exclude=True)
    return drafts


def side_by_side(*groups: list[Draft]) -> list[Draft]:
    drafts: list[Draft] = []
    for group in groups:
        by = len(drafts)
        for draft in group:
            draft.relatives = {i + by for i in draft.relatives}
            draft.excludes = {i + by for i in draft.excludes}
        drafts += group
    return drafts


def test_cohorts_that_affect_each_other_are_one_component() -> None:
    assert types_of(side_by_side(pf_and_vfs(), pf_and_vfs())) == [0, 0]


def test_components_with_other_costs_are_of_another_type() -> None:
    assert types_of(side_by_side(pf_and_vfs(), pf_and_vfs(tags=1))) == [0, 1]


def test_more_members_than_are_asked_for_make_no_difference() -> None:
    assert types_of(side_by_side(pf_and_vfs(vfs=8), pf_and_vfs(vfs=9))) == [0, 0]
    assert types_of(side_by_side(pf_and_vfs(vfs=8), pf_and_vfs(vfs=1))) == [0, 1]


def test_what_can_be_neither_chosen_nor_lost_is_left_out() -> None:
    assert types_of([Draft(3, serves=(None,)), Draft(3, serves=(0,))]) == [0]


def test_values_that_only_one_component_has_make_no_difference() -> None:
    drafts = [Draft(1, serves=(0,), values=(frozenset({name}),)) for name in "ab"]
    assert types_of(drafts, DISTINCT) == [0, 0]


def test_components_with_a_value_in_common_are_one_and_equal_to_others_of_the_kind() -> None:
    drafts = [Draft(1, serves=(0,), values=(frozenset({name}),)) for name in "aabb"]
    assert types_of(drafts, DISTINCT) == [0, 0]


def test_equal_parts_of_a_component_are_not_told_apart() -> None:
    drafts = [Draft(1, serves=(0,), values=(frozenset({"a"}),)) for _ in range(3)]
    model = Model(problem_of(drafts, (2,), (AssignmentConstraint(ConstraintKind.MATCH, (0,)),)))
    states = LocalStates(model.weights.lost, lambda _: None)
    (component,) = components_of(model)
    untouched = states.untouched(component.kind)
    (move,) = states.moves(untouched, 0)
    outcomes = [after for place in range(3) for _, after in states.take(0, component.kind.start(), place, 0)]
    assert {states.number(0, after) for after in outcomes} == {move.after}


def test_a_choice_that_makes_no_difference_any_more_leaves_the_component_as_it_was() -> None:
    model = Model(problem_of(pf_and_vfs(), (2,)))
    states = LocalStates(model.weights.lost, lambda _: None)
    (component,) = components_of(model)
    untouched = states.untouched(component.kind)
    (move,) = states.moves(untouched, 0)
    assert states.like(move.after, 1) != untouched
    assert states.like(move.after, 0) == untouched
