"""The life of the service: start, updates one at a time, reload, stop."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.events import Events
from compute.fakes import (
    FakeParts,
    RecordingLog,
    RecordingSupervisor,
    ScriptedInbox,
    Step,
    config,
    host,
    process,
)
from domain.hosts import function, pf, used
from laneway.compute.agent_files import AgentFiles
from laneway.compute.inbox import Inbox, Wish
from laneway.compute.manager import POLL_SECONDS, ComputeManager, Process
from laneway.contracts.agent_status import AgentStatus
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError
from laneway.domain.inventory import ReadinessNote

ALL = {"address": "*"}
CARD = function("0000:3b:00.0")
OTHER = function("0000:5e:00.0")
REFUSAL = ConfigError([ConfigProblem(ErrorCode.INVALID_CONFIG, "laneway.toml:1: no", "host.name", None, "name", 1)])
AWAY = LanewayError(ErrorCode.HOST_UNREACHABLE, "the host is away", {"reasons": {"fake": None}})


@pytest.fixture
def parts(tmp_path: Path) -> FakeParts:
    return FakeParts(config(ALL), host(CARD), tmp_path)


def serve(parts: FakeParts, *script: Step, interval: float = 60) -> tuple[RecordingLog, RecordingSupervisor]:
    """The whole life of a service, with this script played while it waits."""
    on = process(parts, ScriptedInbox(parts.clock, script), interval=interval)
    ComputeManager.start(parts, on).run()
    return recorded(on)


def recorded(on: Process) -> tuple[RecordingLog, RecordingSupervisor]:
    assert isinstance(on.log, RecordingLog)
    assert isinstance(on.supervisor, RecordingSupervisor)
    return on.log, on.supervisor


def status_after(parts: FakeParts, *script: Step, interval: float = 60) -> AgentStatus:
    """What the service says of itself when the script has been played."""
    said: list[AgentStatus | None] = []
    serve(parts, *script, lambda: said.append(parts.files.read()), interval=interval)
    assert said[0] is not None
    return said[0]


def changing(parts: FakeParts, name: str, value: object) -> Callable[[], None]:
    """A step of the script: the config, or what the driver finds, is another one."""
    owner = parts if name == "written" else parts.driver
    return lambda: setattr(owner, name, value)


def failing_start(parts: FakeParts) -> tuple[BaseException, Process]:
    on = process(parts)
    with pytest.raises(LanewayError) as caught:
        ComputeManager.start(parts, on)
    return caught.value, on


@pytest.mark.parametrize(
    ("name", "error"),
    [
        pytest.param("written", REFUSAL, id="the config is wrong"),
        pytest.param("no_driver", AWAY, id="there is no driver"),
        pytest.param("no_store", LanewayError(ErrorCode.NO_PERMISSION, "not for you"), id="the state is not ours"),
    ],
)
def test_what_keeps_it_from_starting_ends_it_before_anything_has_started(
    parts: FakeParts, name: str, error: LanewayError, tmp_path: Path
) -> None:
    setattr(parts, name, error)
    raised, on = failing_start(parts)
    assert raised is error
    log, supervisor = recorded(on)
    assert (log.said, supervisor.told) == ([], [])
    assert list(tmp_path.iterdir()) == []


def test_a_second_service_over_one_state_is_refused_and_the_first_goes_on(parts: FakeParts) -> None:
    first = ComputeManager.start(parts, process(parts))
    other = FakeParts(config(ALL), host(CARD), parts.files.database.parent)
    raised, on = failing_start(other)
    assert isinstance(raised, LanewayError)
    assert raised.code is ErrorCode.AGENT_RUNNING
    assert "process 4711" in raised.message
    assert recorded(on)[1].told == []
    assert parts.files.read() is not None
    first.stop()
    ComputeManager.start(other, process(other)).stop()


def test_a_service_that_has_started_says_so(parts: FakeParts) -> None:
    parts.driver.found = host(CARD, function("0000:5e:00.0", in_use_by=used()))
    log, supervisor = serve(parts)
    assert supervisor.told[0] == "READY=1"
    assert log.of("started") == [
        f"The agent of gpu-1 has started, with the driver fake and {Path('/etc/laneway/laneway.toml')}."
        " 2 devices: 1 available, 1 blocked."
    ]


def test_it_says_how_it_stands(parts: FakeParts) -> None:
    status = status_after(parts)
    assert (status.pid, status.host, status.driver, status.watching) == (4711, "gpu-1", "fake", False)
    assert status.config_sources == (str(Path("/etc/laneway/laneway.toml")),)
    assert status.started_at == status.config_since == status.updated_at == parts.clock.now()
    assert dict(status.devices.by_status) == {"available": 1}
    assert status.is_well


def test_missing_hardware_and_an_unready_host_are_logged_and_end_nothing(parts: FakeParts) -> None:
    notes = (
        ReadinessNote(code="iommu_off", severity="error", message="there is no IOMMU", remedy="turn it on"),
        ReadinessNote(code="inside_vm", severity="info", message="this is a VM"),
    )
    parts.written = config(ALL, {"address": "0000:99:00.0"})
    parts.driver.found = replace(host(CARD), readiness=notes)
    log, _ = serve(parts)
    (warning,) = log.of("config_warning")
    assert "0000:99:00.0" in warning
    assert log.of("readiness") == ["there is no IOMMU; turn it on"]


def test_it_looks_at_the_host_at_each_interval_and_at_no_other_time(parts: FakeParts) -> None:
    polls = round(60 / POLL_SECONDS)
    serve(parts, *[None] * (2 * polls))
    assert parts.driver.discoveries == 1 + 2


def test_an_event_brings_an_update_at_once_and_the_interval_begins_anew(parts: FakeParts) -> None:
    polls = round(60 / POLL_SECONDS)
    serve(parts, *[None] * (polls - 1), Wish.UPDATE, *[None] * (polls - 1))
    assert parts.driver.discoveries == 1 + 1


def test_a_burst_of_events_makes_one_update(parts: FakeParts) -> None:
    inbox: Inbox

    def burst() -> None:
        for _ in range(100):
            inbox.put(Wish.UPDATE)

    inbox = ScriptedInbox(parts.clock, [burst])
    ComputeManager.start(parts, process(parts, inbox)).run()
    assert parts.driver.discoveries == 1 + 1


@given(st.lists(st.integers(1, 5), max_size=5), st.lists(st.integers(0, 3), max_size=8))
def test_events_make_one_update_and_those_during_an_update_make_exactly_one_more(
    tmp_path_factory: pytest.TempPathFactory, bursts: list[int], during: list[int]
) -> None:
    parts = FakeParts(config(ALL), host(CARD), tmp_path_factory.mktemp("state"))
    inbox: Inbox
    is_busy = False

    def put(number: int) -> None:
        for _ in range(number):
            inbox.put(Wish.UPDATE)

    def discover_with_events() -> None:
        nonlocal is_busy
        assert not is_busy, "one update at a time"
        is_busy = True
        put(during_each_update.pop(0) if during_each_update else 0)
        is_busy = False

    during_each_update: list[int] = []
    inbox = ScriptedInbox(parts.clock, [lambda number=number: put(number) for number in bursts])  # type: ignore[misc]
    manager = ComputeManager.start(parts, process(parts, inbox))
    during_each_update = list(during)
    parts.driver.during = discover_with_events
    manager.run()
    assert parts.driver.discoveries == 1 + updates_of(len(bursts), during)


def updates_of(bursts: int, during: Sequence[int]) -> int:
    """Each burst makes one update; while events came during the last one, there is one more."""
    left = list(during)
    updates = 0
    for _ in range(bursts):
        goes_on = True
        while goes_on:
            updates += 1
            goes_on = bool(left) and left.pop(0) > 0
    return updates


def test_hot_plug_that_is_not_noticed_is_logged_once_and_asked_for_again_at_each_interval(parts: FakeParts) -> None:
    parts.driver.events = LanewayError(ErrorCode.HOST_UNREACHABLE, "no socket")
    log, _ = serve(parts, None, None, interval=POLL_SECONDS)
    assert log.of("watch_failed") == ["Hot plug is not noticed: no socket"]
    events = Events()
    status = status_after(parts, changing(parts, "events", events), None, interval=POLL_SECONDS)
    assert status.watching


def test_what_appears_and_vanishes_is_logged_and_counted(parts: FakeParts) -> None:
    log, _ = serve(parts, changing(parts, "found", host(OTHER)), Wish.UPDATE)
    assert log.of("devices_appeared") == ["New devices: 0000:5e:00.0."]
    assert log.of("devices_vanished") == ["Devices that are no longer there: 0000:3b:00.0."]


def test_many_devices_are_one_line(parts: FakeParts) -> None:
    cards = [function(f"0000:3b:00.{number}") for number in range(6)]
    log, _ = serve(parts, changing(parts, "found", host(*cards)), Wish.UPDATE)
    assert log.of("devices_appeared") == [
        "New devices: 0000:3b:00.1, 0000:3b:00.2, 0000:3b:00.3, 0000:3b:00.4 and 1 more."
    ]


def test_a_reload_puts_a_changed_config_in_force(parts: FakeParts) -> None:
    log, supervisor = serve(parts, changing(parts, "written", config()), Wish.RELOAD)
    assert log.of("config_adopted") == [f"The config has changed and is in force: {Path('/etc/laneway/laneway.toml')}."]
    assert supervisor.told == ["READY=1", "RELOADING=1", "STATUS=0 devices", "READY=1", "STOPPING=1"]


def test_a_config_that_changed_without_a_reload_is_noticed_at_the_next_interval(parts: FakeParts) -> None:
    status = status_after(parts, changing(parts, "written", config()), None, interval=POLL_SECONDS)
    assert status.config_since == status.updated_at == parts.clock.now()
    assert status.config_since > status.started_at


def test_a_bad_config_is_refused_with_its_reasons_in_the_status_and_the_log(parts: FakeParts) -> None:
    steps = (changing(parts, "written", REFUSAL), Wish.RELOAD)
    status = status_after(parts, *steps)
    assert status.refused is not None
    assert [error["message"] for error in status.refused.errors] == ["laneway.toml:1: no"]
    assert dict(status.devices.by_status) == {"available": 1}, "the last good one stays in force"
    assert not status.is_well
    parts.written = config(ALL)
    log, _ = serve(parts, *steps)
    assert log.of("config_refused") == ["The config that is written now is refused: laneway.toml:1: no"]


def test_a_refusal_is_logged_once_and_keeps_its_time(parts: FakeParts) -> None:
    half_a_second = POLL_SECONDS
    status = status_after(parts, changing(parts, "written", REFUSAL), None, None, None, interval=half_a_second)
    assert status.refused is not None
    assert status.refused.since < status.updated_at
    parts.written = config(ALL)
    log, _ = serve(parts, changing(parts, "written", REFUSAL), None, None, None, interval=half_a_second)
    assert len(log.of("config_refused")) == 1


def test_a_config_that_is_mended_is_no_longer_refused(parts: FakeParts) -> None:
    good = parts.written
    mended = (
        changing(parts, "written", REFUSAL),
        Wish.RELOAD,
        changing(parts, "written", good),
        Wish.RELOAD,
    )
    assert status_after(parts, *mended).refused is None
    log, _ = serve(parts, *mended)
    assert log.of("config_restored") == ["The config that is written is the one in force again."]
    assert log.of("config_adopted") == []


def test_facts_that_contradict_the_config_in_force_wait_for_a_person(parts: FakeParts) -> None:
    parts.written = config({"address": "0000:3b:00.0", "remote_managed": "true"})
    status = status_after(parts, changing(parts, "found", host(pf("0000:3b:00.0"))), Wish.UPDATE)
    assert [error["code"] for error in status.contradictions] == ["remote_managed_pf"]
    assert not status.is_well


def test_an_update_that_fails_is_reported_once_and_tried_again(parts: FakeParts) -> None:
    log, _ = serve(
        parts,
        changing(parts, "found", AWAY),
        Wish.UPDATE,
        Wish.UPDATE,
        changing(parts, "found", host(CARD, OTHER)),
        Wish.UPDATE,
    )
    assert log.of("update_failed") == ["The host cannot be brought up to date: the host is away"]
    assert log.of("update_recovered") == ["The host could be brought up to date again."]
    assert log.of("devices_appeared") == ["New devices: 0000:5e:00.0."]


def test_a_failing_update_stands_in_the_status_beside_the_last_that_worked(parts: FakeParts) -> None:
    status = status_after(parts, None, changing(parts, "found", AWAY), Wish.UPDATE)
    assert status.failing is not None
    assert [error["code"] for error in status.failing.errors] == ["host_unreachable"]
    assert status.failing.since > status.updated_at
    assert not status.is_well


def test_a_fault_of_ours_ends_the_service_in_order(parts: FakeParts) -> None:
    def fault() -> None:
        raise RuntimeError("a fault")

    on = process(parts, ScriptedInbox(parts.clock, [changing(parts, "during", fault), Wish.UPDATE]))
    manager = ComputeManager.start(parts, on)
    with pytest.raises(RuntimeError, match="a fault"):
        manager.run()
    assert parts.files.read() is None
    assert recorded(on)[1].told[-1] == "STOPPING=1"


def test_requests_to_reload_are_answered_by_the_status(parts: FakeParts) -> None:
    seen: list[AgentStatus | None] = []
    requests: list[Path] = []

    def ask() -> None:
        parts.written = REFUSAL
        requests.extend(parts.files.request_reload() for _ in range(2))

    def look() -> None:
        seen.append(None if any(request.exists() for request in requests) else parts.files.read())

    serve(parts, ask, look)
    assert seen[0] is not None
    assert seen[0].refused is not None
    assert parts.driver.discoveries == 1 + 1, "one reload answers all that have asked"


def test_a_status_that_cannot_be_written_is_logged_and_its_requests_wait(
    parts: FakeParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_files: AgentFiles, _status: AgentStatus) -> None:
        raise OSError(28, "No space left on device")

    def fill_up() -> None:
        parts.files.request_reload()
        monkeypatch.setattr(AgentFiles, "publish", full)

    waiting: list[int] = []
    log, _ = serve(parts, fill_up, lambda: waiting.append(len(parts.files.requests())))
    assert waiting == [1]
    assert "No space left on device" in log.of("status_unwritten")[0]


def test_the_end_is_told_and_leaves_nothing_behind(parts: FakeParts) -> None:
    log, supervisor = serve(parts)
    assert parts.files.read() is None
    assert supervisor.told[-1] == "STOPPING=1"
    assert log.of("stopped") == ["The agent has stopped."]
    assert not any(path.suffix == ".json" for path in parts.files.database.parent.iterdir())


def test_it_shows_that_it_is_alive_while_it_waits(parts: FakeParts, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[float] = []
    monkeypatch.setattr(RecordingSupervisor, "alive", lambda _: alive.append(parts.clock.seconds))
    serve(parts, *[None] * 10)
    assert len(alive) == 10
