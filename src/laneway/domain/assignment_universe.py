"""What a search knows of one branch: its components without addresses, and the moves between its states.

A state is what is left to choose and what has become of the components, equal ones not told apart.
How it was reached does not matter, so what is learned of a state is learned once.
"""

from collections import Counter
from itertools import accumulate

from laneway.domain.assignment_bound import NEVER, Bounds, Left
from laneway.domain.assignment_local import LocalStates
from laneway.domain.assignment_model import Model

State = tuple[int, int, int, tuple[int, ...]]
"""Number of the universe, code of what is left to choose, shared values used, sorted states of touched components.

A component in which nothing makes a difference any more counts as untouched.
"""


class Universe:
    """The components of one branch: each kind of untouched state with its number of components."""

    def __init__(self, number: int, model: Model, states: LocalStates, untouched: Counter[int]) -> None:
        self._number = number
        self._states = states
        self._untouched = dict(untouched)
        self._counts = tuple(one.count for one in model.classes)
        self._digits = tuple(accumulate((count + 1 for count in self._counts), lambda a, b: a * b, initial=1))
        self._lefts: dict[int, Left] = {}
        self._bounds = Bounds(model, states, self._untouched)

    @property
    def is_feasible(self) -> bool:
        """False where the demands exceed what there is, whatever is chosen."""
        return self._bounds.is_feasible

    def root(self) -> State:
        """Everything is left to choose."""
        code = sum(count * digit for count, digit in zip(self._counts, self._digits, strict=False))
        return self._number, code, 0, ()

    def turn(self, state: State) -> int | None:
        """The class for which a search chooses next; None where nothing is left to choose."""
        return self._left(state[1]).turn

    def quick_bound(self, state: State) -> int:
        """A lower bound of what it costs to complete a state, in little time."""
        return self._bounds.quick(self._left(state[1]), state[2], state[3])

    def bound(self, state: State) -> int:
        """A better lower bound; NEVER where it is plain that the state cannot be completed."""
        return self._bounds.thorough(self._left(state[1]), state[2], state[3])

    def children(self, state: State) -> list[tuple[int, State]]:
        """What can become of a state by one device for the class whose turn it is, with the cost of it."""
        used = state[2]
        turn = self.turn(state)
        assert turn is not None
        code, active, kept = self._after(state, turn)
        found: dict[State, int] = {}
        for before in self._choosable(state[3]):
            for cost, after, shared in self._states.moves(before, turn):
                if not used & shared:
                    touched = self._changed(kept, before, after, active)
                    child = self._number, code, used | shared, touched
                    if found.get(child, NEVER) > cost:
                        found[child] = cost
        return [(cost, child) for child, cost in found.items()]

    def moved(self, state: State, k: int, before: int, after: int, shared: int) -> State | None:
        """The state once class ``k`` took a device that changes one local state; None if a shared value is used."""
        if state[2] & shared:
            return None
        code, active, kept = self._after(state, k)
        return self._number, code, state[2] | shared, self._changed(kept, before, after, active)

    def _after(self, state: State, k: int) -> tuple[int, int, tuple[int, ...]]:
        """What is left, the active classes, and the touched local states, once class ``k`` took some device."""
        _, code, _, touched = state
        active = self._left(code - self._digits[k]).active
        if active != self._left(code).active:
            like = self._states.like
            touched = tuple(local for before in touched if (local := like(before, active)) not in self._untouched)
        return code - self._digits[k], active, touched

    def _changed(self, touched: tuple[int, ...], before: int, after: int, active: int) -> tuple[int, ...]:
        """The touched local states once one component changed its state, sorted."""
        before, after = self._states.like(before, active), self._states.like(after, active)
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
