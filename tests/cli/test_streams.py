"""Standard streams that are closed, full, or have lost their reader: an answer or a message, never a traceback."""

import io
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from cli.conftest import ExampleHost
from laneway import cli

NO_SPACE = "No space left on device"


class Full(io.RawIOBase):
    """A file on a full disk."""

    def __init__(self, real: Path) -> None:
        self._real = real.open("wb")

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._real.fileno()

    def write(self, _data: object, /) -> int:
        raise OSError(28, NO_SPACE)

    def close(self) -> None:
        self._real.close()


def full_stream(folder: Path) -> io.TextIOWrapper:
    """What comes after a write that failed meets an empty buffer, as with ``/dev/full``."""
    return io.TextIOWrapper(Full(folder / "full"), encoding="utf-8", write_through=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--help"], id="the list of commands"),
        pytest.param(["claim", "--help"], id="a help page"),
        pytest.param(["--version"], id="the version"),
        pytest.param(["completion", "zsh"], id="an answer"),
        pytest.param(["completion", "zsh", "--json"], id="an answer in JSON"),
        pytest.param(["completion", "bsh", "--json"], id="a failure in JSON"),
    ],
)
def test_a_full_disk_is_told_and_is_no_fault_of_ours(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout", full_stream(tmp_path))
    assert cli.main(words) == 74
    told = capsys.readouterr().err
    assert told == f"error: the answer cannot be written: {NO_SPACE}; what the command changed stays changed\n"


def test_a_full_disk_is_no_fault_of_the_file_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = tmp_path / "scenarios.jsonl"
    scenarios.write_text("{}\n" * 100)
    monkeypatch.setattr("sys.stdout", full_stream(tmp_path))
    assert cli.main(["simulate", str(scenarios)]) == 74
    assert NO_SPACE in capsys.readouterr().err


@pytest.mark.parametrize("words", [["devices", "--tree"], ["devices", "--json"], ["capture"], ["check"]], ids=" ".join)
def test_a_long_answer_on_a_full_disk(
    words: list[str], gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", full_stream(gpu_server.folder))
    assert gpu_server.run(*words).status == 74


def test_a_reader_that_has_gone_is_no_fault_of_the_file_that_is_read(tmp_path: Path) -> None:
    scenarios = tmp_path / "scenarios.jsonl"
    scenarios.write_text("{}\n" * 100)
    program = f"import sys; from laneway.cli import main; sys.exit(main(['simulate', {str(scenarios)!r}]))"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert (process.wait(), process.stderr.read()) == (141, b"")


def test_what_a_command_changed_before_the_disk_was_full_stays(
    gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", full_stream(gpu_server.folder))
        assert gpu_server.run("claim", "vm1", "--alias", "nic:1").status == 74
    assert "vm1" in gpu_server.run("claims").out


@pytest.mark.parametrize("interrupted", [False, True], ids=["a message", "the line end of an interrupt"])
def test_a_message_that_cannot_be_written_changes_no_status(
    interrupted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.stderr", full_stream(tmp_path))
    if interrupted:
        monkeypatch.setattr(cli, "_run", interrupt)
    assert cli.main(["frobnicate"]) == (130 if interrupted else 2)


def run_closed(numbers: Iterable[int], *words: str) -> subprocess.CompletedProcess[str]:
    """The command line where these standard streams are closed, as Python finds them at its start."""
    names = ("stdin", "stdout", "stderr")
    closing_them = "".join(f"os.close({number}); sys.{names[number]} = None; " for number in numbers)
    program = f"import os, sys; {closing_them} from laneway.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("numbers", [(0,), (1,), (2,), (0, 1, 2)], ids=["stdin", "stdout", "stderr", "all"])
def test_a_command_works_with_closed_streams(numbers: tuple[int, ...], gpu_server: ExampleHost) -> None:
    for words, status in (
        (["claim", "vm1", "--alias", "nic:1"], 0),
        (["claim", "vm1", "--alias", "nic:9"], 1),
        (["devices", "--json"], 0),
    ):
        done = run_closed(numbers, *words, *gpu_server.options)
        assert done.returncode == status
        assert "Traceback" not in done.stderr
    assert run_closed({*numbers, 0}, "simulate", "-").returncode == 0
    assert "vm1" in gpu_server.run("claims").out
    with closing(sqlite3.connect(gpu_server.folder / "state.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
