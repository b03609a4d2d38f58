"""Stands in for the package rpds under Wine, whose builds for Windows need a library that Wine 8 lacks.

Only what ``referencing`` and ``jsonschema`` call: collections whose changes give a new one.
"""

from collections.abc import Iterable, Mapping
from typing import Any


class HashTrieMap(dict[Any, Any]):
    @classmethod
    def convert(cls, value: Any) -> "HashTrieMap":
        return value if isinstance(value, cls) else cls(value)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def insert(self, key: Any, value: Any) -> "HashTrieMap":
        return HashTrieMap({**self, key: value})

    def remove(self, key: Any) -> "HashTrieMap":
        left = HashTrieMap(self)
        del left[key]
        return left

    def update(self, *others: Mapping[Any, Any], **named: Any) -> "HashTrieMap":  # type: ignore[override]
        new = dict(self)
        for other in (*others, named):
            new.update(other)
        return HashTrieMap(new)


class HashTrieSet(frozenset[Any]):
    def insert(self, value: Any) -> "HashTrieSet":
        return HashTrieSet(self | {value})

    def discard(self, value: Any) -> "HashTrieSet":
        return HashTrieSet(self - {value})

    def update(self, *others: Iterable[Any]) -> "HashTrieSet":
        return HashTrieSet(self.union(*others))


class List(tuple[Any, ...]):
    __slots__ = ()

    def __new__(cls, *items: Any) -> "List":
        return super().__new__(cls, items)

    def push_front(self, value: Any) -> "List":
        return List(value, *self)
