import pytest

from laneway.store.memory import MemoryStore
from store.contract import ACTOR, StoreContract
from store.samples import NOW, claimed


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore(actor=ACTOR)

    def test_hosts_do_not_wait_for_each_other(self, store: MemoryStore) -> None:
        with store.transaction("h1") as first, store.transaction("h2") as second:
            first.write(claimed("vm1", 0), action="claim", at=NOW)
            second.write(claimed("vm2", 0), action="claim", at=NOW)
        assert store.hosts() == ["h1", "h2"]
