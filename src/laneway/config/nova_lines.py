"""Where the options of nova's config files stand. oslo.config tells values, but no lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from oslo_config.iniparser import BaseParser, ParseError

from laneway.config.problems import problem
from laneway.domain.errors import ConfigError, ConfigProblem

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
        """Raises ConfigError with the first line of each file that is no line of a config."""
        self._files: list[list[Assignment]] = []
        problems: list[ConfigProblem] = []
        for path, text in texts.items():
            try:
                self._files.append(_assignments(path, text))
            except ParseError as error:
                fault = f"{error.msg}: {error.line!r}"
                problems.append(problem(f"{path}:{error.lineno}", fault, "write key = value below a [section]"))
        if problems:
            raise ConfigError(problems)

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

    def section(self, section: str) -> list[Assignment]:
        """All assignments in a section."""
        return [found for file in self._files for found in file if found.name[0] == section]


def _assignments(path: Path, text: str) -> list[Assignment]:
    parser = _LineParser(path)
    # An assignment is reported at the line after its last one, so the last of all needs a line after it.
    parser.parse([*StringIO(text, newline=None), "\n"])
    return parser.assignments
