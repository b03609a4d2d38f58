"""The exact choice of devices for all requests of a claim at once.

If any choice satisfies the requests, it is found, and of all choices the one with the least cost,
compared in this order: devices away from the guest's nodes; the sum of their distances; other
offered devices that become unclaimable; tags that were not asked for; the addresses, in the order
of the requests. So the answer depends on the problem alone. The search is bounded by a number of
nodes, never by time.

First the least cost is found, without addresses (``assignment_search``). Then the addresses are
taken one by one, each time the lowest that can still be completed at that cost.
"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Self

from laneway.domain.address import PciAddress
from laneway.domain.assignment_bound import NEVER
from laneway.domain.assignment_component import Raw
from laneway.domain.assignment_model import Branch, Model
from laneway.domain.assignment_problem import AssignmentProblem, Cohort, NoSolution, SearchExhausted, Solution
from laneway.domain.assignment_search import Meter, OutOfNodesError, Search
from laneway.domain.assignment_universe import State

DEFAULT_BUDGET = 120_000
"""Nodes of a search: about two seconds of one core at the worst."""


def solve(problem: AssignmentProblem, budget: int = DEFAULT_BUDGET) -> Solution | NoSolution | SearchExhausted:
    """The best choice; or that there is none; or that the budget of nodes did not tell."""
    if problem.counts == (1,) and not problem.constraints:
        return _single(problem)
    return _Solver(problem, budget).solve()


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
    """One branch with addresses: what has been chosen of each of its components."""

    __slots__ = ("_positions", "_raws", "_search", "state")

    def __init__(
        self, search: Search, positions: Mapping[int, tuple[int, int]], raws: list[tuple[int, Raw]], state: State
    ) -> None:
        self._search = search
        self._positions = positions
        self._raws = raws
        self.state = state

    @classmethod
    def of(cls, search: Search, branch: Branch, root: State) -> Self:
        """Nothing is chosen yet."""
        components = search.components(branch)
        positions = {
            cohort: (number, place)
            for number, (_, cohorts) in enumerate(components)
            for place, cohort in enumerate(cohorts)
        }
        states = search.states
        return cls(search, positions, [(states.type_of[local], states.raws[local]) for local, _ in components], root)

    def take(self, cohort: int, k: int) -> tuple[int, Self] | None:
        """The cost of one device of a cohort for class ``k``, and the placement with it; None if it cannot be."""
        if cohort not in self._positions:
            return None
        number, place = self._positions[cohort]
        kind, raw = self._raws[number]
        states = self._search.states
        if not states.types[kind].takers(raw, place) >> k & 1:
            return None
        cost, after, shared = states.take(kind, raw, place, k)
        moved = self._search.universes[self.state[0]].moved(
            self.state, k, states.number(kind, raw), states.number(kind, after), shared
        )
        if moved is None:
            return None
        raws = self._raws.copy()
        raws[number] = kind, after
        return cost, type(self)(self._search, self._positions, raws, moved)


class _Solver:
    """One run. ``_fixed`` are the cohorts taken for each request, in the order of their addresses."""

    def __init__(self, problem: AssignmentProblem, budget: int) -> None:
        self._problem = problem
        self._budget = budget
        self._model = Model(problem)
        self._meter = Meter(budget)
        self._search = Search(self._model, self._meter)
        self._class_of = {request: k for k, one in enumerate(self._model.classes) for request in one.requests}
        self._taken = [0] * len(problem.cohorts)
        self._chosen: list[list[PciAddress]] = [[] for _ in problem.counts]

    def solve(self) -> Solution | NoSolution | SearchExhausted:
        try:
            self._meter.limit = self._budget * 3 // 4
            branches = self._branches()
            least = self._search.cheapest(branches)
        except OutOfNodesError:
            return self._any_choice()
        if least is None:
            return NoSolution(self._meter.spent)
        self._meter.limit = self._budget
        return self._lowest_addresses(branches, least)

    def _branches(self) -> list[tuple[int, Branch]]:
        """The branches, those with the lowest bound first."""
        found = []
        for item in self._model.branches():
            self._meter.spend()
            found.append(item)
        return sorted(found, key=itemgetter(0))

    def _any_choice(self) -> Solution | NoSolution | SearchExhausted:
        """The first choice that a dive finds, with what is left of the budget shared by the branches."""
        self._meter.limit = self._budget
        try:
            branches = self._branches()
        except OutOfNodesError:
            return SearchExhausted(self._meter.spent)
        ended = True
        for number, (_, branch) in enumerate(branches):
            share = (self._budget - self._meter.spent) // (len(branches) - number)
            self._meter.limit = self._meter.spent + share
            try:
                root = self._search.enter(branch)
                if root is not None and self._search.completes(root, NEVER - 1):
                    return self._complete(_Placement.of(self._search, branch, root))
            except OutOfNodesError:
                ended = False
        return NoSolution(self._meter.spent) if ended else SearchExhausted(self._meter.spent)

    def _lowest_addresses(self, branches: list[tuple[int, Branch]], least: int) -> Solution:
        """The choice of this cost with the lowest addresses, in the order of the requests."""
        placements = []
        limit = least
        try:
            for bound, branch in branches:
                if bound <= least:
                    root = self._search.enter(branch)
                    if root is not None and self._search.completes(root, least):
                        placements.append(_Placement.of(self._search, branch, root))
            for request, count in enumerate(self._problem.counts):
                for _ in range(count):
                    limit, placements = self._lowest(request, placements, limit)
        except OutOfNodesError:
            known = [placement for placement in placements if self._search.known(placement.state) <= limit]
            return self._complete(known[0])
        return Solution(tuple(map(tuple, self._chosen)), proven_best=True, nodes=self._meter.spent)

    def _lowest(self, request: int, placements: list[_Placement], limit: int) -> tuple[int, list[_Placement]]:
        """Fixes the lowest address for a request: what may still be paid, and the branches that go on."""
        k = self._class_of[request]
        for address, cohort in self._heads(k):
            paid = 0
            going_on = []
            for placement in placements:
                self._meter.spend()
                taken = placement.take(cohort, k)
                if taken is not None and self._search.completes(taken[1].state, limit - taken[0]):
                    paid = taken[0]
                    going_on.append(taken[1])
            if going_on:
                self._taken[cohort] += 1
                self._chosen[request].append(address)
                return limit - paid, going_on
        raise AssertionError("a placement that can be completed has a next device")

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
        search = self._search
        while (k := search.universes[placement.state[0]].turn(placement.state)) is not None:
            for address, cohort in self._heads(k):
                taken = placement.take(cohort, k)
                if taken is not None and taken[0] + search.known(taken[1].state) <= search.known(placement.state):
                    found[k].append(address)
                    self._taken[cohort] += 1
                    placement = taken[1]
                    break
        for request, count in enumerate(self._problem.counts):
            pool = sorted(found[self._class_of[request]])
            missing = count - len(self._chosen[request])
            self._chosen[request] += pool[:missing]
            found[self._class_of[request]] = pool[missing:]
        return Solution(tuple(tuple(sorted(c)) for c in self._chosen), proven_best=False, nodes=self._meter.spent)
