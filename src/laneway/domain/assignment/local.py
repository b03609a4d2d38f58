"""States of components, known by numbers (*local states*), and the moves between them."""

from collections.abc import Callable
from typing import NamedTuple

from laneway.domain.assignment.component import ComponentType, Raw


class LocalMove(NamedTuple):
    """A class takes one device: its cost, the local state after it, and the shared values as in ``Outcome``."""

    cost: int
    after: int
    needs: int
    forbids: int
    uses: int


class LocalStates:
    """Numbers types and local states as they are met. ``spend`` is told the effort for each new one.

    By the number of a local state there are its type, its raw state, and for each position the
    classes that can take one of it (a mask).
    """

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
        self.takers: list[list[int]] = []

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
            self._spend(len(raw) ** 2 // 64)
            found = self._ids[key] = len(self.raws)
            self.raws.append(key[1])
            self.type_of.append(kind)
            shape = self.types[kind]
            self.takers.append([shape.takers(key[1], place) for place in range(len(shape.positions))])
        return found

    def like(self, state: int, active: int) -> int:
        """The state that stands for all those of its type that choices for the ``active`` classes do not tell apart."""
        number = self.type_of[state]
        kind = self.types[number]
        active &= kind.serves
        found = self._like.get((state, active))
        if found is None:
            untouched = self._ids[number, kind.start()]
            rests = [kind.rest(self.raws[one], self.takers[one], active) for one in (untouched, state)]
            self._first.setdefault((number, active, rests[0]), untouched)
            found = self._like[state, active] = self._first.setdefault((number, active, rests[1]), state)
        return found

    def moves(self, state: int, k: int) -> tuple[LocalMove, ...]:
        """What a class can take of a component in this state: of equal outcomes the cheapest."""
        found = self._moves.get((state, k))
        if found is None:
            found = self._moves[state, k] = self._moves_of(state, k)
        return found

    def _moves_of(self, state: int, k: int) -> tuple[LocalMove, ...]:
        kind, raw = self.type_of[state], self.raws[state]
        shape = self.types[kind]
        found: dict[tuple[int, ...], LocalMove] = {}
        for place, takers in enumerate(self.takers[state]):
            if takers >> k & 1 and not shape.is_repeated(raw, place):
                for move, _ in self.take(kind, raw, place, k):
                    known = found.get(move[1:])
                    if known is None or move.cost < known.cost:
                        found[move[1:]] = move
        return tuple(found.values())

    def take(self, kind: int, raw: Raw, place: int, k: int) -> list[tuple[LocalMove, Raw]]:
        """The ways in which a class, a taker, takes one of a position, each with the state after it."""
        shape = self.types[kind]
        cost = shape.positions[place].costs[k] or 0
        self._spend(shape.number_of_outcomes(raw, place, k) // 16)
        found = []
        for lost, after, needs, forbids, uses in shape.take(raw, place, k):
            move = LocalMove(cost + self._lost * lost, self.number(kind, after), needs, forbids, uses)
            found.append((move, after))
        return found
