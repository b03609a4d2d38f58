"""Random assignment problems, and a solver that tries every choice."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

from laneway.domain.address import PciAddress
from laneway.domain.assignment.problem import AssignmentConstraint, AssignmentProblem, Cohort
from laneway.domain.requests.request import ConstraintKind

Choice = tuple[tuple[PciAddress, ...], ...]
Cost = tuple[int, int, int, int, Choice]


@dataclass
class Draft:
    """A cohort before its addresses and its relations are known."""

    size: int
    offered: bool = True
    serves: tuple[int | None, ...] = ()
    away: bool = False
    distance: int = 0
    relatives: set[int] = field(default_factory=set)
    self_related: bool = False
    excludes: set[int] = field(default_factory=set)
    values: tuple[frozenset[Hashable] | None, ...] = ()


def relate(drafts: Sequence[Draft], a: int, b: int, *, exclude: bool = False) -> None:
    for one, other in ((a, b), (b, a)):
        drafts[one].relatives.add(other)
        if exclude:
            drafts[one].excludes.add(other)


def problem_of(
    drafts: Sequence[Draft],
    counts: Sequence[int],
    constraints: Sequence[AssignmentConstraint] = (),
    addresses: Sequence[int] | None = None,
) -> AssignmentProblem:
    """The problem of these drafts; the addresses ascend from cohort to cohort unless they are given."""
    left = iter(addresses if addresses is not None else range(sum(draft.size for draft in drafts)))
    cohorts = tuple(
        Cohort(
            addresses=tuple(sorted(PciAddress(next(left)) for _ in range(draft.size))),
            offered=draft.offered,
            serves=draft.serves,
            away=draft.away,
            distance=draft.distance,
            relatives=tuple(sorted(draft.relatives)),
            self_related=draft.self_related,
            excludes=tuple(sorted(draft.excludes)),
            values=draft.values,
        )
        for draft in drafts
    )
    return AssignmentProblem(tuple(counts), cohorts, tuple(constraints))


# -- every choice


def cost_of(problem: AssignmentProblem, choice: Choice) -> Cost | None:
    """The cost of a choice, in the order in which it is compared; None if the choice is not valid."""
    cohort_of = {address: i for i, cohort in enumerate(problem.cohorts) for address in cohort.addresses}
    taken = [address for addresses in choice for address in addresses]
    if len(set(taken)) != len(taken) or any(len(a) != n for a, n in zip(choice, problem.counts, strict=True)):
        return None
    tags = 0
    for request, addresses in enumerate(choice):
        for address in addresses:
            asked = problem.cohorts[cohort_of[address]].serves[request]
            if asked is None:
                return None
            tags += asked
    used = {cohort_of[address] for address in taken}
    if any(other in used for i in used for other in problem.cohorts[i].excludes):
        return None
    for place, constraint in enumerate(problem.constraints):
        values = [
            problem.cohorts[cohort_of[address]].values[place]
            for request in constraint.requests
            for address in choice[request]
        ]
        if not _holds(constraint.kind, values):
            return None
    lost = 0
    for i, cohort in enumerate(problem.cohorts):
        if cohort.offered and (used.intersection(cohort.relatives) or (cohort.self_related and i in used)):
            lost += len(set(cohort.addresses) - set(taken))
    chosen = [problem.cohorts[cohort_of[address]] for address in taken]
    return sum(c.away for c in chosen), sum(c.distance for c in chosen), lost, tags, choice


def _holds(kind: ConstraintKind, values: Sequence[frozenset[Hashable] | None]) -> bool:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return False
    if kind is ConstraintKind.MATCH:
        return not known or bool(frozenset.intersection(*known))
    return all(not (a & b) for a, b in combinations(known, 2))


def _choices(problem: AssignmentProblem) -> Iterator[Choice]:
    def after(request: int, taken: frozenset[PciAddress]) -> Iterator[Choice]:
        if request == len(problem.counts):
            yield ()
            return
        free = sorted(
            address
            for cohort in problem.cohorts
            if cohort.serves[request] is not None
            for address in cohort.addresses
            if address not in taken
        )
        for addresses in combinations(free, problem.counts[request]):
            for rest in after(request + 1, taken.union(addresses)):
                yield (addresses, *rest)

    return after(0, frozenset())


def best_choice(problem: AssignmentProblem) -> Choice | None:
    """The best of all choices, found by trying each of them."""
    costs = [cost for choice in _choices(problem) if (cost := cost_of(problem, choice)) is not None]
    return min(costs)[-1] if costs else None


# -- random problems


def small_problem(random: Random) -> AssignmentProblem:
    """A problem of at most nine devices, with all that the solver knows in it."""
    counts = random.choice([(1,), (2,), (3,), (1, 1), (2, 1), (1, 2), (2, 2), (1, 1, 1), (2, 1, 1), (1, 1, 1, 1)])
    kinds = random.choices(list(ConstraintKind), k=random.choice([0, 0, 1, 1, 2, 3]))
    constraints = tuple(
        AssignmentConstraint(kind, tuple(sorted(random.sample(range(len(counts)), random.randint(1, len(counts))))))
        for kind in kinds
    )
    drafts: list[Draft] = []
    while sum(draft.size for draft in drafts) < 5:
        component = _component(random, len(counts), len(constraints), len(drafts))
        copies = random.choice([1, 1, 2, 3])
        for copy in range(copies):
            if sum(draft.size for draft in (*drafts, *component)) <= 9:
                drafts += _shifted(component, len(drafts), alike=copy == 0 or random.random() < 0.8, random=random)
    addresses = list(range(sum(draft.size for draft in drafts)))
    if random.random() < 0.7:
        random.shuffle(addresses)
    return problem_of(drafts, counts, constraints, addresses)


def rooted_problem(random: Random) -> AssignmentProblem:
    """A few PCIe roots with nearly the same below each, and constraints on the values of the roots."""
    counts = random.choice([(2, 1, 1), (2, 2), (1, 1, 1, 1), (3, 1), (2, 1), (1, 2, 1)])
    constraints = tuple(
        AssignmentConstraint(kind, tuple(sorted(random.sample(range(len(counts)), random.randint(1, len(counts))))))
        for kind in random.choices(list(ConstraintKind), k=random.choice([0, 1, 1, 2]))
    )
    attributes = [random.choice(["root", "root", "node", "mixed"]) for _ in constraints]
    parts = [
        (random.choice(["pf", "plain", "group"]), _serves(random, len(counts)), _serves(random, len(counts)))
        for _ in range(random.choice([1, 2, 2]))
    ]
    drafts: list[Draft] = []
    for root in range(random.choice([2, 3])):
        for shape, first, second in parts:
            values = tuple(_values_of_root(random, attribute, root, len(drafts)) for attribute in attributes)
            serves = _serves(random, len(counts)) if random.random() < 0.1 else first
            drafts.append(Draft(2 if shape == "group" else 1, serves=serves, distance=root % 2, values=values))
            drafts[-1].self_related = shape == "group"
            if shape == "pf":
                drafts.append(Draft(random.choice([1, 2]), serves=second, distance=root % 2, values=values))
                relate(drafts, len(drafts) - 2, len(drafts) - 1, exclude=True)
    addresses = list(range(sum(draft.size for draft in drafts)))
    if random.random() < 0.7:
        random.shuffle(addresses)
    return problem_of(drafts, counts, constraints, addresses)


def _serves(random: Random, requests: int) -> tuple[int | None, ...]:
    return tuple(None if random.random() < 0.3 else random.choice([0, 0, 1]) for _ in range(requests))


def _values_of_root(random: Random, attribute: str, root: int, number: int) -> frozenset[Hashable] | None:
    if attribute == "root":
        return frozenset({f"root {root}"})
    if attribute == "node":
        return frozenset({f"node {root % 2}"})
    both = frozenset({f"root {root}", f"node {root % 2}"})
    return random.choice([frozenset({f"root {root}"})] * 4 + [both, frozenset({f"own {number}"}), None])


def _component(random: Random, requests: int, constraints: int, start: int) -> list[Draft]:
    shape = random.choice(["plain", "plain", "pf", "pf", "split pf", "group", "pair", "mixed", "chain"])
    sizes = {
        "plain": [random.randint(1, 3)],
        "pf": [1, random.randint(1, 4)],
        "split pf": [1, random.randint(1, 2), random.randint(1, 2)],
        "group": [random.randint(2, 3)],
        "pair": [random.randint(1, 2), random.randint(1, 2)],
        "mixed": [1, 2, 1],
        "chain": [1, 1, 1],
    }[shape]
    drafts = [_draft(random, size, requests, constraints, start + i) for i, size in enumerate(sizes)]
    if shape in {"pf", "split pf"}:
        for i in range(1, len(drafts)):
            relate(drafts, 0, i, exclude=True)
    elif shape == "group":
        drafts[0].self_related = True
    elif shape == "pair":
        relate(drafts, 0, 1)
        drafts[0].self_related = drafts[1].self_related = True
    elif shape == "mixed":
        relate(drafts, 0, 1, exclude=True)
        relate(drafts, 0, 2)
    elif shape == "chain":
        relate(drafts, 0, 1)
        relate(drafts, 1, 2, exclude=random.random() < 0.5)
    return drafts


def _draft(random: Random, size: int, requests: int, constraints: int, number: int) -> Draft:
    common = random.choice([0, 0, 1])
    serves = tuple(
        None if random.random() < 0.35 else common if random.random() < 0.7 else random.randint(0, 2)
        for _ in range(requests)
    )
    away = random.random() < 0.3
    return Draft(
        size,
        offered=random.random() < 0.85,
        serves=serves,
        away=away,
        distance=random.choice([11, 21]) if away else random.choice([0, 0, 1]),
        values=tuple(_values(random, number) for _ in range(constraints)),
    )


def _values(random: Random, number: int) -> frozenset[Hashable] | None:
    return random.choice(
        [
            frozenset({f"own {number}"}),
            frozenset({f"own {number}"}),
            frozenset({random.choice("ab")}),
            frozenset({random.choice("abc")}),
            frozenset({random.choice("ab"), random.choice("bcd"), f"own {number}"}),
            frozenset(),
            None,
        ]
    )


def _shifted(component: Sequence[Draft], by: int, *, alike: bool, random: Random) -> list[Draft]:
    """A copy of a component at another place, with values of its own where the first has its own."""
    first = min((i for draft in component for i in draft.relatives), default=0)

    def renamed(values: frozenset[Hashable] | None) -> frozenset[Hashable] | None:
        return None if values is None else frozenset(f"{v} {by}" if str(v).startswith("own") else v for v in values)

    return [
        Draft(
            draft.size,
            draft.offered,
            draft.serves,
            draft.away if alike else random.random() < 0.5,
            draft.distance if alike else random.randint(0, 3),
            {i - first + by for i in draft.relatives},
            draft.self_related,
            {i - first + by for i in draft.excludes},
            tuple(renamed(value) for value in draft.values),
        )
        for draft in component
    ]
