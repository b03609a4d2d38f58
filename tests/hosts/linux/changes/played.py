"""What steps are done with, played: programs answer as a test says, and time passes only while somebody waits."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from laneway.hosts.linux.changes.doing import Workbench
from laneway.hosts.linux.changes.function_files import FunctionFiles
from laneway.hosts.linux.changes.means import Means
from laneway.hosts.linux.changes.programs import Ended
from laneway.hosts.linux.changes.writer import Writer
from laneway.hosts.linux.tree import HostTree

Answer = Ended | OSError | Callable[[], Ended]


class PlayedPrograms:
    """``answers`` by the words that a command begins with, the longest first; others are not there."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.answers = dict(answers or {})
        self.ran: list[str] = []
        self.environments: list[Mapping[str, str] | None] = []
        self.seconds: list[float] = []

    def run(self, command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None) -> Ended:
        words = " ".join(command)
        self.ran.append(words)
        self.environments.append(environment)
        self.seconds.append(seconds)
        for beginning in sorted(self.answers, key=len, reverse=True):
            if words.startswith(beginning):
                answer = self.answers[beginning]
                if isinstance(answer, OSError):
                    raise answer
                return answer if isinstance(answer, Ended) else answer()
        raise FileNotFoundError(2, "No such file or directory", command[0])


class PlayedWriter:
    """Writes to files that are there; ``refused`` are paths whose write fails."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.refused: dict[str, OSError] = {}
        self.writes: list[tuple[str, str]] = []

    def write(self, path: str, value: str) -> None:
        self.writes.append((path, value))
        if path in self.refused:
            raise self.refused[path]

    def write_bounded(self, path: str, value: str, seconds: float) -> None:
        assert seconds > 60
        self.write(path, value)

    def create(self, path: str, text: str) -> None:
        self.write(path, text)
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def remove(self, path: str) -> None:
        self.write(path, "")
        (self.root / path).unlink()


class Bench:
    """A workbench for the host below ``root``; ``told`` is what it said, ``at_pause`` what happens while it waits."""

    def __init__(self, root: Path, programs: PlayedPrograms | None = None, writer: Writer | None = None) -> None:
        self.programs = programs or PlayedPrograms()
        self.writer = PlayedWriter(root)
        self.told: list[str] = []
        self.forgotten: list[tuple[str, int]] = []
        self.refused: dict[tuple[str, int], list[int]] = {}
        """Numbers of errors, with which partitions are kept."""
        self.at_pause: list[Callable[[], object]] = []
        self.seconds = 0.0
        self.tree = HostTree(root)
        self.bench = Workbench(
            files=FunctionFiles(self.tree),
            means=Means(
                writer=writer or self.writer,
                programs=self.programs,
                forget_partition=self._forget,
                clock=lambda: self.seconds,
                pause=self._pause,
            ),
            progress=self.told.append,
        )

    def _forget(self, node: str, number: int) -> None:
        errors = self.refused.get((node, number))
        if errors:
            raise OSError(errors.pop(0), "refused")
        self.forgotten.append((node, number))

    def _pause(self, seconds: float) -> None:
        self.seconds += seconds
        if self.at_pause:
            self.at_pause.pop(0)()
