"""How the states of an assignment problem are gone through: best first, and depth first up to a cost."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from laneway.domain.assignment.addition import NEVER
from laneway.domain.assignment.build import components_of
from laneway.domain.assignment.local import LocalStates
from laneway.domain.assignment.model import Model
from laneway.domain.assignment.universe import Move, State, Universe


class OutOfNodesError(Exception):
    """The budget of nodes is spent."""


@dataclass(slots=True)
class Meter:
    """Counts the nodes of a search, of which it may have ``limit``: states, in all phases."""

    limit: int
    spent: int = 0

    def spend(self, nodes: int = 1) -> None:
        self.spent += nodes
        if self.spent > self.limit:
            raise OutOfNodesError


@dataclass(slots=True)
class _Opened:
    """A state with its moves, of which those before ``next`` were made; ``cost`` is that of getting here."""

    moves: list[Move]
    cost: int
    next: int = 0


@dataclass(slots=True)
class _Frame:
    """A state on the way down: the most that completing it may cost, what getting here cost, the moves to try."""

    state: State
    limit: int
    cost: int
    moves: Iterator[Move]
    least: int = NEVER


class Search:
    """The states of a model, and what is known of the cost to complete them."""

    def __init__(self, model: Model, meter: Meter) -> None:
        self._meter = meter
        self._at_least: dict[State, int] = {}
        self._at_most: dict[State, int] = {}
        self.states = LocalStates(model.weights.lost, meter.spend)
        self.components = components_of(model)
        self.untouched = [self.states.untouched(component.kind) for component in self.components]
        self.universe = Universe(model, self.states, Counter(self.untouched))

    def cheapest(self) -> int | None:
        """The least cost of any choice; None if there is none. Raises OutOfNodesError.

        Best first (A*, Hart, Nilsson and Raphael 1968), the state with least left to choose first
        among equals; the moves from a state are made one at a time.
        """
        root = self.universe.root()
        heap = [(0, 0, 0, 0, root)]
        paid: dict[State, int] = {root: 0}
        parents: dict[State, State | None] = {root: None}
        opened: dict[State, _Opened] = {}
        order = 0
        while heap:
            total, depth, _, cost, state = heappop(heap)
            if cost > paid[state]:
                continue
            if not state[0]:
                self._remember(state, paid, parents)
                return cost
            at = opened.get(state)
            if at is None:
                better = cost + self._bound(state)
                if better > total:
                    order += 1
                    if better < NEVER:
                        heappush(heap, (better, depth, order, cost, state))
                    continue
                at = opened[state] = _Opened(self._moves(state), cost)
            elif at.cost > cost:
                at.cost, at.next = cost, 0
            if at.next < len(at.moves):
                move = at.moves[at.next]
                at.next += 1
                if at.next < len(at.moves):
                    order += 1
                    heappush(heap, (max(total, cost + at.moves[at.next].bound), depth, order, cost, state))
                child = self._child(state, move)
                paying = cost + move.cost
                if paying < paid.get(child, NEVER):
                    paid[child] = paying
                    parents[child] = state
                    order += 1
                    heappush(heap, (max(total, cost + move.bound), depth - 1, order, paying, child))
        return None

    def known(self, state: State) -> int:
        """The least cost at which a way to complete the state was seen; NEVER if none was."""
        return 0 if not state[0] else self._at_most.get(state, NEVER)

    def completes(self, start: State, limit: int) -> bool:
        """Whether a state can be completed at no more than a cost. Raises OutOfNodesError.

        Depth first. What is learned of the states on the way is kept, either way.
        """
        if self.known(start) <= limit:
            return True
        if self._bound(start) > limit:
            return False
        stack = [_Frame(start, limit, 0, iter(self._moves(start)))]
        while stack:
            frame = stack[-1]
            move = next(frame.moves, None)
            if move is None or move.bound > frame.limit:
                least = min(frame.least, NEVER if move is None else move.bound)
                self._at_least[frame.state] = max(self._at_least[frame.state], least)
                stack.pop()
                if stack:
                    above = stack[-1]
                    above.least = min(above.least, frame.cost + self._at_least[frame.state])
                continue
            child = self._child(frame.state, move)
            limit = frame.limit - move.cost
            if self.known(child) <= limit:
                self._keep(stack, move.cost + self.known(child))
                return True
            if self._bound(child) > limit:
                frame.least = min(frame.least, move.cost + self._bound(child))
            else:
                stack.append(_Frame(child, limit, move.cost, iter(self._moves(child))))
        return False

    def _moves(self, state: State) -> list[Move]:
        found = self.universe.moves(state)
        self._meter.spend(1 + (len(found) + len(state[2])) // 12)
        return found

    def _child(self, state: State, move: Move) -> State:
        self._meter.spend(1 + len(state[2]) // 32)
        return self.universe.moved(state, move)

    def _bound(self, state: State) -> int:
        """A lower bound of the cost to complete a state, better the more is known of it."""
        found = self._at_least.get(state)
        if found is None:
            found = self._at_least[state] = self.universe.bound(state)
        return found

    def _remember(self, goal: State, paid: dict[State, int], parents: dict[State, State | None]) -> None:
        """A way to complete each state on the way to the goal was seen."""
        state: State | None = goal
        while state is not None:
            self._at_most[state] = paid[goal] - paid[state]
            state = parents[state]

    def _keep(self, stack: list[_Frame], cost: int) -> None:
        """A completion was found: what it costs from each state on the way."""
        for frame in reversed(stack):
            self._at_most[frame.state] = min(cost, self._at_most.get(frame.state, NEVER))
            cost += frame.cost
