"""What a host tells Placement, by the rules: each test names the one that it shows."""

from dataclasses import replace
from typing import Any

import pytest

from domain.hosts import A_PF, PLAIN, allocate, function, give_back, opened, pf, take, tracker, used, vf, wants
from interfaces.fake_placement import HOST, ROOT, FakePlacement, conflict, vm
from laneway.domain.device import Status
from laneway.domain.errors import ConfigError, ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import HostState, MoveKind, MoveOrigin
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.interfaces.placement import ResourceInventory, StandardNames
from laneway.openstack.provider_reporting import ROUNDS, ReportingOff, ReportingOn

CARD = function("0000:3b:00.0", vendor_id="10de", product_id="20b0")
PF = pf("0000:81:00.0")
VFS = [vf(f"0000:81:02.{number}", "0000:81:00.0") for number in range(4)]
GPU_CLASS = "CUSTOM_PCI_10DE_20B0"
VF_CLASS = "CUSTOM_PCI_8086_154C"
ONLY_VFS = {"product_id": "154c"}
ONE_USE = {"address": "*", "one_time_use": True}


def some(total: int, reserved: int = 0) -> ResourceInventory:
    return ResourceInventory(total=total, max_unit=total, reserved=reserved)


@pytest.fixture
def placement() -> FakePlacement:
    return FakePlacement()


class Reporting:
    """A reporter over the fake, for hosts of one tracker after another."""

    def __init__(self, placement: FakePlacement) -> None:
        self._reporter = ReportingOn(lambda: placement)
        self._placement = placement

    def __call__(self, host: PciDeviceTracker) -> None:
        self._reporter.report(HOST, host.view)

    def is_in_step(self, host: PciDeviceTracker) -> bool:
        """Whether one more report writes nothing."""
        before = len(self._placement.applied)
        self(host)
        return len(self._placement.applied) == before

    def problems(self, host: PciDeviceTracker) -> list[str]:
        """What the config is to blame for."""
        with pytest.raises(ConfigError) as caught:
            self(host)
        assert {problem.code for problem in caught.value.problems} == {ErrorCode.INVALID_DEVICE_SPEC}
        return [problem.message for problem in caught.value.problems]

    def others(self, host: PciDeviceTracker) -> list[str]:
        """What it is not to blame for."""
        with pytest.raises(LanewayError) as caught:
            self(host)
        assert caught.value.code is ErrorCode.NOT_REPORTABLE
        return caught.value.message.split("\n")


@pytest.fixture
def report(placement: FakePlacement) -> Reporting:
    return Reporting(placement)


def names(placement: FakePlacement) -> list[str]:
    return sorted(provider.name for provider in placement.providers.values())


# P1 and P2: which providers there are


def test_p1_each_device_has_a_provider_below_the_host_named_by_its_address_in_capitals(
    placement: FakePlacement, report: Reporting
) -> None:
    """P1."""
    report(tracker(CARD, pf("0000:af:00.0")))
    assert names(placement) == ["node-1_0000:3B:00.0", "node-1_0000:AF:00.0"]
    assert {provider.parent for provider in placement.providers.values()} == {ROOT}


def test_p1_the_uuid_of_a_provider_is_chosen_here_and_always_the_same(placement: FakePlacement) -> None:
    """P1: a repeated request cannot make a second one."""
    Reporting(placement)(tracker(CARD))
    other = FakePlacement()
    Reporting(other)(tracker(CARD))
    assert placement.providers.keys() == other.providers.keys()


def test_p1_a_provider_that_nova_made_is_taken_over_with_its_uuid(placement: FakePlacement, report: Reporting) -> None:
    """P1: an operator comes from nova, whose uuids are random."""
    uuid = placement.put("0000:3B:00.0", {GPU_CLASS: some(1)}, "COMPUTE_MANAGED_PCI_DEVICE", "OWNER_NOVA").uuid
    report(tracker(CARD))
    assert list(placement.providers) == [uuid]
    assert placement.applied == []


def test_p2_the_vfs_of_one_pf_are_the_inventory_of_its_provider_also_where_no_entry_admits_the_pf(
    placement: FakePlacement, report: Reporting
) -> None:
    """P2."""
    report(tracker(PF, *VFS, specs=[ONLY_VFS]))
    assert names(placement) == ["node-1_0000:81:00.0"]
    assert placement.named("0000:81:00.0").inventories == {VF_CLASS: some(4)}


def test_p2_vdpa_devices_too(placement: FakePlacement, report: Reporting) -> None:
    """P2."""
    vdpa = replace(VFS[0], dev_type=DevType.VDPA)
    report(tracker(PF, vdpa, specs=[ONLY_VFS]))
    assert placement.named("0000:81:00.0").inventories == {VF_CLASS: some(1)}


def test_p2_a_vf_without_a_known_pf_is_told_and_all_others_are_reported(
    placement: FakePlacement, report: Reporting
) -> None:
    """P2."""
    host = tracker(CARD, replace(VFS[0], parent_addr=None))
    assert report.others(host) == [
        "0000:81:02.0 has no known PF, to whose provider it would belong; find out why the host hides it"
    ]
    assert names(placement) == ["node-1_0000:3B:00.0"]


# P3 to P6: what a provider says


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        pytest.param({}, "CUSTOM_PCI_10DE_20B0", id="made of the ids"),
        pytest.param({"resource_class": "gpu a-100"}, "CUSTOM_GPU_A_100", id="in capitals, runs of others as one _"),
        pytest.param({"resource_class": "CUSTOM_GPU"}, "CUSTOM_GPU", id="marked as custom already"),
        pytest.param({"resource_class": "vgpu"}, "VGPU", id="one of Placement's own"),
        pytest.param({"resource_class": "custom_vgpu"}, "CUSTOM_VGPU", id="custom, beside one of Placement's own"),
        pytest.param({"resource_class": " "}, "CUSTOM_PCI_10DE_20B0", id="blank, as if it were not there"),
    ],
)
def test_p3_the_resource_class(tag: dict[str, str], expected: str, placement: FakePlacement, report: Reporting) -> None:
    """P3."""
    report(tracker(CARD, specs=[{"address": "*", **tag}]))
    assert placement.named("0000:3B:00.0").inventories == {expected: some(1)}


def test_p4_an_inventory_has_total_and_max_unit_and_otherwise_the_defaults(
    placement: FakePlacement, report: Reporting
) -> None:
    """P4: also where somebody has changed them by hand."""
    by_hand = replace(some(1), allocation_ratio=16.0, min_unit=2, step_size=2)
    placement.put("0000:3B:00.0", {GPU_CLASS: by_hand}, "COMPUTE_MANAGED_PCI_DEVICE")
    report(tracker(CARD))
    assert placement.named("0000:3B:00.0").inventories == {
        GPU_CLASS: ResourceInventory(total=1, max_unit=1, reserved=0, min_unit=1, step_size=1, allocation_ratio=1.0)
    }


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"in_use_by": used()}, id="which the host uses"),
        pytest.param({"opened_by": opened()}, id="which an unknown process has open"),
    ],
)
def test_p4_a_device_that_nobody_could_claim_is_reserved(
    facts: dict[str, Any], placement: FakePlacement, report: Reporting
) -> None:
    """P4: nova would have Placement offer it, and the claim fail."""
    report(tracker(PF, replace(VFS[0], **facts), *VFS[1:], specs=[ONLY_VFS]))
    assert placement.named("0000:81:00.0").inventories == {VF_CLASS: some(4, reserved=1)}
    report(tracker(PF, *VFS, specs=[ONLY_VFS]))
    assert placement.named("0000:81:00.0").inventories == {VF_CLASS: some(4)}


def test_p4_a_cordoned_device_is_reserved_until_it_is_uncordoned(placement: FakePlacement, report: Reporting) -> None:
    """P4."""
    host = tracker(CARD)
    host.apply(host.cordon(CARD.address))
    report(host)
    assert placement.free("0000:3B:00.0") == 0
    host.apply(host.uncordon(CARD.address))
    report(host)
    assert placement.free("0000:3B:00.0") == 1


def test_p4_what_a_consumer_owns_that_placement_does_not_know_is_reserved(
    placement: FakePlacement, report: Reporting
) -> None:
    """P4: a VM that was started by hand."""
    host = tracker(PF, *VFS, specs=[ONLY_VFS])
    take(host, "db-1", wants(count=3))
    report(host)
    assert placement.named("0000:81:00.0").inventories == {VF_CLASS: some(4, reserved=3)}
    give_back(host, "db-1")
    report(host)
    assert placement.free("0000:81:00.0") == 4


def test_p5_the_traits_are_those_of_the_tag_and_those_that_other_tags_stand_for(
    placement: FakePlacement, report: Reporting
) -> None:
    """P5."""
    entry = {"address": "*", "traits": "blue, HW_NIC_SRIOV,custom_big", "live_migratable": True, "one_time_use": "yes"}
    report(tracker(CARD, specs=[entry]))
    assert placement.named("0000:3B:00.0").traits == {
        "CUSTOM_BLUE",
        "CUSTOM_BIG",
        "HW_NIC_SRIOV",
        "HW_PCI_LIVE_MIGRATABLE",
        "HW_PCI_ONE_TIME_USE",
        "COMPUTE_MANAGED_PCI_DEVICE",
        "OWNER_NOVA",
    }


def test_p5_an_older_placement_that_knows_no_owner_trait_is_told_none(placement: FakePlacement) -> None:
    """P5: it came with os-traits 3.0."""
    known = placement.standard_names()
    placement.standard_names = lambda: StandardNames(  # type: ignore[method-assign]
        known.resource_classes, known.traits - {"OWNER_NOVA"}
    )
    Reporting(placement)(tracker(CARD))
    assert placement.named("0000:3B:00.0").traits == {"COMPUTE_MANAGED_PCI_DEVICE"}


@pytest.mark.parametrize(
    ("physical_network", "reported"),
    [
        pytest.param("physnet1", [], id="of a named network: not"),
        pytest.param(None, ["node-1_0000:81:00.0"], id="of null, which is tunnelled: yes"),
    ],
)
def test_p6_devices_of_physical_networks(
    physical_network: str | None, reported: list[str], placement: FakePlacement, report: Reporting
) -> None:
    """P6."""
    report(tracker(PF, *VFS, specs=[{**ONLY_VFS, "physical_network": physical_network}]))
    assert names(placement) == reported


# P7 and P8: what leaves


def test_p7_the_provider_of_a_device_that_is_gone_is_deleted(placement: FakePlacement, report: Reporting) -> None:
    """P7: by a config that lets out less, or a card that was taken out (C93)."""
    report(tracker(CARD, PF, *VFS, specs=[ONLY_VFS, {"vendor_id": "10de"}]))
    report(tracker(CARD, specs=[{"vendor_id": "10de"}]))
    assert names(placement) == ["node-1_0000:3B:00.0"]


def test_p7_providers_of_others_are_never_deleted(placement: FakePlacement, report: Reporting) -> None:
    """P7."""
    placement.put("0000:5E:00.0", {"VGPU": some(8)})
    report(tracker())
    assert names(placement) == ["node-1_0000:5E:00.0"]


def test_p7_reporting_cannot_be_turned_off_where_devices_were_reported(placement: FakePlacement) -> None:
    """P7 and C87: until an operator has deleted them."""
    card = placement.put("0000:3B:00.0", {GPU_CLASS: some(1)}, "COMPUTE_MANAGED_PCI_DEVICE")
    off = ReportingOff(lambda: placement)
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"report_in_placement is off, but Placement has 1 PCI .*3B:00\.0"):
            off.report(HOST, tracker(CARD).view)
    del placement.providers[card.uuid]
    off.report(HOST, tracker(CARD).view)


def test_p7_providers_of_others_do_not_keep_reporting_on(placement: FakePlacement) -> None:
    """P7."""
    placement.put("0000:3B:00.0", {GPU_CLASS: some(1)})
    ReportingOff(lambda: placement).report(HOST, tracker(CARD).view)


def test_p7_with_reporting_off_a_placement_that_does_not_answer_is_asked_once_and_stops_nothing() -> None:
    """P7."""
    asked = []

    def connect() -> FakePlacement:
        asked.append(1)
        raise LanewayError(ErrorCode.PLACEMENT_UNREACHABLE, "nobody there")

    off = ReportingOff(connect)
    for _ in range(2):
        off.report(HOST, tracker(CARD).view)
    assert asked == [1]


def test_p8_a_provider_in_use_is_not_deleted_but_offers_nothing_more(
    placement: FakePlacement, report: Reporting
) -> None:
    """P8: Laneway knows of no owner, but Placement does."""
    report(tracker(PF, *VFS, specs=[ONLY_VFS]))
    placement.has(1, {"0000:81:00.0": 2})
    report(tracker())
    kept = placement.named("0000:81:00.0")
    assert kept.inventories == {VF_CLASS: some(2)}
    assert "COMPUTE_MANAGED_PCI_DEVICE" in kept.traits
    placement.forget(1)
    report(tracker())
    assert names(placement) == []


def test_p8_the_total_is_never_less_than_what_is_allocated(placement: FakePlacement, report: Reporting) -> None:
    """P8: three VFs were taken away, of which Placement has given away two."""
    report(tracker(PF, *VFS, specs=[ONLY_VFS]))
    placement.has(1, {"0000:81:00.0": 3})
    report(tracker(PF, VFS[0], specs=[ONLY_VFS]))
    assert placement.named("0000:81:00.0").inventories == {VF_CLASS: some(3)}


def test_p8_what_is_held_over_keeps_the_class_and_the_traits_that_are_allocated(
    placement: FakePlacement, report: Reporting
) -> None:
    """P8, C91: the entry was taken out while a VM has the device."""
    host = tracker(CARD, specs=[{"address": "*", "resource_class": "gpu", "traits": "big"}])
    report(host)
    placement.has(1, {"0000:3B:00.0": 1})
    allocate(host, vm(1), PLAIN)
    without = tracker(CARD, specs=[], state=host.state)
    before = placement.named("0000:3B:00.0")
    report(without)
    after = placement.named("0000:3B:00.0")
    assert (after.inventories, after.traits) == (before.inventories, before.traits)
    give_back(without, vm(1))
    placement.forget(1)
    report(without)
    assert names(placement) == []


def test_p8_what_is_held_over_keeps_what_was_reported_of_it_also_if_it_was_claimed_before_that(
    placement: FakePlacement, report: Reporting
) -> None:
    """P8, C91: the class and the traits came into the config after the claim."""
    host = tracker(CARD)
    allocate(host, vm(1), PLAIN)
    placement.has(1)
    report(tracker(CARD, specs=[{"address": "*", "resource_class": "gpu", "traits": "big"}], state=host.state))
    before = placement.named("0000:3B:00.0")
    assert report.is_in_step(tracker(CARD, specs=[], state=host.state))
    assert placement.named("0000:3B:00.0") == before


# P9: devices for one use


def test_p9_a_device_for_one_use_is_burned_when_it_is_allocated_and_offered_again_when_it_is_clean(
    placement: FakePlacement, report: Reporting
) -> None:
    """P9, D19."""
    host = tracker(CARD, specs=[ONE_USE])
    report(host)
    assert placement.free("0000:3B:00.0") == 1
    placement.has(1, {"0000:3B:00.0": 1})
    take(host, vm(1), PLAIN)
    report(host)
    assert placement.named("0000:3B:00.0").inventories == {GPU_CLASS: some(1)}, "claimed only: a move may be reverted"
    host.apply(host.allocate(consumer=vm(1)))
    report(host)
    assert placement.named("0000:3B:00.0").inventories == {GPU_CLASS: some(1, reserved=1)}
    give_back(host, vm(1))
    placement.forget(1)
    report(host)
    assert host.view.status_of(CARD.address) is Status.DIRTY
    assert placement.named("0000:3B:00.0").inventories == {GPU_CLASS: some(1, reserved=1)}, "used 0, reserved 1"
    host.apply(host.cleaned(CARD.address))
    report(host)
    assert placement.free("0000:3B:00.0") == 1


def test_p9_what_an_operator_reserves_of_a_clean_device_for_one_use_stays_reserved(
    placement: FakePlacement, report: Reporting
) -> None:
    """P9: it is lowered once for each cleaning that was seen."""
    host = tracker(CARD, specs=[ONE_USE])
    allocate(host, vm(1), PLAIN)
    report(host)
    give_back(host, vm(1))
    host.apply(host.cleaned(CARD.address))
    report(host)
    card = placement.named("0000:3B:00.0")
    placement.providers[card.uuid] = replace(card, inventories={GPU_CLASS: some(1, reserved=1)})
    assert report.is_in_step(host)


def test_p9_a_device_that_another_service_left_burned_is_not_taken_for_clean(
    placement: FakePlacement, report: Reporting
) -> None:
    """P9: nova's operators lower it by hand, and what nobody has seen cleaned stays as it is."""
    placement.put("0000:3B:00.0", {GPU_CLASS: some(1, reserved=1)}, "COMPUTE_MANAGED_PCI_DEVICE")
    host = tracker(CARD, specs=[ONE_USE])
    report(host)
    assert placement.named("0000:3B:00.0").inventories == {GPU_CLASS: some(1, reserved=1)}


def test_p9_no_vf_can_be_for_one_use(report: Reporting) -> None:
    """P9, C90: Placement knows the VFs of a PF as one number."""
    host = tracker(PF, *VFS, specs=[{**ONLY_VFS, "one_time_use": True}])
    assert report.problems(host) == [
        "0000:81:02.0 is a VF and one_time_use, but Placement knows all VFs of 0000:81:00.0 as one;"
        " set one_time_use for whole devices only"
    ]


# P10: healing


def test_p10_allocations_become_what_consumers_own(placement: FakePlacement, report: Reporting) -> None:
    """P10: reporting is turned on while VMs run (also P15)."""
    host = tracker(CARD, PF, *VFS, specs=[ONLY_VFS, {"vendor_id": "10de"}])
    allocate(host, vm(1), wants("a", 3, product_id="154c"), wants("b", vendor_id="10de"))
    placement.has(1)
    report(host)
    card, nic = placement.named("0000:3B:00.0"), placement.named("0000:81:00.0")
    assert placement.consumers[vm(1)].allocations == {
        ROOT: {"VCPU": 1},
        card.uuid: {GPU_CLASS: 1},
        nic.uuid: {VF_CLASS: 3},
    }
    assert (placement.free("0000:3B:00.0"), placement.free("0000:81:00.0")) == (0, 1)
    assert report.is_in_step(host)


def test_p10_allocations_and_inventories_are_written_in_one_request(
    placement: FakePlacement, report: Reporting
) -> None:
    """P10: what Placement calls a reshape, whole or not at all."""
    host = tracker(CARD)
    allocate(host, vm(1), PLAIN)
    placement.has(1)
    report(host)
    (changes,) = placement.applied
    assert changes.allocations
    assert changes.inventories.keys() == {new.uuid for new in changes.create}


def test_p10_a_consumer_that_placement_does_not_know_is_left_alone(placement: FakePlacement, report: Reporting) -> None:
    """P10: during a migration the source's devices are allocated to the migration, not to the instance."""
    host = tracker(CARD)
    report(host)
    migration = 77
    placement.has(migration, {"0000:3B:00.0": 1})
    allocate(host, vm(1), PLAIN)
    report(host)
    assert vm(1) not in placement.consumers
    assert placement.named("0000:3B:00.0").inventories == {GPU_CLASS: some(1)}, "nothing is counted twice"


def test_p10_a_consumer_that_placement_knows_on_another_host_only_is_left_alone(
    placement: FakePlacement, report: Reporting
) -> None:
    """P10: the instance has its new allocations on the host that it moves to."""
    host = tracker(CARD)
    report(host)
    allocate(host, vm(1), PLAIN)
    placement.has(1)
    elsewhere = {"0a0b0c0d-0000-4000-8000-000000000000": {"VCPU": 1}}
    placement.consumers[vm(1)] = replace(placement.consumers[vm(1)], allocations=elsewhere)
    report(host)
    assert placement.consumers[vm(1)].allocations == elsewhere


def test_p10_a_resize_on_the_same_host_is_left_alone_until_it_is_decided(
    placement: FakePlacement, report: Reporting
) -> None:
    """P10: the consumer holds two sets of devices, of which Placement counts one for the migration."""
    host = tracker(PF, *VFS, specs=[ONLY_VFS])
    report(host)
    placement.has(1, {"0000:81:00.0": 1})
    placement.has(77, {"0000:81:00.0": 1})
    allocate(host, vm(1), PLAIN)
    host.apply(host.claim(ClaimRequest(consumer=vm(1), claim="move", requests=(PLAIN,))).update)

    def on_the_way(*, confirmed: bool) -> PciDeviceTracker:
        origin = MoveOrigin(kind=MoveKind.RESIZE, host=HOST, devices=(VFS[0].address,), confirmed=confirmed)
        claims = {**host.state.claims, "move": replace(host.state.claims["move"], move=origin)}
        state = HostState(held=host.state.held, claims=claims)
        return tracker(PF, *VFS, specs=[ONLY_VFS], state=state)

    allocations = placement.consumers[vm(1)].allocations
    report(on_the_way(confirmed=False))
    assert placement.consumers[vm(1)].allocations == allocations
    assert placement.free("0000:81:00.0") == 2
    placement.forget(77)
    report(on_the_way(confirmed=True))
    assert placement.free("0000:81:00.0") == 2
    assert placement.consumers[vm(1)].allocations[placement.named("0000:81:00.0").uuid] == {VF_CLASS: 2}


def test_p10_an_allocation_of_a_burned_device_can_be_healed(placement: FakePlacement, report: Reporting) -> None:
    """P10 with P9: what is reserved cannot be allocated, so it is reserved after that."""
    host = tracker(CARD, specs=[ONE_USE])
    allocate(host, vm(1), PLAIN)
    report(host)
    assert placement.named("0000:3B:00.0").inventories == {GPU_CLASS: some(1, reserved=1)}
    placement.has(1)
    report(host)
    card = placement.named("0000:3B:00.0")
    assert placement.consumers[vm(1)].allocations[card.uuid] == {GPU_CLASS: 1}
    assert card.inventories == {GPU_CLASS: some(1, reserved=1)}


def test_p10_what_is_allocated_and_not_claimed_yet_is_left_alone(placement: FakePlacement, report: Reporting) -> None:
    """P10: a scheduler allocates in Placement first."""
    host = tracker(PF, *VFS, specs=[ONLY_VFS])
    report(host)
    placement.has(1, {"0000:81:00.0": 2})
    assert report.is_in_step(host)


# What the config may change (C91, C92), and what is others'


def test_p8_a_new_class_is_taken_over_where_nothing_is_allocated(placement: FakePlacement, report: Reporting) -> None:
    """P8, C92, C93."""
    report(tracker(CARD))
    report(tracker(CARD, specs=[{"address": "*", "resource_class": "gpu", "traits": "big"}]))
    card = placement.named("0000:3B:00.0")
    assert card.inventories == {"CUSTOM_GPU": some(1)}
    assert "CUSTOM_BIG" in card.traits


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"resource_class": "gpu"},
            "0000:3b:00.0 is CUSTOM_GPU in the config, but allocated as CUSTOM_PCI_10DE_20B0 in Placement;"
            " put the former resource_class back until it is free",
            id="its class",
        ),
        pytest.param(
            {"traits": "big"},
            "0000:3b:00.0 has other traits in the config than were allocated (CUSTOM_BIG);"
            " put the former traits back until it is free",
            id="its traits",
        ),
    ],
)
def test_p8_a_change_of_what_is_allocated_is_refused(
    change: dict[str, str], message: str, placement: FakePlacement, report: Reporting
) -> None:
    """P8, C92: the provider stays as it is, and all others are reported."""
    host = tracker(CARD)
    report(host)
    placement.has(1, {"0000:3B:00.0": 1})
    allocate(host, vm(1), PLAIN)
    before = placement.named("0000:3B:00.0")
    changed = tracker(CARD, function("0000:5e:00.0"), specs=[{"address": "*", **change}], state=host.state)
    assert report.problems(changed) == [message]
    assert placement.named("0000:3B:00.0") == before
    assert names(placement) == ["node-1_0000:3B:00.0", "node-1_0000:5E:00.0"]


def test_p8_a_class_that_is_written_when_reporting_begins_holds_for_devices_that_are_held_already(
    placement: FakePlacement, report: Reporting
) -> None:
    """P8, P15: they were claimed without it, but Placement does not know them yet."""
    before = tracker(PF, *VFS, specs=[ONLY_VFS])
    allocate(before, vm(1), PLAIN)
    placement.has(1)
    report(tracker(PF, *VFS, specs=[{**ONLY_VFS, "resource_class": "nic", "traits": "a"}], state=before.state))
    assert placement.named("0000:81:00.0").inventories == {"CUSTOM_NIC": some(4)}
    assert placement.free("0000:81:00.0") == 3


def test_p8_an_allocated_pf_that_gives_way_to_its_vfs_in_the_config_is_refused(
    placement: FakePlacement, report: Reporting
) -> None:
    """P8, C91."""
    host = tracker(PF, specs=[{"product_id": "1572"}])
    report(host)
    placement.has(1, {"0000:81:00.0": 1})
    allocate(host, vm(1), A_PF)
    before = placement.named("0000:81:00.0")
    swapped = tracker(PF, *VFS, specs=[ONLY_VFS], state=host.state)
    assert report.problems(swapped) == [
        f"0000:81:02.0 is let out now, but 0000:81:00.0 is still held by {vm(1)}, and Placement would offer both;"
        " put the former entry back until it is free"
    ]
    assert placement.named("0000:81:00.0") == before


def test_p8_allocated_vfs_that_give_way_to_their_pf_in_the_config_are_refused(report: Reporting) -> None:
    """P8, C91: the reverse."""
    host = tracker(PF, *VFS, specs=[ONLY_VFS])
    allocate(host, vm(1), PLAIN)
    (message,) = report.problems(tracker(PF, *VFS, specs=[{"product_id": "1572"}], state=host.state))
    assert message.startswith(f"0000:81:00.0 is let out now, but 0000:81:02.0 is still held by {vm(1)}")


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        pytest.param([{"address": "*"}], "0000:81:00.0 is reported to Placement, and so is 0000:81:02.0", id="C88"),
        pytest.param(
            [{"address": "0000:81:02.0", "traits": "a"}, ONLY_VFS],
            "0000:81:02.1 differs from 0000:81:02.0 in resource_class or traits, and both are VFs of 0000:81:00.0",
            id="C89",
        ),
    ],
)
def test_p2_what_one_provider_cannot_say_is_a_problem(
    specs: list[object], message: str, placement: FakePlacement, report: Reporting
) -> None:
    """P2, C88, C89: the config check refuses this at the start; facts can bring it about later."""
    (said,) = report.problems(tracker(PF, *VFS, specs=specs))
    assert said.startswith(message)
    assert names(placement) == []


def test_p12_every_provider_has_the_owner_trait_by_which_requests_leave_out_those_of_others(
    placement: FakePlacement, report: Reporting
) -> None:
    """P12: they ask for it once all hosts report it; see ``candidate_query``."""
    report(tracker(CARD, PF, *VFS, specs=[ONLY_VFS, {"vendor_id": "10de"}]))
    assert all("OWNER_NOVA" in provider.traits for provider in placement.providers.values())


@pytest.mark.parametrize(
    ("inventories", "traits", "why"),
    [
        pytest.param({}, ["OWNER_CYBORG"], "has the trait OWNER_CYBORG", id="by its owner trait"),
        pytest.param(
            {"VGPU": some(1)}, [], "has resources and no trait COMPUTE_MANAGED_PCI_DEVICE", id="by what it lacks"
        ),
    ],
)
def test_p18_a_provider_of_cyborg_with_the_same_name_is_left_alone_and_told(
    inventories: dict[str, ResourceInventory],
    traits: list[str],
    why: str,
    placement: FakePlacement,
    report: Reporting,
) -> None:
    """P18: it names its providers alike, by host and address."""
    foreign = placement.put("0000:3B:00.0", inventories, *traits)
    assert report.others(tracker(CARD)) == [
        f"0000:3b:00.0 is reported to Placement by another service: node-1_0000:3B:00.0 {why};"
        " take it from one of the two"
    ]
    assert list(placement.providers.values()) == [foreign]


def test_p18_a_provider_of_ours_that_was_made_and_not_filled_is_no_other_service_s(
    placement: FakePlacement, report: Reporting
) -> None:
    """P18: the agent died between the two requests."""
    placement.put("0000:3B:00.0", {})
    report(tracker(CARD))
    assert placement.free("0000:3B:00.0") == 1


# P17: others write at the same time


def test_p17_what_another_writes_between_reading_and_writing_is_read_and_decided_anew(
    placement: FakePlacement, report: Reporting
) -> None:
    """P17: a write with an old generation is refused."""
    report(tracker(PF, *VFS[:2], specs=[ONLY_VFS]))

    def another_allocates() -> None:
        placement.before_apply = lambda: None
        placement.has(1, {"0000:81:00.0": 2})

    placement.before_apply = another_allocates
    report(tracker(PF, specs=[ONLY_VFS]))
    assert placement.named("0000:81:00.0").inventories == {VF_CLASS: some(2)}


def test_p17_conflicts_without_end_are_told_and_the_next_report_begins_anew(
    placement: FakePlacement, report: Reporting
) -> None:
    """P17."""
    tried = []

    def refuse() -> None:
        tried.append(1)
        raise conflict("somebody was faster")

    placement.before_apply = refuse
    with pytest.raises(LanewayError, match="somebody was faster") as caught:
        report(tracker(CARD))
    assert caught.value.code is ErrorCode.PLACEMENT_CONFLICT
    assert len(tried) == ROUNDS
    placement.before_apply = lambda: None
    report(tracker(CARD))
    assert placement.free("0000:3B:00.0") == 1


def test_p17_another_service_that_undoes_every_write_is_told(placement: FakePlacement, report: Reporting) -> None:
    """P17."""

    def undo() -> None:
        placement.providers.clear()

    placement.apply, written = (lambda changes: undo()), placement.apply  # type: ignore[method-assign]
    with pytest.raises(LanewayError, match="see whether another service reports") as caught:
        report(tracker(CARD))
    assert caught.value.code is ErrorCode.PLACEMENT_CONFLICT
    placement.apply = written  # type: ignore[method-assign]
    assert report.is_in_step(tracker())


def test_p17_a_service_that_cannot_be_reached_is_connected_to_at_the_next_report(placement: FakePlacement) -> None:
    """P17."""
    answers: list[FakePlacement | LanewayError] = [
        placement,
        LanewayError(ErrorCode.PLACEMENT_UNREACHABLE, "nobody there"),
    ]

    def connect() -> FakePlacement:
        answer = answers.pop()
        if isinstance(answer, LanewayError):
            raise answer
        return answer

    reporter = ReportingOn(connect)
    with pytest.raises(LanewayError, match="nobody there"):
        reporter.report(HOST, tracker(CARD).view)
    reporter.report(HOST, tracker(CARD).view)
    reporter.report(HOST, tracker(CARD).view)
    assert placement.free("0000:3B:00.0") == 1


def test_p1_without_a_provider_of_the_host_nothing_is_made_and_the_name_is_told(placement: FakePlacement) -> None:
    """P1: its own provider is nova's to make."""
    reporter = ReportingOn(lambda: placement, root="node-1.example.org")
    with pytest.raises(LanewayError, match=r"no resource provider 'node-1\.example\.org'") as caught:
        reporter.report(HOST, tracker(CARD).view)
    assert caught.value.code is ErrorCode.PLACEMENT_REFUSED
    assert placement.providers == {}


def test_p1_the_name_of_the_hosts_provider_can_be_another_than_the_hosts(placement: FakePlacement) -> None:
    """P1: nova names it as the hypervisor names itself."""
    ReportingOn(lambda: placement, root=HOST).report("gpu-host", tracker(CARD).view)
    assert names(placement) == ["node-1_0000:3B:00.0"]
