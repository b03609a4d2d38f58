"""Which of several hosts is taken (rule C62)."""

import pytest

from domain.hosts import function, offered, take, tracker
from laneway.domain.tracking.host_weight import heaviest_first, pci_weight


@pytest.mark.parametrize(("free", "weight"), [(0, 100), (1, 99), (98, 2), (99, 1), (100, 1), (4096, 1)])
def test_the_fewer_are_free_the_more_a_host_weighs(free: int, weight: int) -> None:
    """Rule C62: nova's numbers."""
    assert pci_weight(free) == weight


def test_hosts_that_have_devices_are_kept_for_those_who_need_them() -> None:
    assert heaviest_first({"gpu": 8, "plain": 0, "nic": 4}) == ["plain", "nic", "gpu"]


def test_hosts_of_one_weight_stand_by_name() -> None:
    """Rule D34."""
    assert heaviest_first({"b": 200, "c": 0, "a": 99}) == ["c", "a", "b"]


def test_the_second_guest_goes_where_the_first_is() -> None:
    hosts = {name: tracker(function("0000:05:00.0"), function("0000:06:00.0")) for name in ("a", "b")}
    take(hosts["b"], "vm1")
    assert heaviest_first({name: offered(host) for name, host in hosts.items()})[0] == "b"
