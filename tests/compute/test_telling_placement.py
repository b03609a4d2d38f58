"""Placement is told after each update; that it cannot be is said, and stops nothing."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from compute.fakes import FakeParts, RecordingLog, config, host, process
from domain.hosts import function
from laneway.compute.manager import ComputeManager
from laneway.compute.resource_tracker import ResourceTracker
from laneway.contracts.agent_status import error_of
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError
from laneway.domain.tracking.host_view import HostView

CARD = function("0000:3b:00.0")
DOWN = LanewayError(ErrorCode.PLACEMENT_UNREACHABLE, "Placement cannot be reached: nobody listens")
SWAPPED = ConfigError([ConfigProblem(ErrorCode.INVALID_DEVICE_SPEC, "0000:81:00.0 is still held", "device_spec", 0)])


class RecordingReporter:
    """Keeps what it is told; ``answer`` is what it raises."""

    def __init__(self) -> None:
        self.told: list[tuple[str, list[str]]] = []
        self.answer: LanewayError | None = None

    def report(self, host: str, view: HostView) -> None:
        self.told.append((host, [str(address) for address in view.addresses()]))
        if self.answer is not None:
            raise self.answer


@pytest.fixture
def reporter() -> RecordingReporter:
    return RecordingReporter()


@pytest.fixture
def parts(tmp_path: Path, reporter: RecordingReporter) -> FakeParts:
    made = FakeParts(config({"address": "*"}), host(CARD), tmp_path)
    made.reporter = reporter
    return made


def test_it_is_told_after_the_first_update_and_after_each_other_one(
    parts: FakeParts, reporter: RecordingReporter
) -> None:
    tracker, first = ResourceTracker.start(parts)
    parts.driver.found = host(CARD, function("0000:5e:00.0"))
    tracker.update()
    assert reporter.told == [("gpu-1", ["0000:3b:00.0"]), ("gpu-1", ["0000:3b:00.0", "0000:5e:00.0"])]
    assert first.placement_error is None


def test_who_is_told_follows_the_config(parts: FakeParts) -> None:
    tracker, _ = ResourceTracker.start(parts)
    assert not isinstance(parts.written, LanewayError)
    tracker.update()
    parts.written = replace(parts.written, report_in_placement=True)
    tracker.update()
    assert parts.reported_for == [False, True]


def test_p7_a_config_that_placement_speaks_against_ends_the_start(
    parts: FakeParts, reporter: RecordingReporter
) -> None:
    """P7, P8, C87, C91."""
    reporter.answer = SWAPPED
    with pytest.raises(ConfigError, match="is still held"):
        ResourceTracker.start(parts)


@pytest.mark.parametrize("error", [DOWN, LanewayError(ErrorCode.NOT_REPORTABLE, "it is Cyborg's")])
def test_no_other_failure_of_placement_stops_anything(
    error: LanewayError, parts: FakeParts, reporter: RecordingReporter
) -> None:
    reporter.answer = error
    tracker, first = ResourceTracker.start(parts)
    assert first.placement_error is error
    reporter.answer = SWAPPED
    assert tracker.update().placement_error is SWAPPED


def test_the_status_and_the_log_say_what_is_wrong_once_and_when_it_is_over(
    parts: FakeParts, reporter: RecordingReporter
) -> None:
    reporter.answer = DOWN
    doing = process(parts)
    manager, log = ComputeManager.start(parts, doing), doing.log
    assert isinstance(log, RecordingLog)
    begun = parts.clock.now()
    said: list[tuple[int, int]] = []
    troubles = []
    for answer in (DOWN, SWAPPED, None, None):
        reporter.answer = answer
        parts.clock.seconds += 60
        manager.update()
        status = parts.files.read()
        assert status is not None
        troubles.append(status.placement_failing)
        assert status.is_well is (answer is None)
        said.append((len(log.of("placement_failed")), len(log.of("placement_recovered"))))
    manager.stop()
    assert said == [(1, 0), (2, 0), (2, 1), (2, 1)]
    down, swapped, *well = troubles
    assert down is not None
    assert swapped is not None
    assert (down.since, down.errors[0]["code"]) == (begun, "placement_unreachable")
    assert (swapped.since - begun, error_of(swapped).message) == (timedelta(minutes=2), SWAPPED.message)
    assert well == [None, None]
    assert log.of("placement_failed") == [
        "Placement is not told how the devices stand: Placement cannot be reached: nobody listens",
        "Placement is not told how the devices stand: 0000:81:00.0 is still held",
    ]
