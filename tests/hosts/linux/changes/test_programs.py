"""Programs with a limit of time; they are run."""

import os
import sys
from pathlib import Path

import pytest

from laneway.hosts.linux.changes.programs import Ended, RunningPrograms

LONG = 60.0


def run(script: str, seconds: float = LONG, environment: dict[str, str] | None = None) -> Ended:
    return RunningPrograms().run(["/bin/sh", "-c", script], seconds, environment)


def test_the_output_is_kept_with_the_status() -> None:
    assert run("echo out; echo err >&2; exit 3") == Ended(status=3, output="out\nerr")


def test_of_long_output_the_end_is_kept_and_the_last_lines_are_told() -> None:
    ended = run("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1")
    assert ended.output.endswith("line 19998\nline 19999")
    assert len(ended.output) <= 1 << 16
    assert ended.said("it") == f"it ended with status 1: {'; '.join(f'line {i}' for i in range(19980, 20000))}"


def test_output_that_is_no_text_is_replaced() -> None:
    assert run("printf 'a\\377b'").output == "a\N{REPLACEMENT CHARACTER}b"


def test_there_is_no_input() -> None:
    assert run("cat; echo done") == Ended(status=0, output="done")


def test_the_environment_is_small() -> None:
    ended = run("env -u PWD -u SHLVL -u _ env", environment={"LANEWAY_DEVICE": "0000:3b:00.0"})
    assert {line.partition("=")[0] for line in ended.output.split("\n")} == {"PATH", "LC_ALL", "LANEWAY_DEVICE"}


def test_a_program_that_a_signal_ends_says_so() -> None:
    assert run("kill -9 $$").status == -9


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        RunningPrograms().run(["/nonexistent/cleaner"], LONG)


def test_a_program_is_stopped_when_its_time_is_over() -> None:
    ended = run("echo begun; exec sleep 100", seconds=0.2)
    assert ended == Ended(status=None, output="begun")


def test_a_program_that_does_not_mind_is_stopped_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laneway.hosts.linux.changes.programs._GRACE_SECONDS", 0.1)
    ended = run("trap '' TERM; echo begun; sleep 100", seconds=0.2)
    assert ended == Ended(status=None, output="begun")


@pytest.mark.parametrize(("script", "seconds"), [("exit 0", LONG), ("wait", 0.3)], ids=["it ended", "it was stopped"])
def test_what_it_left_running_is_ended_with_it(tmp_path: Path, script: str, seconds: float) -> None:
    """The reader of a pipe sees the end of it when nobody is left who has it open for writing."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        run(f"(exec sleep 100) > {pipe} & {script}", seconds)
        os.set_blocking(reader, True)
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_a_child_that_keeps_the_output_open_does_not_keep_us() -> None:
    assert run("sleep 100 & echo done") == Ended(status=0, output="done")


def test_the_program_may_close_its_output_and_go_on() -> None:
    script = "import os, time; os.close(1); os.close(2); time.sleep(0.1); os._exit(4)"
    assert RunningPrograms().run([sys.executable, "-I", "-S", "-c", script], LONG) == Ended(status=4)


SAID = {
    "with a status": (Ended(status=2, output="no such device"), "format ended with status 2: no such device"),
    "without output": (Ended(status=2), "format ended with status 2"),
    "by a signal": (Ended(status=-9), "format was ended by signal 9"),
    "by the clock": (Ended(status=None), "format was stopped when its time was over"),
}


@pytest.mark.parametrize(("ended", "words"), SAID.values(), ids=SAID)
def test_how_it_ended_is_said(ended: Ended, words: str) -> None:
    assert ended.said("format") == words
