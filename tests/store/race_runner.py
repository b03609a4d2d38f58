"""Processes that all want the devices of one host at once, in one database that does not exist yet.

A program of its own, so that it may fork: it has one thread, and all imports are done. Usage:
``race_runner.py FILE PROCESSES CLAIMS``. Fails if one of the processes does.
"""

import os
import sys
from pathlib import Path

from laneway.domain.report import HostReport
from laneway.fleet.control_plane import ControlPlane
from laneway.store.sqlite import open_store
from store.samples import NOW, record, report

HOST = "h1"


def compete(path: Path, process: int, claims: int, report: HostReport) -> None:
    """What one process does: claims, and asks for each claim once more, as after a lost answer."""
    with open_store(path) as store:
        plane = ControlPlane(store, lambda: NOW)
        plane.sync(HOST, report)
        for number in range(claims):
            request = record(f"vm{process}", 0, claim=f"{process}-{number}").request
            first = plane.claim(HOST, request)
            again = plane.claim(HOST, request)
            assert again.repeated, "the same claim id was not known"
            assert again.devices == first.devices, "the same claim id was answered with other devices"


def race(path: Path, processes: int, claims: int) -> list[int]:
    """Starts all processes at one moment, when the pipe that they wait on is closed: how they ended."""
    everything = report(gpus=processes * claims)
    reader, writer = os.pipe()
    children = []
    for process in range(processes):
        child = os.fork()
        if child == 0:
            try:
                os.close(writer)
                os.read(reader, 1)
                compete(path, process, claims, everything)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        children.append(child)
    os.close(writer)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


if __name__ == "__main__":
    sys.exit(any(race(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
