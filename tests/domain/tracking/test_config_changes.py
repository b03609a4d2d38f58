"""What a config changes where another is in force, and where devices are in use."""

import pytest

from domain.hosts import allocate, at, function, pf, report, take, tracker, vf, wants
from laneway.domain.device import PciDevice
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.domain.tracking.config_changes import Changes, changes_from, deferred, orphans

NIC = "0000:31:00.0"
VFS = (vf("0000:31:01.0", NIC), vf("0000:31:01.1", NIC))
INTEL: dict[str, object] = {"vendor_id": "8086"}
FIRST: dict[str, object] = {"address": "0000:31:01.0"}


def specs(*entries: object) -> DeviceSpecs:
    return report(specs=entries).specs


def changes(before: list[object], after: list[object]) -> Changes:
    return changes_from(specs(*before), tracker(pf(NIC), *VFS, specs=after).view)


def addresses(devices: tuple[PciDevice, ...]) -> list[str]:
    return [str(device.address) for device in devices]


@pytest.mark.parametrize(
    ("before", "after", "appear", "vanish"),
    [
        pytest.param([FIRST], [FIRST], [], [], id="nothing"),
        pytest.param([], [FIRST], ["0000:31:01.0"], [], id="a device that appears"),
        pytest.param([FIRST], [], [], ["0000:31:01.0"], id="a device that vanishes"),
        pytest.param([FIRST], [INTEL], [NIC, "0000:31:01.1"], [], id="more of them"),
        pytest.param([INTEL], [FIRST, INTEL], [], [], id="another entry with the same tags"),
    ],
)
def test_devices_appear_and_vanish(
    before: list[object], after: list[object], appear: list[str], vanish: list[str]
) -> None:
    found = changes(before, after)
    assert (addresses(found.appear), addresses(found.vanish), found.retagged) == (appear, vanish, ())


def test_devices_get_other_tags() -> None:
    found = changes([{**INTEL, "physical_network": "p1"}], [{**FIRST, "physical_network": "p2"}, INTEL])
    assert [(str(one.device.address), one.before, one.after) for one in found.retagged] == [
        (NIC, {"physical_network": "p1"}, {}),
        ("0000:31:01.0", {"physical_network": "p1"}, {"physical_network": "p2"}),
        ("0000:31:01.1", {"physical_network": "p1"}, {}),
    ]


def test_a_device_in_use_that_no_entry_admits_any_more_is_an_orphan() -> None:
    """Rule C91."""
    host = tracker(*VFS, specs=[INTEL])
    take(host, "vm1", wants(product_id="154c"))
    (orphan,) = orphans(tracker(*VFS, specs=[{"address": "0000:31:01.1"}], state=host.state).view)
    assert (orphan.device.address, orphan.device.consumer) == (at("0000:31:01.0"), "vm1")
    assert orphan.reason.code == "no_spec_matches"


def test_one_that_the_host_does_not_show_any_more_is_one_too() -> None:
    host = tracker(*VFS)
    allocate(host, "vm1", wants(product_id="154c"))
    (orphan,) = orphans(tracker(VFS[1], state=host.state).view)
    assert (orphan.device.address, orphan.reason.code) == (at("0000:31:01.0"), "gone")


def test_devices_in_use_that_are_admitted_are_none() -> None:
    host = tracker(*VFS)
    take(host, "vm1")
    assert orphans(host.view) == ()


def test_a_device_in_use_keeps_its_tags_until_it_is_freed() -> None:
    """Rule D36."""
    before = tracker(function("0000:05:00.0"), specs=[{**INTEL, "physical_network": "p1"}])
    take(before, "vm1")
    (found,) = deferred(
        tracker(function("0000:05:00.0"), specs=[{**INTEL, "physical_network": "p2"}], state=before.state).view
    )
    assert (found.device.consumer, found.before, found.after) == (
        "vm1",
        {"physical_network": "p1"},
        {"physical_network": "p2"},
    )
    assert deferred(before.view) == ()
