"""The tracker: who holds what, and what that makes of the others."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.hosts import (
    A_PF,
    A_VF,
    allocate,
    at,
    blocks,
    claim,
    function,
    give_back,
    offered,
    opened,
    pf,
    report,
    statuses,
    take,
    tracker,
    used,
    vf,
    wants,
)
from laneway.domain.device import Attach, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, NotAssignable
from laneway.domain.requests.request import Constraint, ConstraintKind
from laneway.domain.tracking.claim import HostState
from laneway.domain.tracking.host_view import IommuGroups
from laneway.domain.tracking.tracker import PciDeviceTracker

PF = "0000:81:00.0"
VF0, VF1 = "0000:81:02.0", "0000:81:02.1"
NIC = (pf(PF), vf(VF0, PF), vf(VF1, PF))
CARD = "0000:3b:00.0"
OTHER = "0000:3d:00.0"
CARDS = (function(CARD), function(OTHER))
GPU, SOUND = "0000:0a:00.0", "0000:0a:00.1"
GROUPED = (
    function(GPU, product_id="1e07", iommu_group=20, class_code="030000", driver="vfio-pci"),
    function(SOUND, product_id="10f7", iommu_group=20, class_code="040300", driver="vfio-pci"),
)


def refused(code: ErrorCode) -> "pytest.RaisesExc[LanewayError]":
    return pytest.RaisesExc(LanewayError, check=lambda error: error.code is code)


def test_a_claim_takes_the_lowest_address_and_says_so() -> None:
    """Rule D34."""
    host = tracker(*CARDS)
    claimed = host.claim(claim("vm1"))
    assert claimed.record.devices == {"r": (at(CARD),)}
    assert statuses(host) == {CARD: Status.AVAILABLE, OTHER: Status.AVAILABLE}, "nothing changes before apply"
    host.apply(claimed.update)
    assert statuses(host) == {CARD: Status.CLAIMED, OTHER: Status.AVAILABLE}
    assert host.view.owned_by("vm1")[0].claim == "vm1-1"


def test_claimed_then_allocated_then_freed_is_as_before() -> None:
    """Rules C35, C38 and C39."""
    host = tracker(*NIC)
    before, pools = statuses(host), host.pools()
    assert allocate(host, "vm1", A_VF) == [VF0]
    assert statuses(host) == {PF: Status.UNAVAILABLE, VF0: Status.ALLOCATED, VF1: Status.AVAILABLE}
    give_back(host, "vm1")
    assert statuses(host) == before
    assert host.pools() == pools
    assert host.state == HostState()


def test_a_claimed_vf_makes_its_pf_unclaimable_and_an_allocated_one_unavailable() -> None:
    """Rules C37 and C38."""
    host = tracker(*NIC)
    take(host, "vm1", A_VF)
    assert statuses(host)[PF] is Status.UNCLAIMABLE
    host.apply(host.allocate(consumer="vm1"))
    assert statuses(host)[PF] is Status.UNAVAILABLE


def test_a_held_pf_takes_its_vfs_off_the_offer() -> None:
    """Rules C36 and C38."""
    host = tracker(*NIC)
    take(host, "vm1", A_PF)
    assert statuses(host) == {PF: Status.CLAIMED, VF0: Status.UNCLAIMABLE, VF1: Status.UNCLAIMABLE}
    assert host.pools() == []
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm2", A_VF))


def test_a_pf_is_back_when_the_last_of_its_vfs_is_freed() -> None:
    """Rule C39."""
    host = tracker(*NIC)
    allocate(host, "vm1", A_VF)
    allocate(host, "vm2", A_VF)
    for consumer in ("vm1", "vm2"):
        with refused(ErrorCode.DOES_NOT_FIT):
            host.claim(claim("vm3", A_PF))
        give_back(host, consumer)
    assert allocate(host, "vm3", A_PF) == [PF]


def test_a_pf_and_its_own_vf_never_go_to_one_consumer() -> None:
    """Rule D21."""
    host = tracker(*NIC)
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm1", replace(A_PF, name="a"), replace(A_VF, name="b")))
    take(host, "vm1", A_VF)
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm1", A_PF, claim_id="second"))


def test_a_vf_whose_pf_no_spec_admits_is_claimed_freely() -> None:
    """Rule C37."""
    host = tracker(*NIC, specs=[{"product_id": "154c"}])
    assert take(host, "vm1", A_VF) == [VF0]
    assert statuses(host) == {VF0: Status.CLAIMED, VF1: Status.AVAILABLE}


def test_members_of_one_iommu_group_go_to_one_consumer_together_or_later() -> None:
    host = tracker(*GROUPED)
    assert take(host, "vm1", wants(product_id="1e07")) == [GPU]
    assert statuses(host)[SOUND] is Status.UNCLAIMABLE
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm2", wants(product_id="10f7")))
    assert take(host, "vm1", wants(product_id="10f7"), claim_id="later") == [SOUND]


def test_groups_do_not_count_where_they_are_ignored() -> None:
    host = tracker(*GROUPED, iommu_groups=IommuGroups.IGNORE)
    take(host, "vm1", wants(product_id="1e07"))
    assert take(host, "vm2", wants(product_id="10f7")) == [SOUND]


@pytest.mark.parametrize(
    ("other", "viable"),
    [
        pytest.param({"driver": "snd_hda_intel"}, False, id="a member on a host driver that no spec admits"),
        pytest.param({"driver": "vfio-pci"}, True, id="a member on vfio-pci that no spec admits"),
        pytest.param({"driver": "mlx5_vfio_pci"}, True, id="a member on a variant of vfio-pci"),
        pytest.param({"driver": None}, True, id="a member without a driver"),
        pytest.param({"driver": "pcieport", "class_code": "060400"}, True, id="a bridge does not count"),
        pytest.param({"driver": "vfio-pci", "in_use_by": used()}, False, id="a member in use by the host"),
    ],
)
def test_a_group_is_viable_unless_a_member_is_in_the_hosts_hands(other: dict[str, object], viable: bool) -> None:
    member = replace(GROUPED[1], **other)  # type: ignore[arg-type]
    host = tracker(GROUPED[0], member, specs=[{"product_id": "1e07"}])
    assert blocks(host) == ({} if viable else {GPU: ["group_not_viable"]})
    assert offered(host) == int(viable)
    if not viable:
        (reason,) = host.view.blocked_by(at(GPU))
        assert SOUND in reason.message
        assert reason.detail == SOUND


def test_an_admitted_sibling_on_its_host_driver_does_not_refuse_a_claim() -> None:
    host = tracker(GROUPED[0], replace(GROUPED[1], driver="snd_hda_intel"))
    assert take(host, "vm1", wants(product_id="1e07")) == [GPU]


def test_a_group_that_is_not_viable_matters_to_vfio_alone() -> None:
    group = (
        pf(PF, iommu_group=7, driver="i40e"),
        vf(VF0, PF, iommu_group=7, driver="iavf"),
    )
    host = tracker(*group, specs=[{"product_id": "154c"}])
    assert blocks(host) == {VF0: ["group_not_viable"]}
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm1", A_VF))
    assert take(host, "vm1", replace(A_VF, attach=Attach.MACVTAP)) == [VF0]
    assert host.view.owned_by("vm1")[0].attach is Attach.MACVTAP


@pytest.mark.parametrize(
    ("functions", "blocked"),
    [
        pytest.param((pf(PF, in_use_by=used()), *NIC[1:]), {PF: ["in_use_by"]}, id="a PF in use gives its VFs out"),
        pytest.param(
            (NIC[0], replace(NIC[1], in_use_by=used()), NIC[2]),
            {PF: ["in_use_by"], VF0: ["in_use_by"]},
            id="a VF in use blocks its PF too",
        ),
        pytest.param((pf(PF, in_use_by=None), *NIC[1:]), {}, id="unknown host use blocks nothing"),
        pytest.param((pf(PF, in_use_by=()), *NIC[1:]), {}, id="known to be unused"),
    ],
)
def test_host_use_blocks_the_function_and_goes_up(functions: tuple[object, ...], blocked: dict[str, list[str]]) -> None:
    host = tracker(*functions)  # type: ignore[arg-type]
    assert blocks(host) == blocked
    assert offered(host) == 3 - len(blocked)


def test_a_spec_may_allow_what_is_in_use() -> None:
    host = tracker(function(CARD, in_use_by=used()), specs=[{"address": "*", "allow_in_use": True}])
    assert take(host, "vm1") == [CARD]


def test_a_device_open_in_an_unknown_process_is_blocked_until_it_is_owned() -> None:
    functions = (NIC[0], replace(NIC[1], opened_by=opened()), NIC[2])
    host = tracker(*functions)
    assert blocks(host) == {PF: ["opened_by"], VF0: ["opened_by"]}
    assert offered(host) == 1
    host.apply(host.adopt({at(VF0): "vm1"}))
    assert blocks(host) == {}
    assert statuses(host) == {PF: Status.UNAVAILABLE, VF0: Status.ALLOCATED, VF1: Status.AVAILABLE}
    give_back(host, "vm1")
    assert blocks(host) == {PF: ["opened_by"], VF0: ["opened_by"]}
    assert offered(host) == 1


def test_a_device_that_the_platform_cannot_give_away_is_blocked_by_that_code() -> None:
    host = tracker(function(CARD, not_assignable=(NotAssignable(code="reserved_memory"),)))
    assert blocks(host) == {CARD: ["reserved_memory"]}


def test_a_cordoned_device_is_not_offered_and_its_owner_keeps_it() -> None:
    host = tracker(*CARDS)
    take(host, "vm1")
    for address in (CARD, OTHER):
        host.apply(host.cordon(at(address), "smells burnt"))
    assert blocks(host) == {CARD: ["cordoned"], OTHER: ["cordoned"]}
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm2"))
    assert [str(device.address) for device in host.view.owned_by("vm1")] == [CARD]
    host.apply(host.uncordon(at(OTHER)))
    assert take(host, "vm2") == [OTHER]


def test_a_device_may_be_blocked_for_several_reasons_and_each_is_lifted_alone() -> None:
    """What Laneway found wrong, and found right again, says nothing of why an operator cordoned the device."""
    host = tracker(function(CARD))
    host.apply(host.cordon(at(CARD), "smells burnt"))
    for message in ("its cleaning failed", "its cleaning failed again"):
        host.apply(host.block(at(CARD), "cleaning_failed", message))
    host.apply(host.block(at(CARD), "fatal_errors", "its link fails"))
    assert host.block(at(CARD), "fatal_errors", "its link fails").is_empty
    assert [reason.message for reason in host.view.blocked_by(at(CARD))] == [
        "cordoned by an operator: smells burnt",
        "its cleaning failed again",
        "its link fails",
    ]
    host.apply(host.unblock(at(CARD), "cleaning_failed"))
    assert blocks(host) == {CARD: ["cordoned", "fatal_errors"]}
    assert host.unblock(at(CARD), "cleaning_failed").is_empty
    host.apply(host.uncordon(at(CARD)))
    assert host.state.blocks == {}


def test_a_second_claim_of_a_consumer_adds_to_the_first() -> None:
    """Rule D22."""
    host = tracker(*CARDS)
    take(host, "vm1")
    take(host, "vm1", claim_id="second")
    assert [str(device.address) for device in host.view.owned_by("vm1")] == [CARD, OTHER]
    host.apply(host.free(claim="second"))
    assert [str(device.address) for device in host.view.owned_by("vm1")] == [CARD]


def test_the_same_claim_is_answered_the_same_and_another_of_its_id_is_a_conflict() -> None:
    host = tracker(*CARDS)
    first = host.claim(claim("vm1"))
    host.apply(first.update)
    again = host.claim(claim("vm1"))
    assert again.repeated
    assert again.record == first.record
    assert again.update.is_empty
    with refused(ErrorCode.CLAIM_CONFLICT):
        host.claim(claim("vm2", claim_id="vm1-1"))
    with refused(ErrorCode.CLAIM_CONFLICT):
        host.claim(claim("vm1", wants(count=2)))


def test_a_repeated_claim_of_which_a_part_was_freed_is_answered_with_what_is_left_of_it() -> None:
    host = tracker(*CARDS)
    take(host, "vm1", wants(count=2))
    host.apply(host.free(addresses=[at(CARD)]))
    take(host, "vm2")
    again = host.claim(claim("vm1", wants(count=2)))
    assert (again.repeated, again.update.is_empty) == (True, True)
    assert again.record.devices == {"r": (at(OTHER),)}, "what was freed may be another's by now"
    host.apply(host.free(addresses=[at(OTHER)]))
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm1", wants(count=2)))


def test_a_claim_that_fails_leaves_everything_as_it_was() -> None:
    """Rules C45 and D20."""
    host = tracker(*CARDS, *NIC)
    before, state, pools = statuses(host), host.state, host.pools()
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm1", wants("a", 2, product_id="37c8"), wants("b", product_id="ffff")))
    assert (statuses(host), host.state, host.pools()) == (before, state, pools)


def test_a_claim_on_a_host_without_devices_is_refused() -> None:
    """Rule D23."""
    with refused(ErrorCode.DOES_NOT_FIT):
        tracker().claim(claim("vm1"))


@pytest.mark.parametrize("consumer", ["", " ", "\t\n", "\u2003", "x" * 256])
def test_a_consumer_has_one_to_255_characters_and_is_not_blank(consumer: str) -> None:
    with refused(ErrorCode.INVALID_REQUEST):
        tracker(*CARDS).claim(claim(consumer, claim_id="c"))


def test_nothing_is_allocated_without_a_claim() -> None:
    with refused(ErrorCode.NO_CLAIM):
        tracker(*CARDS).allocate(consumer="vm1")


def test_freeing_nothing_is_fine() -> None:
    host = tracker(*CARDS)
    assert host.free(consumer="nobody").is_empty
    assert host.free(claim="none").is_empty
    assert host.free(addresses=[at(CARD)]).is_empty


def test_nobody_frees_the_device_of_another() -> None:
    """Rule C39."""
    host = tracker(*CARDS)
    take(host, "vm1")
    with refused(ErrorCode.NOT_OWNER):
        host.free(consumer="vm2", addresses=[at(CARD)])
    with refused(ErrorCode.NOT_OWNER):
        host.allocate(consumer="vm2", claim="vm1-1")


def test_one_device_of_a_claim_can_be_freed() -> None:
    host = tracker(*CARDS)
    take(host, "vm1", wants(count=2))
    host.apply(host.free(consumer="vm1", addresses=[at(CARD)]))
    assert statuses(host) == {CARD: Status.AVAILABLE, OTHER: Status.CLAIMED}
    assert host.view.claims["vm1-1"].devices == {"r": (at(OTHER),)}
    host.apply(host.free(consumer="vm1", addresses=[at(OTHER)]))
    assert host.state == HostState()


def test_cleanup_frees_consumers_that_are_gone() -> None:
    """Rule C44."""
    host = tracker(*CARDS)
    take(host, "vm1")
    allocate(host, "vm2")
    host.apply(host.cleanup(["vm1"]))
    assert statuses(host) == {CARD: Status.CLAIMED, OTHER: Status.AVAILABLE}


NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 12, 1, 13, tzinfo=UTC)


def test_a_claim_expires_unless_it_was_allocated() -> None:
    host = tracker(*CARDS)
    for consumer in ("vm1", "vm2"):
        host.apply(host.claim(claim(consumer), expires_at=NOON).update)
    host.apply(host.allocate(consumer="vm2"))
    host.apply(host.expire(LATER))
    assert statuses(host) == {CARD: Status.AVAILABLE, OTHER: Status.ALLOCATED}


def test_a_claim_does_not_expire_while_a_guest_has_a_device_open() -> None:
    host = tracker(function(CARD))
    host.apply(host.claim(claim("vm1"), expires_at=NOON).update)
    host = host.sync(report(function(CARD, opened_by=opened()))).tracker
    assert host.expire(LATER).is_empty


def test_a_one_time_use_device_is_dirty_until_it_is_cleaned() -> None:
    """Rule D19."""
    host = tracker(function(CARD), specs=[{"address": "*", "one_time_use": True}])
    allocate(host, "vm1")
    give_back(host, "vm1")
    assert statuses(host) == {CARD: Status.DIRTY}
    assert host.pools() == []
    host.apply(host.cleaned(at(CARD)))
    assert statuses(host) == {CARD: Status.AVAILABLE}
    assert offered(host) == 1


def test_a_device_to_be_cleaned_stays_dirty_though_it_was_gone_when_it_was_freed() -> None:
    once: list[object] = [{"address": "*", "one_time_use": True}]
    host = tracker(function(CARD), specs=once)
    allocate(host, "vm1")
    host = after(host, specs=once)
    give_back(host, "vm1")
    host = after(host, function(CARD), specs=once)
    assert statuses(host) == {CARD: Status.DIRTY}
    host.apply(host.cleaned(at(CARD)))
    assert statuses(host) == {CARD: Status.AVAILABLE}


def test_a_claim_that_is_given_up_does_not_make_a_device_dirty() -> None:
    host = tracker(function(CARD), specs=[{"address": "*", "one_time_use": True}])
    take(host, "vm1")
    give_back(host, "vm1")
    assert statuses(host) == {CARD: Status.AVAILABLE}


def test_a_dirty_vf_keeps_its_pf_unavailable() -> None:
    host = tracker(*NIC, specs=[{"product_id": "154c", "one_time_use": True}, {"product_id": "1572"}])
    allocate(host, "vm1", A_VF)
    give_back(host, "vm1")
    assert statuses(host) == {PF: Status.UNAVAILABLE, VF0: Status.DIRTY, VF1: Status.AVAILABLE}


def test_what_cannot_follow_is_refused_with_what_would_be_right() -> None:
    """Rule C34."""
    with pytest.raises(LanewayError, match=r"0000:3b:00\.0 is available; clean needs a device that is dirty"):
        tracker(*CARDS).cleaned(at(CARD))
    with refused(ErrorCode.UNKNOWN_DEVICE):
        tracker(*CARDS).cordon(at("0000:ff:00.0"))


def after(host: PciDeviceTracker, *functions: object, **rest: object) -> PciDeviceTracker:
    return host.sync(report(*functions, **rest)).tracker  # type: ignore[arg-type]


def test_a_sync_without_news_is_the_same_tracker() -> None:
    host = tracker(*NIC)
    synced = host.sync(report(*(replace(f) for f in NIC)))
    assert synced.tracker is host
    assert (synced.appeared, synced.vanished, synced.changed) == ((), (), ())


def test_a_sync_names_what_appeared_vanished_and_changed() -> None:
    synced = tracker(*NIC).sync(report(NIC[0], replace(NIC[1], numa_node=1), function(CARD)))
    assert [str(device.address) for device in synced.appeared] == [CARD]
    assert [str(device.address) for device in synced.vanished] == [VF1]
    assert [str(device.address) for device in synced.changed] == [VF0]


def test_an_owned_device_that_vanishes_stays_and_is_nobody_elses_when_it_returns() -> None:
    """Rules C33, C40 and D28."""
    host = tracker(*NIC)
    allocate(host, "vm1", A_VF)
    host = after(host, NIC[0], NIC[2])
    assert statuses(host)[VF0] is Status.ALLOCATED
    host = after(host, *NIC)
    assert statuses(host)[VF0] is Status.ALLOCATED
    assert offered(host) == 1


def test_an_owned_device_that_is_gone_leaves_when_it_is_freed() -> None:
    """Rules C40 and C43."""
    host = tracker(*CARDS)
    allocate(host, "vm1")
    host = after(host, CARDS[1])
    give_back(host, "vm1")
    assert statuses(host) == {OTHER: Status.AVAILABLE}


def test_an_owned_device_that_no_spec_admits_any_more_leaves_when_it_is_freed() -> None:
    """Rules C40 and C91."""
    host = tracker(*CARDS)
    allocate(host, "vm1")
    host = after(host, *CARDS, specs=[{"address": OTHER}])
    assert statuses(host)[CARD] is Status.ALLOCATED
    give_back(host, "vm1")
    assert statuses(host) == {OTHER: Status.AVAILABLE}


def test_a_change_of_an_owned_device_waits_until_it_is_freed() -> None:
    """Rules C33, C41 and D36."""
    host = tracker(function(CARD, numa_node=0))
    allocate(host, "vm1")
    host = after(
        host,
        pf(CARD, product_id="37c8", numa_node=1, iommu_group=9, driver="vfio-pci"),
        specs=[{"address": "*", "colour": "blue"}],
    )
    device = host.view.owned_by("vm1")[0]
    assert (device.dev_type, device.numa_node, dict(device.tags)) == (DevType.PCI, 0, {})
    assert (device.function.iommu_group, device.function.driver) == (9, "vfio-pci"), "always today's"
    give_back(host, "vm1")
    (pool,) = host.pools()
    assert (pool.key.dev_type, pool.key.numa_node, pool.key.tags) == (DevType.PF, 1, (("colour", "blue"),))
    assert take(host, "vm2", wants(dev_type=DevType.PF, tags={"colour": "blue"})) == [CARD]


def test_other_ids_at_the_address_of_an_owned_device_are_another_device() -> None:
    host = tracker(function(CARD))
    allocate(host, "vm1")
    host = after(host, function(CARD, product_id="beef"))
    assert host.view.owned_by("vm1")[0].product_id == "37c8"
    assert blocks(host) == {CARD: ["wrong_device"]}
    give_back(host, "vm1")
    (pool,) = host.pools()
    assert pool.key.product_id == "beef"


def test_a_free_device_that_changes_is_in_its_new_pool_at_once() -> None:
    """Rules C42 and D25."""
    host = after(tracker(function(CARD)), pf(CARD, product_id="37c8"), vf("0000:3b:01.0", CARD))
    assert [pool.key.dev_type for pool in host.pools()] == [DevType.VF, DevType.PF]
    take(host, "vm1", A_VF)
    assert statuses(host)[CARD] is Status.UNCLAIMABLE


def test_a_vf_that_appears_under_a_held_pf_is_not_offered() -> None:
    """Rule D26."""
    host = tracker(NIC[0])
    allocate(host, "vm1", A_PF)
    host = after(host, *NIC)
    assert offered(host) == 0
    give_back(host, "vm1")
    assert offered(host) == 3


def test_a_pf_that_is_admitted_while_a_vf_is_held_is_not_offered() -> None:
    """Rule D26."""
    host = tracker(*NIC, specs=[{"product_id": "154c"}])
    allocate(host, "vm1", A_VF)
    host = after(host, *NIC)
    assert statuses(host)[PF] is Status.UNAVAILABLE
    give_back(host, "vm1")
    assert statuses(host)[PF] is Status.AVAILABLE


def test_a_pf_whose_type_changed_never_goes_away_under_a_held_vf() -> None:
    """Rule D29."""
    host = tracker(*NIC)
    allocate(host, "vm1", A_VF)
    host = after(host, function(PF, product_id="1572"), *NIC[1:])
    with refused(ErrorCode.DOES_NOT_FIT):
        host.claim(claim("vm2", wants(product_id="1572")))


def test_a_pf_whose_last_vf_vanishes_is_available_again() -> None:
    """Rule D28."""
    host = after(tracker(*NIC), NIC[0])
    assert statuses(host) == {PF: Status.AVAILABLE}


def test_vfs_whose_pf_vanishes_are_devices_of_their_own() -> None:
    """Rule D28."""
    host = tracker(*NIC)
    allocate(host, "vm1", A_PF)
    host = after(host, *NIC[1:])
    assert statuses(host) == {PF: Status.ALLOCATED, VF0: Status.UNAVAILABLE, VF1: Status.UNAVAILABLE}
    give_back(host, "vm1")
    assert statuses(host) == {VF0: Status.AVAILABLE, VF1: Status.AVAILABLE}


def test_a_tracker_over_the_stored_state_is_the_tracker() -> None:
    """Rule C47."""
    host = tracker(*NIC, *GROUPED)
    allocate(host, "vm1", A_VF)
    take(host, "vm2", wants(product_id="1e07"))
    host.apply(host.cordon(at(VF1)))
    again = tracker(*NIC, *GROUPED, state=host.state)
    assert statuses(again) == statuses(host)
    assert again.pools() == host.pools()
    assert blocks(again) == blocks(host)


def test_a_constraint_on_groups_looks_at_the_group_of_each_device() -> None:
    vfs = [replace(vf(f"0000:81:02.{n}", PF), iommu_group=40 + n) for n in range(3)]
    host = tracker(pf(PF, iommu_group=39), *vfs)
    names = ("a", "b")
    requests = [replace(A_VF, name=name) for name in names]
    distinct = Constraint(kind=ConstraintKind.DISTINCT, attribute="iommu_group", requests=names)
    assert take(host, "vm1", *requests, constraints=(distinct,)) == ["0000:81:02.0", "0000:81:02.1"]
    give_back(host, "vm1")
    with refused(ErrorCode.DOES_NOT_FIT):
        match = replace(distinct, kind=ConstraintKind.MATCH)
        host.claim(claim("vm1", *requests, constraints=(match,)))
