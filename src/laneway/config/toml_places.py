"""Places in a ``laneway.toml``: file and line of a key, as messages and device specs tell them."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from laneway.config.toml_lines import lines_of
from laneway.domain.errors import ConfigProblem


class TomlPlaces:
    """Where the keys of one file stand. Indexing costs about what parsing does."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = lines_of(text)

    def of(self, *path: str | int) -> str:
        """File and line of the key at ``path``, or of what is written out around it."""
        while path and path not in self._lines:
            path = path[:-1]
        return f"{self._path}:{self._lines[path]}" if path else str(self._path)

    def told(self, problems: Iterable[ConfigProblem]) -> list[ConfigProblem]:
        """The problems at the lines of their keys, from the top of the file down."""
        return sorted(map(self._narrowed, problems), key=_line_of)

    def _narrowed(self, problem: ConfigProblem) -> ConfigProblem:
        """The problem of an entry, told at the line of its key rather than at that of the entry."""
        if problem.option is None or problem.entry is None or problem.key is None or problem.place is None:
            return problem
        if problem.place != self.of(problem.option, problem.entry):
            return problem  # an element that is a list or text counts as several entries
        place = self.of(problem.option, problem.entry, problem.key)
        return replace(problem, place=place, message=problem.message.replace(problem.place, place, 1))


def _line_of(problem: ConfigProblem) -> int:
    line = (problem.place or "").rpartition(":")[2]
    return int(line) if line.isdigit() else 0
