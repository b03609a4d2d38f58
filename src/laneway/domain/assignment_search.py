"""How the states of an assignment problem are gone through: best first, and depth first up to a cost."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from operator import itemgetter

from laneway.domain.assignment_bound import NEVER
from laneway.domain.assignment_build import Components
from laneway.domain.assignment_local import LocalStates
from laneway.domain.assignment_model import Branch, Model
from laneway.domain.assignment_universe import State, Universe


class OutOfNodesError(Exception):
    """The budget of nodes is spent."""


@dataclass(slots=True)
class Meter:
    """Counts the nodes of a search, of which it may have ``limit``."""

    limit: int
    spent: int = 0

    def spend(self, nodes: int = 1) -> None:
        self.spent += nodes
        if self.spent > self.limit:
            raise OutOfNodesError


@dataclass(slots=True)
class _Frame:
    """A state on the way down: the most that completing it may cost, and what is left to try."""

    state: State
    limit: int
    cost: int
    children: Iterator[tuple[int, int, State]]
    least: int = NEVER


class Search:
    """The states of all branches of a model, and what is known of the cost to complete them."""

    def __init__(self, model: Model, meter: Meter) -> None:
        self.states = LocalStates(model.weights.lost, meter.spend)
        self.universes: list[Universe] = []
        self._model = model
        self._meter = meter
        self._components = Components(model, self.states)
        self._numbers: dict[tuple[tuple[int, int], ...], int] = {}
        self._at_least: dict[State, int] = {}
        self._at_most: dict[State, int] = {}

    def components(self, branch: Branch) -> list[tuple[int, tuple[int, ...]]]:
        return self._components.of(branch)

    def enter(self, branch: Branch) -> State | None:
        """The state of a branch in which nothing is chosen; None where demands exceed what there is."""
        components = self._components.of(branch)
        self._meter.spend(1 + len(components) // 4)
        untouched = Counter(state for state, _ in components)
        key = tuple(sorted(untouched.items()))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.universes)
            self.universes.append(Universe(number, self._model, self.states, untouched))
        universe = self.universes[number]
        return universe.root() if universe.is_feasible else None

    def children(self, state: State) -> list[tuple[int, State]]:
        found = self.universes[state[0]].children(state)
        self._meter.spend(1 + len(found))
        return found

    def cheapest(self, branches: list[tuple[int, Branch]]) -> int | None:
        """The least cost of any choice in any of the branches (each with a lower bound); None if there is none.

        Best first (A*, Hart, Nilsson and Raphael 1968), the state with least left to choose first
        among equals. Raises OutOfNodesError.
        """
        heap: list[tuple[int, int, int, int, State | None, Branch]] = [
            (bound, NEVER, i, 0, None, branch) for i, (bound, branch) in enumerate(branches)
        ]
        heapify(heap)
        paid: dict[State, int] = {}
        parents: dict[State, State | None] = {}
        done: dict[State, int] = {}
        order = len(heap)
        while heap:
            total, depth, _, cost, state, branch = heappop(heap)
            if state is None:
                state = self.enter(branch)
                if state is None or state in paid:
                    continue
                paid[state] = 0
                parents[state] = None
                depth = -1
            elif done.get(state, NEVER) <= cost:
                continue
            universe = self.universes[state[0]]
            if not state[1]:
                self._remember(state, cost, parents, paid)
                return cost
            better = cost + self._bound(state)
            if better > total:
                order += 1
                if better < NEVER:
                    heappush(heap, (better, depth, order, cost, state, branch))
                continue
            done[state] = cost
            for step, child in self.children(state):
                paying = cost + step
                if paying < paid.get(child, NEVER):
                    paid[child] = paying
                    parents[child] = state
                    order += 1
                    bound = max(better, paying + universe.quick_bound(child))
                    heappush(heap, (bound, depth - 1, order, paying, child, branch))
        return None

    def _remember(self, goal: State, cost: int, parents: dict[State, State | None], paid: dict[State, int]) -> None:
        state: State | None = goal
        while state is not None:
            self._at_most[state] = cost - paid[state]
            state = parents[state]

    def _bound(self, state: State) -> int:
        """A lower bound of the cost to complete a state, better the more is known of it."""
        found = self._at_least.get(state)
        if found is None:
            found = self._at_least[state] = self.universes[state[0]].bound(state)
        return found

    def known(self, state: State) -> int:
        """The least cost at which a way to complete the state was seen; NEVER if none was."""
        return 0 if not state[1] else self._at_most.get(state, NEVER)

    def completes(self, start: State, limit: int) -> bool:
        """Whether a state can be completed at no more than a cost. Raises OutOfNodesError.

        Depth first. What is learned of the states on the way is kept, either way.
        """
        if self.known(start) <= limit:
            return True
        if self._bound(start) > limit:
            return False
        stack = [self._frame(start, limit, 0)]
        while stack:
            frame = stack[-1]
            bound, step, child = next(frame.children, (NEVER, 0, None))
            if child is None or bound > frame.limit:
                self._at_least[frame.state] = max(self._at_least[frame.state], min(frame.least, bound))
                stack.pop()
                if stack:
                    above = stack[-1]
                    above.least = min(above.least, frame.cost + self._at_least[frame.state])
                continue
            limit = frame.limit - step
            if self.known(child) <= limit:
                self._keep(stack, step + self.known(child))
                return True
            if self._bound(child) > limit:
                frame.least = min(frame.least, step + self._bound(child))
            else:
                stack.append(self._frame(child, limit, step))
        return False

    def _frame(self, state: State, limit: int, cost: int) -> _Frame:
        universe = self.universes[state[0]]
        children = [
            (step + max(universe.quick_bound(child), self._at_least.get(child, -NEVER)), step, child)
            for step, child in self.children(state)
        ]
        children.sort(key=itemgetter(0))
        return _Frame(state, limit, cost, iter(children))

    def _keep(self, stack: list[_Frame], cost: int) -> None:
        """A completion was found: what it costs from each state on the way."""
        for frame in reversed(stack):
            self._at_most[frame.state] = min(cost, self._at_most.get(frame.state, NEVER))
            cost += frame.cost
