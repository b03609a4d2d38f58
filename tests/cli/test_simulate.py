"""``laneway simulate`` as a program: one answer line for each document, in order, as a stream."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cli.documents import validated
from contracts.scenarios import claim, scenario

PROGRAM = [sys.executable, "-c", "import sys; from laneway.cli import main; sys.exit(main())", "simulate"]
WAIT = 30


def line(identity: str) -> bytes:
    return json.dumps(scenario(claim(), id=identity)).encode() + b"\n"


def run(*files: str, given: bytes = b"") -> tuple[list[tuple[str | None, str | None]], int]:
    """The ids and error codes of the answers, and the exit status."""
    done = subprocess.run([*PROGRAM, *files], input=given, capture_output=True, timeout=WAIT, check=False)
    assert done.stderr == b""
    answers = [validated("answer", text) for text in done.stdout.decode().splitlines()]
    return [(one["id"], one["error"] and one["error"]["code"]) for one in answers], done.returncode


@contextmanager
def started() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The program, waiting for scenarios: what it reads, and what it says."""
    with subprocess.Popen([*PROGRAM, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdin, process.stdout
        process.stdin.close()
        assert process.wait(WAIT) == 0


def test_an_answer_is_there_before_the_next_line_is_written() -> None:
    with started() as (stdin, stdout):
        for number in range(3):
            stdin.write(line(f"s{number}"))
            stdin.flush()
            assert json.loads(stdout.readline())["id"] == f"s{number}"


def test_every_line_is_answered_in_order_whatever_is_wrong_with_it() -> None:
    bad = scenario(id="bad", device_spec=[{}])
    given = b"".join(
        [line("s1"), b"nonsense\n", b"[]\n", json.dumps(bad).encode() + b"\n", b"\n", b'{"id": "s5"\n', line("s6")]
    )
    assert run("-", given=given) == (
        [
            ("s1", None),
            (None, "invalid_json"),
            (None, "invalid_scenario"),
            ("bad", "invalid_device_spec"),
            (None, "invalid_json"),
            ("s6", None),
        ],
        2,
    )


def test_a_document_may_take_many_lines() -> None:
    given = json.dumps(scenario(claim(), id="s1"), indent=2).encode()
    assert run("-", given=given) == ([("s1", None)], 0)


def test_scenarios_that_do_not_start_are_no_failure_of_the_program() -> None:
    given = json.dumps({"id": "s1"}).encode() + b"\n" + line("s2")
    assert run("-", given=given) == ([("s1", "invalid_scenario"), ("s2", None)], 0)


def test_nothing_is_answered_with_nothing() -> None:
    assert run("-") == ([], 0)


def test_files_and_stdin_are_read_one_after_the_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(line(name) + line(f"{name}2"))
    answers, status = run(str(tmp_path / "a"), "-", str(tmp_path / "b"), given=line("stdin"))
    assert [identity for identity, _ in answers] == ["a", "a2", "stdin", "b", "b2"]
    assert status == 0


def test_memory_does_not_grow_with_the_stream(tmp_path: Path) -> None:
    def most_memory(documents: int) -> int:
        """In KiB, of a program that answers so many."""
        file = tmp_path / f"{documents}.jsonl"
        file.write_bytes(line("s") * documents)
        silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        child = os.posix_spawn(sys.executable, [*PROGRAM, str(file)], os.environ, file_actions=silent)
        _, status, used = os.wait4(child, 0)
        assert status == 0
        return used.ru_maxrss

    assert most_memory(1_000) < most_memory(20) + 8_000
