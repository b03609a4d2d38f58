"""Processes that all want the devices of one host at once, in one database that does not exist yet.

A program of its own, so that it may fork: it has one thread, and all imports are done. Usage:
``race_runner.py FILE PROCESSES CLAIMS``. Fails if one of the processes does.
"""

import os
import sys
from pathlib import Path

from laneway.domain.claim import ClaimRecord
from laneway.interfaces.store import Store
from laneway.store.sqlite import open_store
from store.samples import NOW, address, claimed

HOST = "h1"


def claim(store: Store, claim_id: str) -> ClaimRecord:
    """Claims the lowest slot that is free; the same claim id is answered the same."""
    with store.transaction(HOST) as transaction:
        state = transaction.state()
        if claim_id in state.claims:
            return state.claims[claim_id]
        slot = next(slot for slot in range(1000) if address(slot) not in state.held)
        update = claimed(f"vm of {claim_id}", slot, claim=claim_id)
        transaction.write(update, action="claim", at=NOW)
        record = update.claims[claim_id]
        assert record is not None
        return record


def compete(path: Path, process: int, claims: int) -> None:
    """What one process does: claims, and asks for each claim once more, as after a lost answer."""
    with open_store(path) as store:
        for number in range(claims):
            claim_id = f"{process}-{number}"
            first = claim(store, claim_id)
            assert claim(store, claim_id) == first, "the retry was answered with something else"


def race(path: Path, processes: int, claims: int) -> list[int]:
    """Starts all processes at one moment, when the pipe that they wait on is closed: how they ended."""
    reader, writer = os.pipe()
    children = []
    for process in range(processes):
        child = os.fork()
        if child == 0:
            try:
                os.close(writer)
                os.read(reader, 1)
                compete(path, process, claims)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        children.append(child)
    os.close(writer)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


if __name__ == "__main__":
    sys.exit(any(race(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
