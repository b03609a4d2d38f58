"""Processes that claim and give back devices of one host at once, by the use cases.

A program of its own, so that it may fork: it has one thread, and all imports are done. Usage:
``race_runner.py FOLDER PROCESSES ROUNDS``. Fails if one of the processes does.

Who holds a device says so by a file of its address, made before anything else and removed before
the device is freed. A second holder would find that file, and the holder of a PF those of its VFs.
"""

import os
import sys
from pathlib import Path
from random import Random

from domain.hosts import A_PF, A_VF, claim, function, pf, report, vf, wants
from fleet.conftest import NOON
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.fleet.control_plane import ControlPlane
from laneway.store.sqlite import open_store

HOST = "h1"
PF = "0000:81:00.0"
VFS = ("0000:81:02.0", "0000:81:02.1", "0000:81:02.2")
REPORT = report(
    *(function(f"0000:3b:{slot:02x}.0") for slot in range(5)), pf(PF), *(vf(address, PF) for address in VFS)
)
REQUESTS = (wants(product_id="37c8"), wants(product_id="37c8", count=2), A_VF, A_VF, A_PF)


class Competitor:
    """One process: what it holds, claim by claim, each witnessed by files."""

    def __init__(self, plane: ControlPlane, folder: Path, number: int) -> None:
        self.plane = plane
        self.folder = folder
        self.consumer = f"vm{number}"
        self.random = Random(number)
        self.held: dict[str, tuple[PciAddress, ...]] = {}

    def play(self, rounds: int) -> None:
        for number in range(rounds):
            full = not self.take(f"{self.consumer}-{number}")
            if self.held and (full or self.random.random() < 0.6):
                self.give_back()

    def take(self, claim_id: str) -> bool:
        wanted = claim(self.consumer, self.random.choice(REQUESTS), claim_id=claim_id)
        try:
            outcome = self.plane.claim(HOST, wanted)
        except LanewayError as error:
            if error.code is not ErrorCode.DOES_NOT_FIT:
                raise
            return False
        assert outcome.devices is not None
        self.held[claim_id] = tuple(address for addresses in outcome.devices.values() for address in addresses)
        for address in self.held[claim_id]:
            self.witness(address)
        again = self.plane.claim(HOST, wanted)
        assert (again.repeated, again.devices) == (True, outcome.devices), "the retry was answered with something else"
        if self.random.random() < 0.5:
            self.plane.allocate(HOST, claim=claim_id)
        return True

    def witness(self, address: PciAddress) -> None:
        os.close(os.open(self.folder / str(address), os.O_CREAT | os.O_EXCL))
        rivals = VFS if str(address) == PF else (PF,) if str(address) in VFS else ()
        assert not [rival for rival in rivals if (self.folder / rival).exists()], f"{address} has a relative in use"

    def give_back(self) -> None:
        claim_id = self.random.choice(sorted(self.held))
        addresses = self.held.pop(claim_id)
        for address in addresses:
            (self.folder / str(address)).unlink()
        if self.random.random() < 0.5:
            self.plane.free(HOST, claim=claim_id)
        else:
            self.plane.free(HOST, consumer=self.consumer, addresses=addresses)


def compete(folder: Path, number: int, rounds: int) -> None:
    with open_store(folder / "state.db") as store:
        plane = ControlPlane(store, lambda: NOON)
        plane.sync(HOST, REPORT)
        Competitor(plane, folder, number).play(rounds)


def race(folder: Path, processes: int, rounds: int) -> list[int]:
    """Starts all processes at one moment, when the pipe that they wait on is closed: how they ended."""
    reader, writer = os.pipe()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            try:
                os.close(writer)
                os.read(reader, 1)
                compete(folder, number, rounds)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        children.append(child)
    os.close(writer)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


if __name__ == "__main__":
    sys.exit(any(race(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
