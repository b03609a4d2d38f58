"""The states of a search and the moves between them.

A state is what is left to choose and what has become of the components, equal ones not told apart.
How it was reached does not matter, so what is learned of a state is learned once.
"""

from collections import Counter
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from laneway.domain.assignment.bound import Bounds, Left
from laneway.domain.assignment.local import LocalMove, LocalStates
from laneway.domain.assignment.model import Model

State = tuple[int, int, tuple[int, ...]]
"""A code of what is left to choose, the shared values used, the sorted local states of touched components.

A component in which nothing makes a difference any more counts as untouched.
"""


class Move(NamedTuple):
    """One device for the class whose turn it is.

    ``bound`` is a lower bound of its cost with all that must follow. It changes one component from
    one local state to another, and uses shared values.
    """

    bound: int
    cost: int
    before: int
    after: int
    uses: int


class Universe:
    """All components of a problem: each kind of untouched state with its number of components."""

    def __init__(self, model: Model, states: LocalStates, untouched: Counter[int]) -> None:
        self._states = states
        self._untouched = dict(untouched)
        self._counts = tuple(one.count for one in model.classes)
        self._digits = tuple(accumulate((count + 1 for count in self._counts), lambda a, b: a * b, initial=1))
        self._matching = [(k, one.matches) for k, one in enumerate(model.classes) if one.matches]
        self._lefts: dict[int, Left] = {}
        self._bounds = Bounds(model, states, self._untouched)

    @property
    def is_feasible(self) -> bool:
        """False where the demands exceed what there is, whatever is chosen."""
        return self._bounds.is_feasible

    def root(self) -> State:
        """Everything is left to choose."""
        return sum(count * digit for count, digit in zip(self._counts, self._digits, strict=False)), 0, ()

    def turn(self, state: State) -> int | None:
        """The class for which a search chooses next; None where nothing is left to choose.

        One whose match constraint has its value already comes first: it has the least to choose from.
        """
        left = self._left(state[0])
        for k, mask in self._matching:
            if state[1] & mask and left.counts[k]:
                return k
        return left.turn

    def bound(self, state: State) -> int:
        """A lower bound of what it costs to complete a state; NEVER where it is plain that it cannot be completed."""
        return self._bounds.thorough(self._left(state[0]), state[1], state[2])

    def moves(self, state: State) -> list[Move]:
        """All moves from a state, those with the lowest bounds first."""
        used = state[1]
        turn = self.turn(state)
        assert turn is not None
        _, left, touched = self._after(state, turn)
        like, bounds = self._states.like, self._bounds
        rest = bounds.sums(left, used, touched)
        found = []
        for before in self._choosable(state[2]):
            was = like(before, left.active)
            for cost, after, needs, forbids, uses in self._states.moves(before, turn):
                if not used & forbids and used & needs == needs:
                    becomes = like(after, left.active)
                    bound = cost + bounds.quick(
                        left, used | uses, bounds.exchanged(left, rest, was, becomes, uses & ~used)
                    )
                    found.append(Move(bound, cost, was, becomes, uses))
        found.sort(key=itemgetter(0))
        return found

    def moved(self, state: State, move: Move) -> State:
        """The state after a move from it."""
        turn = self.turn(state)
        assert turn is not None
        code, _, touched = self._after(state, turn)
        return code, state[1] | move.uses, self._changed(touched, move.before, move.after)

    def taken(self, state: State, k: int, before: int, move: LocalMove) -> State | None:
        """The state once any class took a device; None if the shared values do not allow it."""
        if state[1] & move.forbids or state[1] & move.needs != move.needs:
            return None
        code, left, touched = self._after(state, k)
        like = self._states.like
        touched = self._changed(touched, like(before, left.active), like(move.after, left.active))
        return code, state[1] | move.uses, touched

    def _after(self, state: State, k: int) -> tuple[int, Left, tuple[int, ...]]:
        """What is left, and the touched local states, once class ``k`` took some device."""
        code, _, touched = state
        left = self._left(code - self._digits[k])
        if left.active != self._left(code).active:
            like = self._states.like
            touched = tuple(local for before in touched if (local := like(before, left.active)) not in self._untouched)
        return code - self._digits[k], left, touched

    def _changed(self, touched: tuple[int, ...], before: int, after: int) -> tuple[int, ...]:
        """The touched local states once one component changed its state, sorted."""
        changed = list(touched)
        if before not in self._untouched:
            changed.remove(before)
        if after not in self._untouched:
            changed.append(after)
        changed.sort()
        return tuple(changed)

    def _left(self, code: int) -> Left:
        found = self._lefts.get(code)
        if found is None:
            counts = tuple(
                code // digit % (count + 1) for count, digit in zip(self._counts, self._digits, strict=False)
            )
            found = self._lefts[code] = self._bounds.left(counts)
        return found

    def _choosable(self, touched: tuple[int, ...]) -> list[int]:
        """The different local states among the components, touched ones first."""
        type_of = self._states.type_of
        met = Counter(type_of[local] for local in touched)
        found = list(dict.fromkeys(touched))
        found += [local for local, number in self._untouched.items() if met[type_of[local]] < number]
        return found
