"""One update: config and facts, checked, to the control plane."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from compute.fakes import BEGIN, BOOT, FakeParts, config, host
from domain.hosts import at, function, pf, vf
from laneway.compute.resource_tracker import ResourceTracker
from laneway.domain.device import Status
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.tracking.host_view import IommuGroups

ALL = {"address": "*"}
CARD = function("0000:3b:00.0")
BAD = ConfigError([ConfigProblem(ErrorCode.INVALID_CONFIG, "laneway.toml:1: no"), ConfigProblem("x", "and no")])


@pytest.fixture
def parts(tmp_path: Path) -> FakeParts:
    return FakeParts(config(ALL), host(CARD), tmp_path)


def test_the_first_update_tells_the_control_plane_of_the_devices(parts: FakeParts) -> None:
    _, first = ResourceTracker.start(parts)
    assert first.host == "gpu-1"
    assert list(first.view.addresses()) == [CARD.address]
    assert parts.store.read("gpu-1").boot_id == BOOT
    assert parts.opened == ["driver", "control plane"]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(BAD, id="a config with errors"),
        pytest.param(LanewayError(ErrorCode.NOT_SUPPORTED, "no oslo.config"), id="a config that cannot be read"),
        pytest.param(RuntimeError("a fault"), id="a fault of ours"),
    ],
)
def test_nothing_is_caught_that_loading_raises_and_no_part_is_opened(parts: FakeParts, error: Exception) -> None:
    def load() -> None:
        raise error

    parts.load_config = load  # type: ignore[method-assign,assignment]
    with pytest.raises(type(error)) as caught:
        ResourceTracker.start(parts)
    assert caught.value is error
    assert parts.opened == []


def test_an_error_found_against_the_facts_is_raised_with_all_others_before_the_control_plane_is_touched(
    parts: FakeParts,
) -> None:
    ports = [pf("0000:3b:00.0"), pf("0000:3b:00.1")]
    parts.driver.found = host(*ports)
    parts.written = config(*({"address": str(port.address), "remote_managed": "true"} for port in ports))
    with pytest.raises(ConfigError) as caught:
        ResourceTracker.start(parts)
    assert [(problem.code, problem.entry) for problem in caught.value.problems] == [
        (ErrorCode.REMOTE_MANAGED_PF, 0),
        (ErrorCode.REMOTE_MANAGED_PF, 1),
    ]
    assert parts.opened == ["driver"]


@pytest.mark.parametrize("code", [ErrorCode.HOST_UNREACHABLE, ErrorCode.NO_PERMISSION])
def test_a_host_that_cannot_be_read_is_raised(parts: FakeParts, code: ErrorCode) -> None:
    parts.driver.found = LanewayError(code, "not here")
    with pytest.raises(LanewayError, match="not here"):
        ResourceTracker.start(parts)
    assert parts.opened == ["driver"]


def test_without_a_driver_nothing_else_is_opened(parts: FakeParts) -> None:
    parts.no_driver = LanewayError(ErrorCode.HOST_UNREACHABLE, "no host driver works here")
    with pytest.raises(LanewayError, match="no host driver works here"):
        ResourceTracker.start(parts)
    assert parts.opened == ["driver"]


def test_hardware_that_is_missing_is_a_warning(parts: FakeParts) -> None:
    parts.written = config(ALL, {"address": "0000:99:00.0"}, {"devname": "ens9"})
    _, first = ResourceTracker.start(parts)
    assert [warning.code for warning in first.warnings] == ["admits_nothing", "devname_absent"]


def test_an_update_whose_facts_did_not_change_writes_nothing(parts: FakeParts) -> None:
    tracker, _ = ResourceTracker.start(parts)
    first = parts.store.writes
    for _ in range(3):
        parts.clock.seconds += 60
        tracker.update()
    parts.driver.found = host(CARD)
    tracker.update()
    assert first == 1
    assert parts.store.writes == first


def test_a_new_boot_is_written_once(parts: FakeParts) -> None:
    tracker, _ = ResourceTracker.start(parts)
    parts.driver.found = replace(host(CARD), boot_id="77aa")
    tracker.update()
    tracker.update()
    assert parts.store.writes == 2
    assert parts.store.read("gpu-1").boot_id == "77aa"


def test_what_is_plugged_and_unplugged_is_seen(parts: FakeParts) -> None:
    tracker, _ = ResourceTracker.start(parts)
    new = function("0000:5e:00.0")
    parts.driver.found = host(CARD, new)
    assert sorted(tracker.update().view.addresses()) == [CARD.address, new.address]
    parts.driver.found = host(new)
    assert list(tracker.update().view.addresses()) == [new.address]


def test_claims_whose_time_is_over_are_freed(parts: FakeParts) -> None:
    tracker, _ = ResourceTracker.start(parts)
    plane = parts.connect(config(ALL))
    plane.sync("gpu-1", tracker.update().view.report)
    wanted = DeviceRequest(name="g", alternatives=(Alternative(vendor_id="8086"),))
    request = ClaimRequest(consumer="vm1", claim="c1", requests=(wanted,))
    plane.claim("gpu-1", request, time_to_live=timedelta(minutes=1))
    assert tracker.update().view.status_of(CARD.address) is Status.CLAIMED
    parts.clock.seconds = 61
    assert parts.clock.now() > BEGIN
    updated = tracker.update()
    assert updated.expired == (CARD.address,)
    assert updated.view.status_of(CARD.address) is Status.AVAILABLE


def test_a_config_that_changed_is_taken_over_with_its_rules(parts: FakeParts) -> None:
    tracker, first = ResourceTracker.start(parts)
    assert not first.adopted
    assert not tracker.update().adopted
    parts.written = config({"address": "0000:99:00.0"}, iommu_groups=IommuGroups.IGNORE)
    updated = tracker.update()
    assert updated.adopted
    assert updated.config is parts.written
    assert list(updated.view.addresses()) == []
    assert parts.rules == [IommuGroups.ENFORCE, IommuGroups.IGNORE]
    assert not tracker.update().adopted


def test_a_config_that_says_the_same_again_is_no_change(parts: FakeParts) -> None:
    tracker, first = ResourceTracker.start(parts)
    parts.written = config(ALL)
    assert tracker.update().config is first.config


def test_a_bad_config_is_refused_and_the_last_good_one_stays_in_force(parts: FakeParts) -> None:
    tracker, first = ResourceTracker.start(parts)
    parts.written = BAD
    updated = tracker.update()
    assert updated.refused is BAD
    assert updated.config is first.config
    assert list(updated.view.addresses()) == [CARD.address]


def test_a_config_that_the_facts_of_today_contradict_is_refused(parts: FakeParts) -> None:
    tracker, first = ResourceTracker.start(parts)
    parts.driver.found = host(pf("0000:3b:00.0"))
    parts.written = config({"address": "0000:3b:00.0", "remote_managed": "true"})
    updated = tracker.update()
    assert isinstance(updated.refused, ConfigError)
    assert updated.refused.code is ErrorCode.REMOTE_MANAGED_PF
    assert updated.config is first.config
    parts.driver.found = host(vf("0000:3b:00.0", "0000:3a:00.0"))
    assert tracker.update().refused is None, "the facts have changed, so it is tried again"


def test_a_config_whose_control_plane_cannot_be_had_is_refused_whole(parts: FakeParts) -> None:
    tracker, first = ResourceTracker.start(parts)
    parts.no_store = LanewayError(ErrorCode.DATABASE_UNREACHABLE, "not now")
    parts.written = config()
    updated = tracker.update()
    assert updated.refused is parts.no_store
    assert updated.config is first.config


def test_facts_that_come_to_contradict_the_config_in_force_are_told_and_end_nothing(parts: FakeParts) -> None:
    parts.written = config({"address": "0000:3b:00.0", "remote_managed": "true"}, ALL)
    tracker, first = ResourceTracker.start(parts)
    assert first.contradictions == ()
    parts.driver.found = host(pf("0000:3b:00.0"))
    updated = tracker.update()
    assert [problem.code for problem in updated.contradictions] == [ErrorCode.REMOTE_MANAGED_PF]
    assert updated.refused is None


def test_a_host_that_cannot_be_read_later_is_raised_and_the_next_update_works(parts: FakeParts) -> None:
    tracker, _ = ResourceTracker.start(parts)
    parts.driver.found = LanewayError(ErrorCode.HOST_UNREACHABLE, "away")
    with pytest.raises(LanewayError, match="away"):
        tracker.update()
    parts.driver.found = host(CARD, function("0000:5e:00.0", DevType.PCI))
    assert at("0000:5e:00.0") in tracker.update().view.addresses()
