"""Pools, and the index of what is on offer."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from domain.hosts import A_VF, at, function, inventory, pf, take, tracker, vf, wants
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.tracking.pools import Pool, pool_key
from laneway.domain.tracking.tracker import PciDeviceTracker

PF = "0000:81:00.0"
NIC = (pf(PF, numa_node=0), *(vf(f"0000:81:02.{index}", PF, numa_node=0) for index in range(4)))


def counts(host: PciDeviceTracker) -> dict[tuple[str, DevType, str], int]:
    return {(pool.key.product_id, pool.key.dev_type, str(pool.key.parent)): pool.count for pool in host.pools()}


def test_vfs_of_one_pf_are_one_pool_and_the_pf_is_another() -> None:
    """Rule C49."""
    assert counts(tracker(*NIC)) == {("154c", DevType.VF, PF): 4, ("1572", DevType.PF, PF): 1}


def test_the_key_has_no_tags_that_only_placement_looks_at() -> None:
    """Rule C49."""
    host = tracker(*NIC, specs=[{"address": "*", "resource_class": "X", "traits": "a,b", "colour": "blue"}])
    assert {pool.key.tags for pool in host.pools()} == {(("colour", "blue"),)}


def test_pools_are_sorted_by_their_keys_with_an_unknown_node_first() -> None:
    cards = [function(f"0000:3b:00.{n}", numa_node=node) for n, node in enumerate([1, None, 0])]
    assert [pool.key.numa_node for pool in tracker(*cards).pools()] == [None, 0, 1]


def test_a_claim_leaves_a_pool_and_takes_its_pf_off_the_offer() -> None:
    host = tracker(*NIC)
    take(host, "vm1", A_VF)
    assert counts(host) == {("154c", DevType.VF, PF): 3}


def test_one_device_is_taken_from_a_nic_that_has_lost_its_pf_already() -> None:
    other = [replace(f, address=at(str(f.address).replace(":81:", ":41:"))) for f in NIC]
    other = [replace(f, parent_addr=at("0000:41:00.0")) if f.parent_addr else f for f in other]
    host = tracker(*NIC, *other)
    assert take(host, "vm1", A_VF) == ["0000:41:02.0"], "the lowest address, both NICs being whole"
    assert take(host, "vm2", A_VF) == ["0000:41:02.1"], "the other NIC would lose its PF"


def test_a_nic_that_has_lost_its_pf_is_known_as_one_to_its_vfs_of_another_kind() -> None:
    other = "0000:41:00.0"
    host = tracker(
        *(pf(PF), vf("0000:81:02.0", PF), vf("0000:81:02.1", PF, product_id="beef")),
        *(pf(other), vf("0000:41:02.0", other, product_id="beef")),
    )
    assert take(host, "vm1", A_VF, claim_id="c1") == ["0000:41:02.0"]
    host.apply(host.free(claim="c1"))
    take(host, "vm1", wants(dev_type=DevType.VF, product_id="154c"))
    assert take(host, "vm2", wants(dev_type=DevType.VF, product_id="beef")) == ["0000:81:02.1"]


def test_a_claim_of_several_devices_closes_relatives_of_each() -> None:
    """The group closes the other PF, and so a VF of that loses nothing any more, whatever is looked at first."""
    other = "0000:82:00.0"
    group = (pf(PF, iommu_group=2), pf(other, iommu_group=2), function("0000:83:10.0", iommu_group=2))
    whole = (pf("0000:41:00.0"), vf("0000:41:02.0", "0000:41:00.0", product_id="beef"))
    vfs = (vf("0000:81:02.0", PF, product_id="beef"), vf("0000:82:02.0", other))
    host = tracker(*group, *vfs, *whole)
    take(host, "vm1", wants("a", product_id="154c", dev_type=DevType.VF), wants("b", product_id="37c8"))
    assert take(host, "vm2", wants(product_id="beef")) == ["0000:81:02.0"]


def test_a_vf_is_taken_where_the_pf_is_blocked_rather_than_where_it_is_on_offer() -> None:
    blocked = [replace(f, address=at(str(f.address).replace(":81:", ":c1:"))) for f in NIC]
    blocked = [replace(f, parent_addr=at("0000:c1:00.0")) if f.parent_addr else f for f in blocked]
    host = tracker(*NIC, *blocked)
    host.apply(host.cordon(at("0000:c1:00.0")))
    assert take(host, "vm1", A_VF) == ["0000:c1:02.0"]


@given(st.permutations(NIC))
def test_the_order_in_which_functions_are_reported_does_not_matter(functions: list[PciFunction]) -> None:
    host = tracker(*functions)
    assert host.pools() == tracker(*NIC).pools()
    assert take(host, "vm1", A_VF) == ["0000:81:02.0"]


@given(st.lists(st.sampled_from(NIC), unique=True), st.sampled_from([None, 0, 1]))
def test_pools_are_what_counting_the_devices_one_by_one_gives(functions: list[PciFunction], node: int | None) -> None:
    """Rule D27."""
    host = tracker(*(replace(f, numa_node=node) for f in functions))
    devices = [host.view.admitted[f.address] for f in inventory(*functions).functions]
    keys = [pool_key(device) for device in devices]
    assert sorted(host.pools(), key=str) == sorted((Pool(key, keys.count(key)) for key in set(keys)), key=str)
