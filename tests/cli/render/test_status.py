"""The pages about the agent."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from laneway.cli.render.screen import PLAIN, Screen
from laneway.cli.render.status import reload_page, status_page
from laneway.contracts.agent_status import AgentStatus, DeviceCounts, Trouble
from laneway.contracts.status import HostStatus
from laneway.domain.address import PciAddress
from laneway.domain.inventory import ReadinessNote
from laneway.domain.tracking.drift import Drift

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
COUNTS = DeviceCounts(counted_at=NOON, by_status={"available": 3, "claimed": 1}, blocked=1)
AGENT = AgentStatus(
    pid=4711,
    started_at=NOON,
    host="gpu-1",
    driver="linux",
    watching=True,
    config_sources=("/etc/laneway/laneway.toml",),
    config_since=NOON,
    updated_at=NOON,
    devices=COUNTS,
)


def page(agent: AgentStatus | None, screen: Screen = PLAIN) -> list[str]:
    status = HostStatus(host="gpu-1", database="/state/laneway.db", agent=agent, devices=COUNTS, readiness=())
    return status_page(status, screen)


def trouble(message: str) -> Trouble:
    return Trouble(since=NOON, errors=({"code": "invalid_config", "message": message, "detail": {}},))


def test_without_an_agent_it_is_said_that_none_is_needed() -> None:
    assert page(None) == [
        "gpu-1: no agent runs",
        "  state        /state/laneway.db",
        "  devices      4 devices: 2 available, 1 claimed, 1 blocked",
        "",
        "Commands look at the host themselves, and need no agent. `laneway agent` starts one.",
    ]


def test_an_agent_that_is_well() -> None:
    assert page(AGENT) == [
        "gpu-1: an agent runs, and all is well",
        "  process      4711, since 2026-12-01 12:00:00+00:00",
        "  host driver  linux, hot plug is noticed at once",
        "  config       /etc/laneway/laneway.toml, in force since 2026-12-01 12:00:00+00:00",
        "  last update  2026-12-01 12:00:00+00:00",
        "  state        /state/laneway.db",
        "  devices      4 devices: 2 available, 1 claimed, 1 blocked",
    ]


@pytest.mark.parametrize(
    ("agent", "lines"),
    [
        pytest.param(
            replace(AGENT, refused=trouble("laneway.toml:1:\nno")),
            [
                "The config that is written now is refused, since 2026-12-01 12:00:00+00:00",
                "  laneway.toml:1: no",
            ],
            id="a config that was refused",
        ),
        pytest.param(
            replace(AGENT, failing=trouble("away")),
            ["The host cannot be brought up to date, since 2026-12-01 12:00:00+00:00", "  away"],
            id="a host that cannot be read",
        ),
        pytest.param(
            replace(AGENT, contradictions=trouble("entry 0 is a PF").errors),
            ["The config in force contradicts the host", "  entry 0 is a PF"],
            id="facts against the config",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_reasons(agent: AgentStatus, lines: list[str]) -> None:
    shown = page(agent)
    assert shown[0] == "gpu-1: an agent runs, and something is wrong"
    assert shown[7 : 8 + len(lines)] == ["", *lines]


def test_nothing_in_it_steers_a_terminal() -> None:
    sly = replace(AGENT, host="a\x1b[2J", refused=trouble("b\x1b[2J"), config_sources=("c\x1b[2J",))
    status = HostStatus(host="d\x1b[2J", database="e\x1b[2J", agent=sly, devices=COUNTS, readiness=())
    assert "\x1b[2J" not in "".join(status_page(status, Screen(color=True)) + reload_page(sly, Screen(color=True)))


def test_an_agent_without_events_or_config() -> None:
    shown = page(replace(AGENT, watching=False, config_sources=()))
    assert "  host driver  linux, looked at in intervals" in shown
    assert "  config       none, so nothing is handed out, in force since 2026-12-01 12:00:00+00:00" in shown


def test_the_readiness_of_the_host_stands_below() -> None:
    note = ReadinessNote(code="iommu_off", severity="error", message="there is no IOMMU", remedy="turn it on")
    status = HostStatus(host="gpu-1", database="x", agent=AGENT, devices=COUNTS, readiness=[note])
    assert status_page(status, PLAIN)[-3:] == ["Readiness", "  error    there is no IOMMU", "           turn it on"]


def test_what_is_not_as_recorded_makes_it_wrong_with_or_without_an_agent() -> None:
    drift = [Drift("not_in_vm", PciAddress.parse("0000:3b:00.0"), "db-1 runs without it")]
    for agent in (AGENT, None):
        status = HostStatus(host="gpu-1", database="x", agent=agent, devices=COUNTS, readiness=(), drift=drift)
        shown = status_page(status, PLAIN)
        assert shown[-3:] == ["", "Not as recorded", "  0000:3b:00.0: db-1 runs without it"]
        assert "all is well" not in shown[0]


def test_a_reload_tells_what_is_in_force_and_what_is_noteworthy() -> None:
    agent = replace(AGENT, warnings=({"code": "unknown_tag", "message": "a tag"},))
    assert reload_page(agent, PLAIN) == [
        "The config is in force: /etc/laneway/laneway.toml",
        "  devices      4 devices: 2 available, 1 claimed, 1 blocked",
        "",
        "Noted",
        "  a tag",
    ]
    assert reload_page(replace(AGENT, config_sources=()), PLAIN)[0] == "The config is in force: there is none"
