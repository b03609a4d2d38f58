"""Ends processes that change a host, each at a later point, and lets another put the host right.

A program of its own, so that it may fork: it has one thread. Usage: ``host_kill_runner.py FOLDER``.
Points are before each write to the journal, the kernel and the control plane: after one is before the next.
Prints one JSON line for each process: what it did, at which point it was to be killed, how it ended
(a signal is negative), and what was wrong afterwards.
"""

import gc
import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from compute.changing_host import ChangingHost
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY, FIRST_VF, PF, SOUND, any_kernel
from laneway.compute.cleaning import clean
from laneway.compute.preparing import prepare
from laneway.compute.releasing import release
from laneway.compute.taken import half_taken, prepared_now
from laneway.compute.upkeep import keep_up
from laneway.compute.vf_counts import set_vf_count
from laneway.domain.device import Status
from laneway.domain.errors import LanewayError
from laneway.store.sqlite import open_store

FAILED = 1
"""The exit status of a process that raised instead of being killed."""

DIRTY = (str(Status.DIRTY), False)
"""Between a release and a cleaning that are done in one go."""
WATCHED = (CARD, DISPLAY, SOUND, PF, FIRST_VF)
_JOURNAL = ("begin", "step", "keep")
_PLANE = ("prepared", "released", "cleaned", "block", "unblock")
SPECS = ({"address": CARD, "cleaning": {"command": "scrub {address}"}}, {"address": "*"})

Act = Callable[[ChangingHost], object]
Seen = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """``before`` leads to the state in which ``act`` is interrupted. ``is_whole``: it is done for all or for none."""

    name: str
    before: Act
    act: Act
    is_whole: bool = True


def _allocate(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY)


def _prepare(host: ChangingHost) -> None:
    _allocate(host)
    prepare(host.managed, "vm")


def _free(host: ChangingHost) -> None:
    _prepare(host)
    host.free("vm")


def _free_one(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    host.free("vm")


def _make_dirty(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    host.free("vm")


OPERATIONS = (
    Operation("prepare", _allocate, lambda host: prepare(host.managed, "vm")),
    Operation("release", _free, lambda host: release(host.managed), is_whole=False),
    Operation("upkeep", _free_one, lambda host: keep_up(host.managed, host.look()), is_whole=False),
    Operation("clean", _make_dirty, lambda host: clean(host.managed)),
    Operation("vfs", lambda _: None, lambda host: set_vf_count(host.managed, at(PF), 2)),
    Operation(
        "another number of vfs",
        lambda host: set_vf_count(host.managed, at(PF), 1),
        lambda host: set_vf_count(host.managed, at(PF), 2),
    ),
)


def kill_everywhere(folder: Path, operation: Operation) -> Iterator[dict[str, object]]:
    """One process after the other; each begins where ``before`` led to."""
    site = Site(folder, operation)
    for point in itertools.count():
        site.rewind()
        status = in_child(partial(site.interrupted, point))
        problem = site.problem() if status < 0 else None
        yield {"operation": operation.name, "point": point, "status": status, "problem": problem}
        if status >= 0:
            break
    site.close()


class Site:
    """One host in a folder, which goes back to where an operation begins as often as it is asked to."""

    def __init__(self, folder: Path, operation: Operation) -> None:
        self._live, self._kept = folder / "live", folder / "kept"
        self._operation = operation
        self._kernel = any_kernel(self._live / "root")
        with self._process() as host:
            operation.before(host)
            self._before = seen(host)
        shutil.copytree(self._live, self._kept, symlinks=True)
        self._after = self._finished()

    def rewind(self) -> None:
        shutil.rmtree(self._live)
        shutil.copytree(self._kept, self._live, symlinks=True)

    def interrupted(self, number: int) -> None:
        """What a child does, until it comes to the point of this number."""
        with self._process() as host:
            arm(host, number)
            self._operation.act(host)

    def problem(self) -> str | None:
        """What is wrong after the next process has come to the host; and after it has done the same again."""
        with self._process() as host:
            with host.managed.changing():
                pass
            now = seen(host)
            if disagreement := inconsistent(host):
                return disagreement
        if self._operation.is_whole and now not in (self._before, self._after):
            return f"neither as before nor done: {now}"
        for address in WATCHED:
            ends = [part(end, address) for end in (self._before, self._after)]
            if (found := part(now, address)) not in ends and now["devices"].get(address) != DIRTY:
                return f"{address} is neither as before nor done: {found}"
        again = self._finished()
        return None if again == self._after else f"done again it is {again}"

    def close(self) -> None:
        shutil.rmtree(self._live)
        shutil.rmtree(self._kept)

    def _finished(self) -> Seen:
        """How it stands when the operation has come to its end."""
        with self._process() as host:
            with suppress(LanewayError):  # where it is done already there may be nothing to do it to
                self._operation.act(host)
            return seen(host)

    @contextmanager
    def _process(self) -> Iterator[ChangingHost]:
        with open_store(self._live / "state" / "laneway.db") as store:
            host = ChangingHost(self._live, kernel=self._kernel, store=store, specs=SPECS)
            try:
                yield host
            finally:
                host.close()


def seen(host: ChangingHost) -> Seen:
    """What there is to compare: on the host, in the control plane, in the journal."""
    view, state = host.look(), host.journal()
    return {
        "tree": host.kernel.tree(),
        "devices": {
            str(address): (str(view.status_of(address)), held.prepared if (held := view.held.get(address)) else False)
            for address in sorted(view.addresses())
        },
        "taken": {str(address): sorted(map(str, hold.holders)) for address, hold in sorted(state.taken.items())},
        "steps": sorted(step.summary for step in state.steps),
        "prepared": {str(address): device.consumer for address, device in sorted(state.prepared.items())},
        "kept": sorted(map(str, state.kept)),
        "counts": {str(address): kept.count for address, kept in state.vf_counts.items()},
    }


def part(whole: Seen, address: str) -> object:
    """What of it is about one function."""
    tree = {path: text for path, text in whole["tree"].items() if address in path}
    return tree, whole["devices"].get(address), whole["taken"].get(address), whole["prepared"].get(address)


def inconsistent(host: ChangingHost) -> str | None:
    """Where the host, the control plane and the journal do not agree."""
    view, state = host.look(), host.journal()
    prepared = prepared_now(state)
    if host.managed.journal.unfinished() is not None or half_taken(state):
        return "something is unfinished"
    for address, held in view.held.items():
        if (held.prepared or held.status is Status.RELEASING) != (address in prepared):
            return f"{address} is prepared in the {'journal' if address in prepared else 'control plane'} only"
    for address in state.taken:
        if host.kernel.driver_of(str(address)) != "vfio-pci":
            return f"{address} counts as taken, and is on {host.kernel.driver_of(str(address))}"
    return None


def arm(host: ChangingHost, number: int) -> None:
    """This process dies the moment that it comes to the point of this number."""
    left = itertools.count(number, -1)

    def point() -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def after_point(call: Callable[..., object]) -> Callable[..., object]:
        def watched(*arguments: object) -> object:
            point()
            return call(*arguments)

        return watched

    host.kernel.disturb = lambda _path, done: None if done else point()
    for holder, names in ((host.managed.journal, _JOURNAL), (host.managed.plane, _PLANE)):
        for name in names:
            setattr(holder, name, after_point(getattr(holder, name)))


def in_child(work: Callable[[], None]) -> int:
    """Does the work in a child; how it ended (a signal is negative)."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(FAILED)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    for index, operation in enumerate(OPERATIONS):
        gc.freeze()
        for run in kill_everywhere(Path(sys.argv[1]) / str(index), operation):
            print(json.dumps(run))
            if run["status"] == FAILED:
                sys.exit(FAILED)
