"""A component of an assignment problem: cohorts linked by loss and exclusion, with what is chosen of them.

Two components of one type differ in addresses only. A search therefore works on states of types,
and never on addresses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

UNLIMITED = 1 << 40
"""The capacity of a cohort that has more members than all requests together can take of it."""

Raw = tuple[int, ...]
"""What is chosen of a component: a number for each position, then masks of chosen positions and used tokens.

The number is how many are chosen, with the distinct constraints for which in its low bits. Where
the count makes no difference it is 1 for any.
"""


class Position(NamedTuple):
    """One cohort of a component. Other positions are known by their places, or as a mask of these.

    ``costs`` are those of each class. ``size`` is what is lost when the cohort becomes unclaimable
    (0 if it never counts), ``capacity`` how many can be chosen, ``counted`` whether a state must
    know how many were. ``hits`` are the positions that become unclaimable with a choice here,
    ``hit_by`` (a mask) the reverse, ``excludes`` (a mask) those of which nothing may be chosen
    beside it. ``own`` has the distinct constraints of which it alone has its values; values that
    others have too are ``tokens`` (of this component) and ``shared`` (of several), as masks for
    each distinct constraint. ``common`` has the values for each match constraint, as masks of such
    tokens and shared values.
    """

    costs: tuple[int | None, ...]
    size: int
    capacity: int
    counted: bool
    own: int
    hits: tuple[int, ...]
    hit_by: int
    excludes: int
    tokens: tuple[int, ...]
    shared: tuple[int, ...]
    common: tuple[tuple[int, int], ...]


class Chunks(NamedTuple):
    """Runs of positions, ``number`` of them, that are interchangeable as wholes.

    They follow each other, of ``width`` positions each, from ``start``. The tokens that only one of
    them has are as many for each, and follow each other likewise.
    """

    start: int
    width: int
    number: int
    token: int
    tokens: int


class Outcome(NamedTuple):
    """A way to take one device: what is lost (negative if it was lost already) and the state after it.

    Of the shared values used so far it ``needs`` all and ``forbids`` any; it ``uses`` more.
    """

    lost: int
    after: Raw
    needs: int
    forbids: int
    uses: int


@dataclass(frozen=True)
class ComponentType:
    """The positions of a component; those of one of the ``twins`` (start, end) are interchangeable.

    ``distinct`` and ``matches`` have the constraints of each class, as masks.
    """

    positions: tuple[Position, ...]
    twins: tuple[tuple[int, int], ...]
    chunks: tuple[Chunks, ...]
    distinct: tuple[int, ...]
    matches: tuple[int, ...]

    @cached_property
    def bits(self) -> int:
        """How many low bits of a position's number say which distinct constraints have used it."""
        return max(self.distinct, default=0).bit_length()

    @cached_property
    def first_like(self) -> tuple[int, ...]:
        """For each position the first that is interchangeable with it."""
        found = list(range(len(self.positions)))
        for start, end in self.twins:
            found[start:end] = [start] * (end - start)
        for start, width, number, _, _ in self.chunks:
            found[start : start + width * number] = found[start : start + width] * number
        return tuple(found)

    def copies(self, token: int) -> int:
        """How many tokens are interchangeable with one (a bit): as many as there are chunks, if each has one."""
        return next((c.number for c in self.chunks if (1 << c.tokens) - 1 & token >> c.token), 1)

    def is_repeated(self, raw: Raw, place: int) -> bool:
        """Whether a choice of a position makes the same of this state as one of a position before it."""
        for start, end in self.twins:
            if start < place < end and raw[place] == raw[place - 1]:
                return True
        for chunks in self.chunks:
            chunk = (place - chunks.start) // chunks.width
            if 0 < chunk < chunks.number and _chunk(raw, chunks, chunk) == _chunk(raw, chunks, chunk - 1):
                return True
        return False

    @cached_property
    def tokens(self) -> tuple[tuple[int, ...], ...]:
        """For each position the tokens that a choice for each class uses."""
        return tuple(tuple(_union(position.tokens, mask) for mask in self.distinct) for position in self.positions)

    @cached_property
    def shared(self) -> tuple[tuple[int, ...], ...]:
        """For each position the shared values that a choice for each class uses."""
        return tuple(tuple(_union(position.shared, mask) for mask in self.distinct) for position in self.positions)

    @cached_property
    def common(self) -> tuple[int, ...]:
        """For each match constraint the tokens of its values."""
        return tuple(
            _union([p.common[place][0] for p in self.positions], -1) for place in range(max(self.matches).bit_length())
        )

    @cached_property
    def wanting(self) -> tuple[int, ...]:
        """For each match constraint the classes that are within it, as a mask."""
        return tuple(
            sum(1 << k for k, mask in enumerate(self.matches) if mask >> place & 1) for place in range(len(self.common))
        )

    @cached_property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """For each position the classes that it serves."""
        return tuple(tuple(k for k, cost in enumerate(p.costs) if cost is not None) for p in self.positions)

    @cached_property
    def serves(self) -> int:
        """The classes that can take something of the component, as a mask."""
        return sum(1 << k for k in {k for classes in self.classes for k in classes})

    def start(self) -> Raw:
        return (0,) * (len(self.positions) + 2)

    def canonical(self, raw: Raw) -> Raw:
        """The same state with interchangeable positions in a fixed order."""
        if not self.twins and not self.chunks:
            return raw
        found = list(raw)
        for start, end in self.twins:
            found[start:end] = sorted(found[start:end], reverse=True)
        for chunks in self.chunks:
            ordered = sorted((_chunk(found, chunks, i) for i in range(chunks.number)), reverse=True)
            for i, (numbers, tokens) in enumerate(ordered):
                start = chunks.start + i * chunks.width
                found[start : start + chunks.width] = numbers
                shift = chunks.token + i * chunks.tokens
                found[-1] &= ~(((1 << chunks.tokens) - 1) << shift)
                found[-1] |= tokens << shift
        found[-2] = sum(1 << place for place, number in enumerate(found[:-2]) if number)
        return tuple(found)

    def remaining(self, raw: Raw, place: int) -> int:
        """How many members of a position are left, UNLIMITED where that is more than can be asked for."""
        capacity = self.positions[place].capacity
        return capacity if capacity == UNLIMITED else capacity - (raw[place] >> self.bits)

    def is_hit(self, raw: Raw, place: int) -> bool:
        """Whether the position's members became unclaimable for others."""
        return bool(raw[-2] & self.positions[place].hit_by)

    def takers(self, raw: Raw, place: int) -> int:
        """The classes that can take a member of a position, as far as this component tells, as a mask."""
        position = self.positions[place]
        if raw[-2] & position.excludes or self.remaining(raw, place) <= 0:
            return 0
        used = raw[place] & position.own
        tokens = self.tokens[place]
        found = 0
        for k in self.classes[place]:
            if not used & self.distinct[k] and not raw[-1] & tokens[k] and self._is_common(raw, place, k):
                found |= 1 << k
        return found

    def _is_common(self, raw: Raw, place: int, k: int) -> bool:
        """Whether a position has the values that the match constraints of a class already have here."""
        if not self.matches[k]:
            return True
        common = self.positions[place].common
        return all(
            not raw[-1] & tokens or raw[-1] & tokens & common[constraint][0]
            for constraint, tokens in enumerate(self.common)
            if self.matches[k] >> constraint & 1
        )

    def take(self, raw: Raw, place: int, k: int) -> list[Outcome]:
        """The ways in which class ``k`` (a taker) takes one member: one for each choice of common values."""
        position = self.positions[place]
        lost = 0
        for other in position.hits:
            if not raw[-2] & self.positions[other].hit_by:
                lost += self.positions[other].size - (raw[other] >> self.bits)
        used = (1 << self.bits) - 1
        changed = list(raw)
        count = (raw[place] >> self.bits) + 1 if position.counted else 1
        changed[place] = count << self.bits | raw[place] & used | position.own & self.distinct[k]
        changed[-2] |= 1 << place
        changed[-1] |= self.tokens[place][k]
        if position.size and changed[-2] & position.hit_by:
            lost -= 1
        after, shared = tuple(changed), self.shared[place][k]
        if not self.matches[k]:
            return [Outcome(lost, after, 0, shared, shared)]
        return [
            Outcome(lost, (*after[:-1], after[-1] | tokens), needs, shared | forbids, shared | uses)
            for tokens, needs, forbids, uses in self._common_choices(raw, place, k)
        ]

    def number_of_outcomes(self, raw: Raw, place: int, k: int) -> int:
        """How many ways ``take`` has, without making them: each open match constraint multiplies them."""
        number = 1
        for constraint, tokens in enumerate(self.common):
            if self.matches[k] >> constraint & 1 and not raw[-1] & tokens:
                mine, shared = self.positions[place].common[constraint]
                number *= mine.bit_count() + 2 * shared.bit_count()
        return number

    def _common_choices(self, raw: Raw, place: int, k: int) -> list[tuple[int, int, int, int]]:
        """Which values the match constraints of a class can have with a device of a position.

        Each as tokens that are used by it, and shared values that are needed, forbidden and used.
        That a constraint has some value is itself a shared value: the bit of its place.
        """
        found = [(0, 0, 0, 0)]
        for constraint, tokens in enumerate(self.common):
            if not self.matches[k] >> constraint & 1 or raw[-1] & tokens:
                continue
            some = 1 << constraint
            mine, shared = self.positions[place].common[constraint]
            choices = [(token, 0, some, some) for token in bits_of(mine)]
            for value in bits_of(shared):
                choices += [(0, value, 0, 0), (0, 0, some, some | value)]
            found = [(a | e, b | f, c | g, d | h) for a, b, c, d in found for e, f, g, h in choices]
        return found

    def rest(self, raw: Raw, takers: Sequence[int], active: int) -> Raw:
        """All of a state, with these takers, that makes a difference to choices for the active classes."""
        takers = [classes & active for classes in takers]
        taking = sum(1 << place for place, classes in enumerate(takers) if classes)
        found = [raw[-1] & tokens for place, tokens in enumerate(self.common) if self.wanting[place] & active]
        found += takers
        for place, position in enumerate(self.positions):
            hit = raw[-2] & position.hit_by
            if takers[place]:
                found += (self.remaining(raw, place), bool(hit and position.size))
            pending = position.size and not hit and taking & position.hit_by
            found.append(position.size - (raw[place] >> self.bits) if pending else 0)
        return tuple(found)


def _chunk(raw: Sequence[int], chunks: Chunks, i: int) -> tuple[tuple[int, ...], int]:
    """What is chosen of one of the chunks, and which of its tokens are used."""
    start = chunks.start + i * chunks.width
    tokens = raw[-1] >> (chunks.token + i * chunks.tokens) & ((1 << chunks.tokens) - 1)
    return tuple(raw[start : start + chunks.width]), tokens


def _union(masks: Sequence[int], which: int) -> int:
    """The union of those masks whose bit is in ``which``."""
    found = 0
    for place, mask in enumerate(masks):
        if which >> place & 1:
            found |= mask
    return found


def bits_of(mask: int) -> Iterator[int]:
    """The bits of a mask, one by one."""
    while mask:
        yield mask & -mask
        mask &= mask - 1
