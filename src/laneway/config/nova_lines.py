"""Where the options of nova's config files stand. oslo.config tells values, but no lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from oslo_config.iniparser import BaseParser, ParseError

from laneway.config.problems import problem
from laneway.domain.errors import ConfigProblem

_MOST_PROBLEMS = 100
"""So many wrong lines are told of one file, which is no config then."""

Name = tuple[str, str]
"""An option: its section and its key."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One value that a file gives an option, with the place where it starts."""

    name: Name
    value: str
    place: str


class _LineParser(BaseParser):
    """Collects the assignments of one file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._section = ""
        self.assignments: list[Assignment] = []

    def new_section(self, section: str) -> None:
        self._section = section if section == "DEFAULT" else section.lower()

    def assignment(self, key: str, value: list[str]) -> None:
        start = self.lineno - len(value)
        if not self._section:
            raise ParseError("Key before the first section", start, key)
        self.assignments.append(Assignment((self._section, key), "\n".join(value), f"{self._path}:{start}"))


class NovaLines:
    """The assignments of all files, in the order read."""

    def __init__(self, texts: Mapping[Path, str]) -> None:
        self.problems: list[ConfigProblem] = []
        """The lines that are no lines of a config, and are passed over here. oslo.config reads no file with one."""
        self._files = [_assignments(path, text, self.problems) for path, text in texts.items()]

    def assignments_of(self, names: Sequence[Name]) -> list[Assignment]:
        """All that is assigned to an option, in the order in which oslo.config gives the values of a multi-valued one.

        ``names`` are the current name and then the old ones. The values of a file follow those of
        the file before; within one, those under old names come first.
        """
        return [
            assignment
            for file in self._files
            for name in reversed(names)
            for assignment in file
            if assignment.name == name
        ]

    def __iter__(self) -> Iterator[Assignment]:
        """All assignments."""
        for file in self._files:
            yield from file


def _assignments(path: Path, text: str, problems: list[ConfigProblem]) -> list[Assignment]:
    """Those of a file. A line that is none is taken out, with what continues it, until the rest can be parsed."""
    # An assignment is reported at the line after its last one, so the last of all needs a line after it.
    lines = [*StringIO(text, newline=None), "\n"]
    found = 0
    while True:
        parser = _LineParser(path)
        try:
            parser.parse(lines)
        except ParseError as error:
            found += 1
            fault = f"{error.msg}: {error.line!r}"
            problems.append(problem(f"{path}:{error.lineno}", fault, "write key = value below a [section]"))
            _take_out(lines, error.lineno - 1)
            if found < _MOST_PROBLEMS:
                continue
        return parser.assignments


def _take_out(lines: list[str], number: int) -> None:
    lines[number] = "\n"
    for after in range(number + 1, len(lines)):
        if not lines[after].strip() or not lines[after].startswith((" ", "\t")):
            return
        lines[after] = "\n"
