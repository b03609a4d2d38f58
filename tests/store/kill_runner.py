"""Runs the script in child processes that are killed, each at a later point.

A program of its own, so that it may fork: it has one thread, and all imports are done. Usage:
``kill_runner.py FOLDER calls|bytes``. Prints one JSON line for each child: the file that it
left, the number of operations that were answered in it, and how it ended.

- ``calls``: each operation runs on what those before it left, and the child kills itself at the
  N-th point of a transaction that writes: before each statement, before the commit, after it, and
  after the answer. The first operation of all is making the file.
- ``bytes``: all operations run in one child, and the kernel kills it at the write that would make
  any file longer than a limit, which leaves that write torn. The limits step through the pages of
  the log, each at another place in the page.
"""

import gc
import itertools
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine, event

from laneway.interfaces.store import Store
from laneway.store.engine import LOCKS
from laneway.store.sqlite import open_store
from store.script import OPERATIONS

STEP = 5150
"""One and a quarter of what a page takes in SQLite's log: 4,096 bytes and the head of a frame, 24."""

FAILED = 1
"""The exit status of a child that raised instead of being killed."""

Run = dict[str, object]
Operation = Callable[[Store], None]


def kill_at_calls(folder: Path) -> Iterator[Run]:
    before: Path | None = None
    for index, operation in enumerate((None, *OPERATIONS)):
        for number in itertools.count(1):
            path = folder / f"{index}-{number}" / "state.db"
            if before is not None:
                path.parent.mkdir()
                shutil.copyfile(before, path)
            answers, status = in_child(partial(run_one, path, operation, number))
            yield {"path": str(path), "answered": max(0, index - 1 + answers), "status": status}
            if status >= 0:
                before = folder / f"{index}.db"
                shutil.copyfile(path, before)
                break


def run_one(path: Path, operation: Operation | None, number: int, answer: Callable[[], object]) -> None:
    """What a child does: one operation, or making the file, until its kill."""
    if operation is None:
        kill_at_call(number)
        open_store(path).close()
        return
    with open_store(path, actor="ada") as store:
        point = kill_at_call(number)
        operation(store)
        point()
        answer()
        point()


def kill_at_call(number: int) -> Callable[[], object]:
    """Arms this process: it dies the moment that it comes to the point of this number."""
    left = itertools.count(number - 1, -1)

    def point() -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def point_of_writer(connection: Connection, *_: object) -> None:
        if connection.get_execution_options().get(LOCKS):
            point()

    for name in ("before_cursor_execute", "commit"):
        event.listen(Engine, name, point_of_writer)
    return point


def kill_at_sizes(folder: Path) -> Iterator[Run]:
    for number in itertools.count(1):
        path = folder / str(number) / "state.db"
        answered, status = in_child(partial(run_all, path, number * STEP))
        yield {"path": str(path), "answered": answered, "status": status}
        if status >= 0:
            return


def run_all(path: Path, limit: int, answer: Callable[[], object]) -> None:
    """What a child does: all operations, until a file becomes longer than the limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with open_store(path, actor="ada") as store:
        for operation in OPERATIONS:
            operation(store)
            answer()


def in_child(work: Callable[[Callable[[], object]], None]) -> tuple[int, int]:
    """Does the work in a child: how often it answered, and how it ended (a signal is negative)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(partial(os.write, writer, b"."))
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(FAILED)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answered = len(pipe.read())
    return answered, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def warm_up(path: Path) -> None:
    """Runs the script once, so that the children find done what is done at a first time."""
    with open_store(path) as store:
        for operation in OPERATIONS:
            operation(store)
    gc.freeze()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    warm_up(folder / "warm-up.db")
    for run in {"calls": kill_at_calls, "bytes": kill_at_sizes}[sys.argv[2]](folder):
        print(json.dumps(run))
        if run["status"] == FAILED:
            sys.exit(FAILED)
