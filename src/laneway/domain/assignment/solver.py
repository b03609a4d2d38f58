"""The exact choice of devices for all requests of a claim at once.

If any choice satisfies the requests, it is found, and of all choices the one with the least cost,
compared in this order: devices away from the guest's nodes; the sum of their distances; other
offered devices that become unclaimable; tags that were not asked for; the addresses, in the order
of the requests. So the answer depends on the problem alone. The search is bounded by a number of
nodes, never by time.

First the least cost is found, without addresses (``assigning``). Then the addresses are
taken one by one, each time the lowest that can still be completed at that cost.
"""

from collections.abc import Mapping
from typing import Self

from laneway.domain.address import PciAddress
from laneway.domain.assignment.addition import NEVER
from laneway.domain.assignment.component import Raw
from laneway.domain.assignment.merging import merged
from laneway.domain.assignment.model import Model
from laneway.domain.assignment.problem import AssignmentProblem, Cohort, NoSolution, SearchExhausted, Solution
from laneway.domain.assignment.search import Meter, OutOfNodesError, Search
from laneway.domain.assignment.universe import State

DEFAULT_BUDGET = 100_000
"""Nodes of a search: about two seconds of one core at the worst."""


def solve(problem: AssignmentProblem, budget: int = DEFAULT_BUDGET) -> Solution | NoSolution | SearchExhausted:
    """The best choice; or that there is none; or that the budget of nodes did not tell."""
    if problem.counts == (1,) and not problem.constraints:
        return _single(problem)
    return _Solver(merged(problem), budget).solve()


def _single(problem: AssignmentProblem) -> Solution | NoSolution:
    """One device for one request: the cohort with the least cost, by its lowest address."""
    cohorts = problem.cohorts
    options = [
        (cohort.away, cohort.distance, _lost_with(cohort, cohorts), tags, cohort.addresses[0])
        for cohort in cohorts
        if cohort.addresses and (tags := cohort.serves[0]) is not None
    ]
    if not options:
        return NoSolution(nodes=1)
    return Solution(((min(options)[-1],),), proven_best=True, nodes=1)


def _lost_with(cohort: Cohort, cohorts: tuple[Cohort, ...]) -> int:
    """How many offered devices become unclaimable by one member of a cohort."""
    siblings = len(cohort.addresses) - 1 if cohort.self_related and cohort.offered else 0
    return siblings + sum(len(cohorts[i].addresses) for i in cohort.relatives if cohorts[i].offered)


class _Placement:
    """A state with addresses: what has been chosen of each component."""

    __slots__ = ("_positions", "_raws", "_search", "state")

    def __init__(
        self, search: Search, positions: Mapping[int, tuple[int, int]], raws: list[tuple[int, Raw]], state: State
    ) -> None:
        self._search = search
        self._positions = positions
        self._raws = raws
        self.state = state

    @classmethod
    def of(cls, search: Search) -> Self:
        """Nothing is chosen yet."""
        positions = {
            cohort: (number, place)
            for number, component in enumerate(search.components)
            for place, cohort in enumerate(component.cohorts)
        }
        states = search.states
        raws = [(states.type_of[local], states.raws[local]) for local in search.untouched]
        return cls(search, positions, raws, search.universe.root())

    def take(self, cohort: int, k: int) -> list[tuple[int, Self]]:
        """Each placement that can follow with one device of a cohort for class ``k``, with its cost."""
        number, place = self._positions[cohort]
        kind, raw = self._raws[number]
        states = self._search.states
        if not states.types[kind].takers(raw, place) >> k & 1:
            return []
        found = []
        for move, after in states.take(kind, raw, place, k):
            state = self._search.universe.taken(self.state, k, states.number(kind, raw), move)
            if state is not None:
                raws = self._raws.copy()
                raws[number] = kind, after
                found.append((move.cost, type(self)(self._search, self._positions, raws, state)))
        return found


class _Solver:
    """One run. ``_taken`` is how many of each cohort are chosen: always the lowest addresses."""

    def __init__(self, problem: AssignmentProblem, budget: int) -> None:
        self._problem = problem
        self._budget = budget
        self._meter = Meter(budget)
        self._model = Model(problem)
        self._class_of = {request: k for k, one in enumerate(self._model.classes) for request in one.requests}
        self._taken = [0] * len(problem.cohorts)
        self._chosen: list[list[PciAddress]] = [[] for _ in problem.counts]

    def solve(self) -> Solution | NoSolution | SearchExhausted:
        try:
            self._search = Search(self._model, self._meter)
        except OutOfNodesError:
            return SearchExhausted(self._meter.spent)
        if not self._search.universe.is_feasible:
            return NoSolution(self._meter.spent)
        try:
            self._meter.limit = self._budget * 3 // 4
            least = self._search.cheapest()
        except OutOfNodesError:
            return self._any_choice()
        if least is None:
            return NoSolution(self._meter.spent)
        return self._lowest_addresses(least)

    def _any_choice(self) -> Solution | NoSolution | SearchExhausted:
        """The first choice that a dive finds with what is left of the budget."""
        self._meter.limit = self._budget
        start = _Placement.of(self._search)
        try:
            found = self._search.completes(start.state, NEVER - 1)
        except OutOfNodesError:
            return SearchExhausted(self._meter.spent)
        return self._complete(start) if found else NoSolution(self._meter.spent)

    def _lowest_addresses(self, least: int) -> Solution:
        """The choice of this cost with the lowest addresses, in the order of the requests."""
        self._meter.limit = self._budget
        placements = [_Placement.of(self._search)]
        limit = least
        try:
            for request, count in enumerate(self._problem.counts):
                for _ in range(count):
                    limit, placements = self._lowest(request, placements, limit)
        except OutOfNodesError:
            return self._complete(placements[0])
        return Solution(tuple(map(tuple, self._chosen)), proven_best=True, nodes=self._meter.spent)

    def _lowest(self, request: int, placements: list[_Placement], limit: int) -> tuple[int, list[_Placement]]:
        """Fixes the lowest address for a request: what may still be paid, and the placements that go on.

        There are several where match constraints can have several values with the same devices.
        """
        k = self._class_of[request]
        address, cohort, going_on = next(
            (address, cohort, going_on)
            for address, cohort in self._heads(k)
            if (going_on := self._completed(placements, cohort, k, limit))
        )
        self._taken[cohort] += 1
        self._chosen[request].append(address)
        cost, _ = going_on[0]
        return limit - cost, [placement for _, placement in going_on]

    def _completed(self, placements: list[_Placement], cohort: int, k: int, limit: int) -> list[tuple[int, _Placement]]:
        """The placements with one more device of a cohort that can be completed at no more than a cost."""
        self._meter.spend()
        return [
            (cost, after)
            for placement in placements
            for cost, after in placement.take(cohort, k)
            if self._search.completes(after.state, limit - cost)
        ]

    def _heads(self, k: int) -> list[tuple[PciAddress, int]]:
        """The lowest free address of each cohort that serves a class, ascending."""
        costs = self._model.classes[k].costs
        return sorted(
            (cohort.addresses[taken], i)
            for i, (cohort, taken) in enumerate(zip(self._problem.cohorts, self._taken, strict=True))
            if costs[i] is not None and taken < len(cohort.addresses)
        )

    def _complete(self, placement: _Placement) -> Solution:
        """The choice that was seen on the way, from a state that is known to have one."""
        found: dict[int, list[PciAddress]] = {k: [] for k in range(len(self._model.classes))}
        known = self._search.known
        # A short walk over states that the search has seen: it must not be cut off half-way.
        self._meter.limit = NEVER
        while (k := self._search.universe.turn(placement.state)) is not None:
            address, cohort, placement = next(
                (address, cohort, after)
                for address, cohort in self._heads(k)
                for cost, after in placement.take(cohort, k)
                if cost + known(after.state) <= known(placement.state)
            )
            found[k].append(address)
            self._taken[cohort] += 1
        for request, count in enumerate(self._problem.counts):
            pool = sorted(found[self._class_of[request]])
            missing = count - len(self._chosen[request])
            self._chosen[request] += pool[:missing]
            found[self._class_of[request]] = pool[missing:]
        return Solution(tuple(tuple(sorted(c)) for c in self._chosen), proven_best=False, nodes=self._meter.spent)
