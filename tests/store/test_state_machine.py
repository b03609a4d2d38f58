"""The store in memory and the one in SQLite do the same, whatever is done to them."""

import itertools
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, PciDevice, Status
from laneway.domain.errors import LanewayError
from laneway.domain.tracking.claim import Update
from laneway.interfaces.store import Store
from laneway.store.memory import MemoryStore
from laneway.store.sqlite import open_store
from store.contract import Interrupted
from store.samples import CORDON, NOW, address, device, gpu, record

SLOTS = st.integers(0, 3)
CONSUMERS = st.sampled_from(["vm1", "vm2"])
CLAIMS = st.sampled_from(["c1", "c2"])
STATUSES = (None, Status.CLAIMED, Status.ALLOCATED, Status.RELEASING, Status.DIRTY)


@st.composite
def held(draw: st.DrawFn) -> dict[PciAddress, PciDevice | None]:
    """One device of any kind that is held, or is no more."""
    slot, status = draw(SLOTS), draw(st.sampled_from(STATUSES))
    if status is None:
        return {address(slot): None}
    one = device(slot, draw(st.none() | CONSUMERS), status, draw(CLAIMS))
    changed = replace(
        one,
        prepared=draw(st.booleans()),
        placeholders=tuple(map(gpu, draw(st.lists(SLOTS, max_size=2)))),
        displaced=draw(st.sampled_from([None, "it is at another place"])),
    )
    return {address(slot): changed}


FAILED = BlockReason("cleaning_failed", "its cleaning failed")
MARKS = st.builds(lambda slot: (replace(FAILED, function=gpu(slot)), *CORDON), SLOTS) | st.just(CORDON)
UPDATES = st.builds(
    Update,
    held=held() | st.just({}),
    claims=st.dictionaries(CLAIMS, st.none() | st.builds(record, CONSUMERS, SLOTS), max_size=2),
    blocks=st.dictionaries(SLOTS.map(address), st.none() | MARKS, max_size=2),
    boot_id=st.sampled_from([None, None, "b1", "b2"]),
)
COUNTER = itertools.count()


class Stores(RuleBasedStateMachine):
    """Each example takes hosts of its own in one database."""

    path: Path

    def __init__(self) -> None:
        super().__init__()
        number = next(COUNTER)
        self.names = [f"{number}-h1", f"{number}-h2"]
        self.memory = MemoryStore(actor="ada")
        self.sql = open_store(self.path, actor="ada")

    @rule(host=st.integers(0, 1), changes=st.lists(UPDATES, max_size=3), fails=st.booleans())
    def transact(self, host: int, changes: list[Update], fails: bool) -> None:
        def run(store: Store) -> str | None:
            try:
                with store.transaction(self.names[host]) as transaction:
                    for number, change in enumerate(changes):
                        transaction.write(change, action=f"change {number}", at=NOW)
                    if fails:
                        raise Interrupted
            except LanewayError as error:
                return error.message
            except Interrupted:
                return "interrupted"
            return None

        assert run(self.memory) == run(self.sql)

    @invariant()
    def both_hold_the_same(self) -> None:
        for name in self.names:
            assert self.sql.read(name) == self.memory.read(name)
            assert self.sql.audit(name, last=5) == self.memory.audit(name, last=5)
        assert [name for name in self.sql.hosts() if name in self.names] == self.memory.hosts()

    def teardown(self) -> None:
        self.sql.close()


def test_whatever_is_done_both_stores_hold_the_same(quick_folder: Path) -> None:
    class StoresHere(Stores):
        path = quick_folder / "state.db"

    run_state_machine_as_test(StoresHere, settings=settings(max_examples=30, stateful_step_count=20, deadline=None))
