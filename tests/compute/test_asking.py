"""Whoever asks for a reload gets what came of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compute.fakes import FakeParts, config, host, process
from domain.hosts import function
from laneway.compute.asking import PATIENCE, ask_to_reload
from laneway.compute.manager import ComputeManager
from laneway.config import Config
from laneway.contracts.agent_status import AgentStatus
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError

PROBLEMS = (
    ConfigProblem(ErrorCode.INVALID_DEVICE_SPEC, "entry 0: no", "device_spec", 0, "vendor_id", "zz", "write", "a:1"),
    ConfigProblem(ErrorCode.INVALID_CONFIG, "host.name: no", "host.name"),
)


@pytest.fixture
def parts(tmp_path: Path) -> FakeParts:
    return FakeParts(config({"address": "*"}), host(function("0000:3b:00.0")), tmp_path)


def ask(parts: FakeParts, meanwhile: Callable[[], None]) -> AgentStatus:
    """Asks, and does something while the answer is waited for."""

    def wait(seconds: float) -> None:
        parts.clock.seconds += seconds
        meanwhile()

    return ask_to_reload(parts.files, wait, parts.clock.monotonic)


def started(parts: FakeParts) -> ComputeManager[Config]:
    return ComputeManager.start(parts, process(parts))


def test_without_a_service_there_is_none_to_ask(parts: FakeParts) -> None:
    with pytest.raises(LanewayError, match="laneway agent starts one") as caught:
        ask_to_reload(parts.files)
    assert caught.value.code is ErrorCode.NO_AGENT


def test_the_answer_is_how_the_service_stands_after_the_reload(parts: FakeParts) -> None:
    manager = started(parts)
    parts.written = config()
    answer = ask(parts, lambda: manager.reload(parts.files.requests()))
    assert answer.config_since > answer.started_at
    assert dict(answer.devices.by_status) == {}


def test_a_refusal_is_raised_as_the_service_met_it(parts: FakeParts) -> None:
    manager = started(parts)
    parts.written = ConfigError(PROBLEMS)
    with pytest.raises(ConfigError) as caught:
        ask(parts, lambda: manager.reload(parts.files.requests()))
    assert caught.value.problems == PROBLEMS


def test_what_kept_the_service_from_looking_is_raised_before_a_refusal_of_the_past(parts: FakeParts) -> None:
    manager = started(parts)
    parts.written = ConfigError(PROBLEMS)
    manager.reload()
    parts.driver.found = LanewayError(ErrorCode.HOST_UNREACHABLE, "away", {"reasons": {"fake": None}})
    with pytest.raises(LanewayError, match="away") as caught:
        ask(parts, lambda: manager.reload(parts.files.requests()))
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE
    assert caught.value.detail == {"reasons": {"fake": None}}


def test_a_service_that_does_not_answer_is_given_up_and_the_request_taken_back(parts: FakeParts) -> None:
    started(parts)
    with pytest.raises(LanewayError, match="has not answered in 30 seconds") as caught:
        ask(parts, lambda: None)
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE
    assert parts.clock.seconds >= PATIENCE
    assert parts.files.requests() == ()


def test_a_service_that_ends_without_an_answer_is_none_to_ask(parts: FakeParts) -> None:
    manager = started(parts)
    with pytest.raises(LanewayError) as caught:
        ask(parts, manager.stop)
    assert caught.value.code is ErrorCode.NO_AGENT
    assert parts.files.requests() == ()


def test_a_service_that_ends_right_after_its_answer_is_none_to_ask(parts: FakeParts) -> None:
    manager = started(parts)

    def answer_and_end() -> None:
        manager.reload(parts.files.requests())
        manager.stop()

    with pytest.raises(LanewayError) as caught:
        ask(parts, answer_and_end)
    assert caught.value.code is ErrorCode.NO_AGENT
