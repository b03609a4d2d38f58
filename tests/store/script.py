"""A fixed series of operations on a store, for the tests that kill it at every point.

Each operation is one answer: once it returns, what it did may never be lost. They are the use
cases, as a command runs them, and one transaction of many writes.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from laneway.domain.device import Attach
from laneway.domain.tracking.claim import Update
from laneway.fleet.control_plane import ControlPlane
from laneway.interfaces.running_vms import RunningVm, RunningVms
from laneway.interfaces.store import Store
from store.samples import NOW, address, claimed, freed, record, report

HOST = report(gpus=8)
LATER = NOW + timedelta(hours=1)


def synced(store: Store, host: str = "h1", at: datetime = NOW) -> ControlPlane:
    """The use cases after the sync that every command begins with; the same again stores nothing."""
    plane = ControlPlane(store, lambda: at)
    plane.sync(host, HOST)
    return plane


def _sync(store: Store) -> None:
    synced(store)


def _claim(store: Store) -> None:
    synced(store).claim("h1", record("vm1", 0, 1, 2).request)


def _allocate(store: Store) -> None:
    synced(store).allocate("h1", consumer="vm1")


def _cordon(store: Store) -> None:
    synced(store).cordon("h1", address(7), "fan is loud")


def _adopt(store: Store) -> None:
    devices = {address(slot): Attach.VFIO for slot in (5, 6)}
    vm = RunningVm(consumer="vm9", uuid=None, pid=4711, devices=devices, source="libvirt")
    synced(store).adopt("h1", RunningVms(vms=(vm,)))


def _claim_for_a_while(store: Store) -> None:
    synced(store).claim("h1", record("vm2", 3, claim="c2").request, time_to_live=timedelta(minutes=15))


def _sync_when_that_is_over(store: Store) -> None:
    synced(store, at=LATER)


def _sync_another_host(store: Store) -> None:
    synced(store, "h2")


def _claim_on_another_host(store: Store) -> None:
    synced(store, "h2").claim("h2", record("vm1", 0).request)


def _give_to_another(store: Store) -> None:
    """Frees and claims in one transaction: the devices are never seen without an owner."""
    with store.transaction("h1") as transaction:
        transaction.write(freed(0, 1, 2), action="free", at=NOW)
        transaction.write(claimed("vm3", 1, 2, claim="c3"), action="claim", at=NOW)
        transaction.write(Update(boot_id="b2"), action="sync", at=NOW)


def _uncordon(store: Store) -> None:
    synced(store).uncordon("h1", address(7))


def _free(store: Store) -> None:
    synced(store).free("h1", consumer="vm3")


OPERATIONS: tuple[Callable[[Store], None], ...] = (
    _sync,
    _claim,
    _allocate,
    _cordon,
    _adopt,
    _claim_for_a_while,
    _sync_when_that_is_over,
    _sync_another_host,
    _claim_on_another_host,
    _give_to_another,
    _sync,
    _uncordon,
    _free,
)
