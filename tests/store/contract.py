"""What every store does: the tests that each implementation passes (``interfaces/store.py``)."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.claim import HostState, Update
from laneway.interfaces.store import Store
from store.samples import CORDON, NOW, address, binding_record, claimed, device, freed, gpu, record

ACTOR = "ada"


class Interrupted(Exception):
    """What a failing use case raises inside a transaction."""


def write_and_fail(store: Store, host: str) -> None:
    with store.transaction(host) as transaction:
        transaction.write(claimed("vm2", 1, claim="c2"), action="claim", at=NOW)
        transaction.write(Update(boot_id="b2"), action="sync", at=NOW)
        raise Interrupted


def write_on_both_and_fail(store: Store) -> None:
    with store.transactions(["h1", "h2"]) as open_on:
        open_on["h2"].write(claimed("vm2", 3, claim="c2"), action="claim", at=NOW)
        raise Interrupted


def write(store: Store, update: Update, action: str = "claim", host: str = "h1") -> None:
    with store.transaction(host) as transaction:
        transaction.write(update, action=action, at=NOW)


def record_and_fail(store: Store) -> None:
    with store.transaction("h1") as transaction:
        transaction.record_bindings({"p1": binding_record("p1")})
        raise Interrupted


class StoreContract:
    """Subclasses give a fixture ``store``: an empty one that was opened for ACTOR."""

    def test_an_unknown_host_has_an_empty_state_and_is_not_listed(self, store: Store) -> None:
        assert store.read("h1") == HostState()
        assert store.hosts() == []
        assert store.audit("h1", last=5) == []

    def test_a_transaction_makes_its_host(self, store: Store) -> None:
        for host in ("h2", "h1", "h2"):
            with store.transaction(host) as transaction:
                assert transaction.state() == HostState()
        assert store.hosts() == ["h1", "h2"]

    def test_what_is_written_is_there_at_once_and_after_the_transaction(self, store: Store) -> None:
        expected = HostState(
            held={address(0): device(0, "vm1"), address(1): device(1, "vm1")},
            claims={"c1": record("vm1", 0, 1)},
            blocks={address(7): CORDON},
        )
        with store.transaction("h1") as transaction:
            transaction.write(claimed("vm1", 0, 1), action="claim", at=NOW)
            transaction.write(Update(blocks={address(7): CORDON}), action="cordon", at=NOW)
            assert transaction.state() == expected
        assert store.read("h1") == expected

    def test_a_later_value_replaces_and_none_removes(self, store: Store) -> None:
        write(store, claimed("vm1", 0, 1))
        write(store, Update(blocks={address(7): CORDON}))
        allocated = device(0, "vm1", Status.ALLOCATED)
        write(store, Update(held={address(0): allocated, address(1): None}, blocks={address(7): None}))
        assert store.read("h1") == HostState(held={address(0): allocated}, claims={"c1": record("vm1", 0, 1)})

    def test_removing_what_is_not_there_changes_nothing(self, store: Store) -> None:
        write(store, Update(held={address(0): None}, claims={"c1": None}, blocks={address(1): None}))
        assert store.read("h1") == HostState()

    def test_a_block_that_raises_stores_nothing_at_all(self, store: Store) -> None:
        write(store, claimed("vm1", 0))
        before = store.read("h1")
        for host in ("h1", "new"):
            with pytest.raises(Interrupted):
                write_and_fail(store, host)
        assert store.read("h1") == before
        assert store.hosts() == ["h1"]
        assert len(store.audit("h1", last=9)) == 1

    def test_hosts_are_apart(self, store: Store) -> None:
        write(store, claimed("vm1", 0), host="h1")
        write(store, claimed("vm2", 0), host="h2")
        assert store.read("h1").held == {address(0): device(0, "vm1")}
        assert store.read("h2").held == {address(0): device(0, "vm2")}

    def test_the_boot_id_is_kept_until_it_changes(self, store: Store) -> None:
        for boot_id in ("b1", "b2"):
            with store.transaction("h1") as transaction:
                transaction.write(Update(boot_id=boot_id), action="sync", at=NOW)
                assert transaction.state().boot_id == boot_id
            write(store, claimed("vm1", 0))
            assert store.read("h1").boot_id == boot_id
            assert next(entry.detail for entry in store.audit("h1", last=2)) == {"boot_id": boot_id}

    def test_a_prepared_device_is_told_as_such_in_the_audit_log(self, store: Store) -> None:
        prepared = replace(device(0, "vm1", Status.ALLOCATED), prepared=True, placeholders=(gpu(1), gpu(2)))
        write(store, Update(held={address(0): prepared}), action="prepare")
        assert store.read("h1").held == {address(0): prepared}
        assert [entry.detail for entry in store.audit("h1", last=1)] == [
            {"devices": {"0000:3b:00.0": {"status": "allocated", "consumer": "vm1", "claim": "c1", "prepared": True}}}
        ]

    def test_a_state_that_was_read_stays_as_it_was(self, store: Store) -> None:
        write(store, claimed("vm1", 0))
        state = store.read("h1")
        write(store, freed(0))
        assert state.held == {address(0): device(0, "vm1")}

    def test_a_device_of_one_consumer_is_not_given_to_another(self, store: Store) -> None:
        write(store, claimed("vm1", 0))
        with pytest.raises(LanewayError, match=r"0000:3b:00\.0 is held by 'vm1'") as raised:
            write(store, claimed("vm2", 0, 1, claim="c2"))
        assert raised.value.code == ErrorCode.INTERNAL_ERROR
        assert store.read("h1").held == {address(0): device(0, "vm1")}

    @pytest.mark.parametrize(
        "between",
        [
            pytest.param(freed(0), id="after it was freed"),
            pytest.param(Update(held={address(0): device(0, None, Status.DIRTY)}), id="after it lost its owner"),
        ],
    )
    def test_a_device_is_given_to_another_consumer(self, store: Store, between: Update) -> None:
        write(store, claimed("vm1", 0))
        write(store, between)
        write(store, claimed("vm2", 0, claim="c2"))
        assert store.read("h1").held == {address(0): device(0, "vm2", claim="c2")}

    def test_the_audit_log_says_who_did_what_when(self, store: Store) -> None:
        with store.transaction("h1") as transaction:
            transaction.write(claimed("vm1", 0), action="claim", at=NOW)
            transaction.write(Update(blocks={address(7): CORDON}), action="cordon", at=NOW + timedelta(seconds=1))
        write(store, freed(0), action="free")
        assert [
            (entry.at, entry.host, entry.actor, entry.action, entry.detail) for entry in store.audit("h1", last=9)
        ] == [
            (
                NOW,
                "h1",
                ACTOR,
                "claim",
                {
                    "devices": {"0000:3b:00.0": {"status": "claimed", "consumer": "vm1", "claim": "c1"}},
                    "claims": {"c1": {"consumer": "vm1", "devices": {"g": ["0000:3b:00.0"]}}},
                },
            ),
            (NOW + timedelta(seconds=1), "h1", ACTOR, "cordon", {"blocks": {"0000:3b:07.0": ["cordoned"]}}),
            (NOW, "h1", ACTOR, "free", {"devices": {"0000:3b:00.0": None}, "claims": {"c1": None}}),
        ]

    def test_the_audit_log_gives_the_newest_lines_of_the_host_that_is_asked_for(self, store: Store) -> None:
        for number in range(4):
            write(store, Update(blocks={address(number): CORDON}), action=f"cordon {number}")
            write(store, Update(blocks={address(number): CORDON}), host="h2")
        assert [entry.action for entry in store.audit("h1", last=2)] == ["cordon 2", "cordon 3"]
        assert store.audit("h1", last=0) == []

    def test_an_empty_update_is_not_logged(self, store: Store) -> None:
        write(store, Update())
        assert store.audit("h1", last=9) == []

    def test_what_is_known_of_ports_is_kept_by_host_until_it_is_forgotten(self, store: Store) -> None:
        first, second = binding_record("p1"), binding_record("p2", 1)
        bound = replace(first, is_bound=True, attempts=0, error_code=None, error=None)
        assert store.binding_records("h1") == {}
        with store.transaction("h1") as transaction:
            transaction.record_bindings({"p1": first, "p2": second})
        with store.transaction("h1") as transaction:
            transaction.record_bindings({"p1": bound, "p3": None})
        assert store.binding_records("h1") == {"p1": bound, "p2": second}
        assert store.binding_records("h2") == {}
        with store.transaction("h1") as transaction:
            transaction.record_bindings({"p1": None})
        assert store.binding_records("h1") == {"p2": second}

    def test_what_is_known_of_ports_changes_nothing_of_the_host(self, store: Store) -> None:
        write(store, claimed("vm1", 0))
        before, log = store.read("h1"), store.audit("h1", last=9)
        with store.transaction("h1") as transaction:
            transaction.record_bindings({"p1": binding_record("p1")})
        assert (store.read("h1"), store.audit("h1", last=9)) == (before, log)

    def test_what_is_known_of_ports_is_stored_with_the_transaction_or_not_at_all(self, store: Store) -> None:
        with pytest.raises(Interrupted):
            record_and_fail(store)
        assert store.binding_records("h1") == {}

    def test_a_transaction_on_several_hosts_stores_all_or_nothing(self, store: Store) -> None:
        with store.transactions(["h2", "h1"]) as open_on:
            open_on["h1"].write(claimed("vm1", 1, claim="c1"), action="claim", at=NOW)
            open_on["h2"].write(claimed("vm1", 2, claim="c1"), action="claim", at=NOW)
        before = [store.read(host) for host in ("h1", "h2")]
        assert [list(state.held) for state in before] == [[address(1)], [address(2)]]
        with pytest.raises(Interrupted):
            write_on_both_and_fail(store)
        assert [store.read(host) for host in ("h1", "h2")] == before

    def test_transactions_that_name_hosts_in_another_order_do_not_wait_for_each_other(self, store: Store) -> None:
        def claim_on_both(worker: int) -> None:
            hosts = ["h1", "h2"] if worker % 2 else ["h2", "h1"]
            for turn in range(5):
                with store.transactions(hosts) as open_on:
                    for host in hosts:
                        slot = len(open_on[host].state().held)
                        change = claimed(f"vm{worker}-{turn}", slot, claim=f"c{worker}-{turn}")
                        open_on[host].write(change, action="claim", at=NOW)

        in_parallel(4, claim_on_both)
        assert [len(store.read(host).held) for host in ("h1", "h2")] == [20, 20]

    def test_threads_never_get_one_device_twice(self, store: Store) -> None:
        def claim_four(worker: int) -> None:
            for turn in range(4):
                claim_lowest(store, f"vm{worker}-{turn}")

        in_parallel(4, claim_four)
        state = store.read("h1")
        assert sorted(state.held) == [address(slot) for slot in range(16)]
        assert len({device.consumer for device in state.held.values()}) == 16


def claim_lowest(store: Store, consumer: str) -> None:
    """Claims the lowest free slot: reads, chooses and writes in one transaction."""
    with store.transaction("h1") as transaction:
        slot = len(transaction.state().held)
        transaction.write(claimed(consumer, slot, claim=f"claim of {consumer}"), action="claim", at=NOW)


def in_parallel(workers: int, work: Callable[[int], None]) -> None:
    """Runs the work in threads that start together, and raises what one of them raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(workers)

    def run(worker: int) -> None:
        start.wait()
        try:
            work(worker)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(worker,)) for worker in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
