"""States of components, known by numbers (*local states*), and the moves between them."""

from collections.abc import Callable
from typing import NamedTuple

from laneway.domain.assignment_component import ComponentType, Raw


class LocalMove(NamedTuple):
    """A class takes one device: its cost, the local state after it, the shared values it uses."""

    cost: int
    after: int
    shared: int


class LocalStates:
    """Numbers types and local states as they are met. ``spend`` is told the effort for each new one."""

    def __init__(self, lost: int, spend: Callable[[int], None]) -> None:
        self._lost = lost
        self._spend = spend
        self._types: dict[ComponentType, int] = {}
        self._ids: dict[tuple[int, Raw], int] = {}
        self._moves: dict[tuple[int, int], tuple[LocalMove, ...]] = {}
        self._like: dict[tuple[int, int], int] = {}
        self._first: dict[tuple[int, int, Raw], int] = {}
        self.types: list[ComponentType] = []
        self.raws: list[Raw] = []
        self.type_of: list[int] = []

    def untouched(self, kind: ComponentType) -> int:
        """The number of the state of a type in which nothing is chosen."""
        number = self._types.get(kind)
        if number is None:
            number = self._types[kind] = len(self.types)
            self.types.append(kind)
        return self.number(number, kind.start())

    def number(self, kind: int, raw: Raw) -> int:
        """The number of a state of the type with this number."""
        key = kind, self.types[kind].canonical(raw)
        found = self._ids.get(key)
        if found is None:
            self._spend(len(raw) // 4)
            found = self._ids[key] = len(self.raws)
            self.raws.append(key[1])
            self.type_of.append(kind)
        return found

    def like(self, state: int, active: int) -> int:
        """The state that stands for all those of its type that choices for the ``active`` classes do not tell apart."""
        number = self.type_of[state]
        kind = self.types[number]
        active &= kind.serves
        found = self._like.get((state, active))
        if found is None:
            start = kind.start()
            self._first.setdefault((number, active, kind.rest(start, active)), self._ids[number, start])
            found = self._first.setdefault((number, active, kind.rest(self.raws[state], active)), state)
            self._like[state, active] = found
        return found

    def moves(self, state: int, k: int) -> tuple[LocalMove, ...]:
        """What a class can take of a component in this state: of equal outcomes the cheapest."""
        found = self._moves.get((state, k))
        if found is None:
            found = self._moves[state, k] = self._moves_of(state, k)
        return found

    def take(self, kind: int, raw: Raw, place: int, k: int) -> tuple[int, Raw, int]:
        """What it costs a class, a taker, to take one of a position; the state after it; the shared values it uses."""
        shape = self.types[kind]
        lost, after = shape.take(raw, place, k)
        return (shape.positions[place].costs[k] or 0) + self._lost * lost, after, shape.shared[place][k]

    def _moves_of(self, state: int, k: int) -> tuple[LocalMove, ...]:
        kind, raw = self.type_of[state], self.raws[state]
        shape = self.types[kind]
        found: dict[tuple[int, int], LocalMove] = {}
        for place, block in enumerate(shape.block_of):
            is_repeated = place > block and raw[place] == raw[place - 1]
            if is_repeated or not shape.takers(raw, place) >> k & 1:
                continue
            cost, after, shared = self.take(kind, raw, place, k)
            move = LocalMove(cost, self.number(kind, after), shared)
            known = found.get((move.after, shared))
            if known is None or cost < known.cost:
                found[move.after, shared] = move
        return tuple(found.values())
