"""A fixed series of operations on a store, for the tests that kill it at every point.

Each operation is one answer: once it returns, what it did may never be lost.
"""

from collections.abc import Callable
from datetime import timedelta

from laneway.domain.claim import Update
from laneway.domain.device import Status
from laneway.interfaces.store import Store
from store.samples import CORDON, NOW, address, claimed, device, freed


def _boot(store: Store) -> None:
    with store.transaction("h1") as transaction:
        transaction.set_boot_id("b1")


def _claim(store: Store) -> None:
    _write(store, "claim", claimed("vm1", 0, 1, 2))


def _allocate(store: Store) -> None:
    _write(store, "allocate", Update(held={address(slot): device(slot, "vm1", Status.ALLOCATED) for slot in range(3)}))


def _cordon(store: Store) -> None:
    _write(store, "cordon", Update(blocks={address(9): CORDON}))


def _claim_on_another_host(store: Store) -> None:
    with store.transaction("h2") as transaction:
        transaction.write(claimed("vm2", 0, claim="c2"), action="claim", at=NOW)
        transaction.set_boot_id("b7")


def _give_to_another(store: Store) -> None:
    """Frees and claims in one transaction: the device is never seen without an owner."""
    with store.transaction("h1") as transaction:
        transaction.write(freed(0, 1, 2), action="free", at=NOW)
        transaction.write(claimed("vm3", 2, 3, claim="c3"), action="claim", at=NOW + timedelta(seconds=1))


def _uncordon(store: Store) -> None:
    _write(store, "uncordon", Update(blocks={address(9): None}))


def _free(store: Store) -> None:
    dirty = device(3, None, Status.DIRTY)
    _write(store, "free", Update(held={address(2): None, address(3): dirty}, claims={"c3": None}))


def _write(store: Store, action: str, update: Update) -> None:
    with store.transaction("h1") as transaction:
        transaction.write(update, action=action, at=NOW)


OPERATIONS: tuple[Callable[[Store], None], ...] = (
    _boot,
    _claim,
    _allocate,
    _cordon,
    _claim_on_another_host,
    _give_to_another,
    _uncordon,
    _free,
)
