"""The pages of ``laneway status`` and ``laneway reload``."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from laneway.cli.render.readiness import notes_block
from laneway.cli.render.screen import Screen, Tone
from laneway.contracts.agent_status import AgentStatus, Problem, Trouble
from laneway.contracts.status import HostChange, HostStatus

_INDENT = " " * 2
_LABEL = 13


def status_page(status: HostStatus, screen: Screen) -> list[str]:
    """What runs, what is in force, what is wrong, and the devices in numbers."""
    agent = status.agent
    if agent is None:
        lines = [
            screen.paint(f"{status.host}: no agent runs", Tone.WAITING),
            _row("state", status.database, screen),
            _row("devices", str(status.devices), screen),
            "",
            "Commands look at the host themselves, and need no agent. `laneway agent` starts one.",
        ]
    else:
        lines = [
            screen.paint(
                f"{status.host}: an agent runs, and {'all is well' if status.is_well else 'something is wrong'}",
                Tone.GOOD if status.is_well else Tone.BAD,
            ),
            _row("process", f"{agent.pid}, since {_time(agent.started_at)}", screen),
            _row("host driver", f"{agent.driver}, {_watching(agent)}", screen),
            _row("config", _config(agent), screen),
            _row("last update", _time(agent.updated_at), screen),
            _row("state", status.database, screen),
            _row("devices", str(status.devices), screen),
            *_troubles(agent, screen),
        ]
    if status.failing_ports:
        ports = "1 port is" if status.failing_ports == 1 else f"{status.failing_ports} ports are"
        lines += ["", screen.paint(f"{ports} not bound as claims say: `laneway ports` tells why", Tone.BAD)]
    if status.change is not None:
        lines += ["", _change(status.change, screen)]
    if status.drift:
        lines += ["", screen.paint("Not as recorded", Tone.BAD)]
        lines += [_INDENT + screen.paint(f"{one.address}: {one.message}") for one in status.drift]
    notes = notes_block(status.readiness, screen)
    return [*lines, "", *notes] if notes else lines


def reload_page(agent: AgentStatus, screen: Screen) -> list[str]:
    """What is in force after a reload that was not refused."""
    return [
        screen.paint(f"The config is in force: {', '.join(agent.config_sources) or 'there is none'}", Tone.GOOD),
        _row("devices", str(agent.devices), screen),
        *_problems("Noted", agent.warnings, Tone.WAITING, screen),
    ]


def _change(change: HostChange, screen: Screen) -> str:
    what = f"{change.action} of {change.address}, {change.begun} of {change.steps} steps begun"
    if change.going_on:
        return screen.paint(f"A process is changing the host: {what}", Tone.WAITING)
    return screen.paint(
        f"Interrupted: {what}; whatever changes the host next ends it, such as laneway release", Tone.BAD
    )


def _row(label: str, text: str, screen: Screen) -> str:
    return f"{_INDENT}{screen.paint(label.ljust(_LABEL), Tone.DIM)}{screen.paint(text)}"


def _watching(agent: AgentStatus) -> str:
    return "hot plug is noticed at once" if agent.watching else "looked at in intervals"


def _config(agent: AgentStatus) -> str:
    sources = ", ".join(agent.config_sources) or "none, so nothing is handed out"
    return f"{sources}, in force since {_time(agent.config_since)}"


def _troubles(agent: AgentStatus, screen: Screen) -> list[str]:
    return [
        *_trouble("The config that is written now is refused", agent.refused, screen),
        *_trouble("The host cannot be brought up to date", agent.failing, screen),
        *_trouble("Placement is not told how the devices stand", agent.placement_failing, screen),
        *_trouble("Ports are not bound as claims say, which is tried again", agent.ports_failing, screen),
        *_trouble("Work on the host could not be done, and is tried again", agent.upkeep_failing, screen),
        *_problems("The config in force contradicts the host", agent.contradictions, Tone.BAD, screen),
        *_problems("Noted", agent.warnings, Tone.WAITING, screen),
    ]


def _trouble(title: str, trouble: Trouble | None, screen: Screen) -> list[str]:
    if trouble is None:
        return []
    return _problems(f"{title}, since {_time(trouble.since)}", trouble.errors, Tone.BAD, screen)


def _problems(title: str, problems: Iterable[Problem], tone: Tone, screen: Screen) -> list[str]:
    lines = [_INDENT + screen.paint(_told(problem)) for problem in problems]
    return ["", screen.paint(title, tone), *lines] if lines else []


def _told(problem: Mapping[str, object]) -> str:
    return " ".join(str(problem["message"]).split())


def _time(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds")
