"""What facts keep a device from being offered, and how that reads."""

import pytest

from domain.hosts import at, blocks, function, opened, pf, tracker, used, vf
from laneway.domain.tracking.blocking import is_vfio_driver, shared_groups
from laneway.domain.tracking.host_view import IommuGroups

CARD, OTHER = "0000:3b:00.0", "0000:3b:00.1"
PF, VF = "0000:81:00.0", "0000:81:02.0"


@pytest.mark.parametrize(
    ("driver", "is_vfio"),
    [
        ("vfio-pci", True),
        ("mlx5_vfio_pci", True),
        ("nvgrace-gpu-vfio-pci", True),
        ("nvme", False),
        ("pci-stub", False),
    ],
)
def test_drivers_that_serve_vfio(driver: str, is_vfio: bool) -> None:
    assert is_vfio_driver(driver) is is_vfio


def test_a_group_is_shared_by_two_endpoints_or_more() -> None:
    functions = [
        function("0000:00:01.0", iommu_group=1, class_code="060400"),
        function("0000:01:00.0", iommu_group=1),
        function("0000:02:00.0", iommu_group=2),
        function("0000:02:00.1", iommu_group=2),
        function("0000:03:00.0", iommu_group=None),
        function("0000:03:00.1", iommu_group=None),
    ]
    assert list(shared_groups(functions)) == [2]


def test_the_reason_of_host_use_names_the_use() -> None:
    (reason,) = tracker(function(CARD, in_use_by=used("/", "mounted"))).view.blocked_by(at(CARD))
    assert (reason.code, reason.message, reason.detail) == ("in_use_by", "the host uses it: mounted /", "mounted /")


def test_the_reason_at_a_pf_names_the_vf_in_use() -> None:
    (reason,) = tracker(pf(PF), vf(VF, PF, in_use_by=used())).view.blocked_by(at(PF))
    assert reason.message == f"the host uses its VF {VF}: default_route ens1"


def test_a_used_vf_blocks_its_pf_also_where_no_spec_admits_the_vf() -> None:
    host = tracker(pf(PF), vf(VF, PF, in_use_by=used()), specs=[{"product_id": "1572"}])
    assert blocks(host) == {PF: ["in_use_by"]}


def test_allowed_use_of_a_vf_does_not_block_its_pf() -> None:
    specs: list[object] = [{"product_id": "154c", "allow_in_use": True}, {"product_id": "1572"}]
    assert blocks(tracker(pf(PF), vf(VF, PF, in_use_by=used()), specs=specs)) == {}


def test_a_member_in_use_makes_its_group_not_viable_unless_that_is_allowed() -> None:
    members = (function(CARD, iommu_group=5), function(OTHER, iommu_group=5, in_use_by=used()))
    assert blocks(tracker(*members)) == {CARD: ["group_not_viable"], OTHER: ["in_use_by"]}
    assert blocks(tracker(*members, specs=[{"address": "*", "allow_in_use": True}])) == {}


def test_an_open_member_keeps_its_whole_group_from_others() -> None:
    host = tracker(function(CARD, iommu_group=5), function(OTHER, iommu_group=5, opened_by=opened(99)))
    assert blocks(host) == {CARD: ["opened_by"], OTHER: ["opened_by"]}
    messages = [host.view.blocked_by(at(address))[0].message for address in (CARD, OTHER)]
    assert messages[0].startswith(f"{OTHER} is open in qemu-system-x86 (99), unknown to Laneway")
    assert messages[1].startswith("it is open in qemu-system-x86 (99), unknown to Laneway")


def test_groups_that_are_ignored_block_nothing() -> None:
    members = (function(CARD, iommu_group=5), function(OTHER, iommu_group=5, driver="snd_hda_intel"))
    specs: list[object] = [{"address": CARD}]
    assert blocks(tracker(*members, specs=specs)) == {CARD: ["group_not_viable"]}
    assert blocks(tracker(*members, specs=specs, iommu_groups=IommuGroups.IGNORE)) == {}


def test_all_reasons_of_a_device_are_told() -> None:
    host = tracker(
        function(CARD, iommu_group=5, in_use_by=used()),
        function(OTHER, iommu_group=5, driver="snd_hda_intel"),
        specs=[{"address": CARD}],
    )
    host.apply(host.cordon(at(CARD)))
    assert blocks(host) == {CARD: ["in_use_by", "cordoned", "group_not_viable"]}
