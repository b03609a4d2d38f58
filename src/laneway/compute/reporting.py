"""What the service says of itself: its status, and in the log what changed in it."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from laneway.compute.device_counts import count_devices
from laneway.compute.host_config import C
from laneway.compute.log import EventLog
from laneway.compute.resource_tracker import Updated
from laneway.compute.upkeep import Upkeep
from laneway.contracts.agent_status import AgentStatus, Problem, Trouble
from laneway.contracts.answer import errors_json, problem_json, warning_json
from laneway.contracts.changes import Change
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.interfaces.network import KeptPorts

_BEFORE = {
    "config_warning": "Config",
    "config_refused": "The config that is written now is refused",
    "config_contradicted": "The config in force contradicts the host",
    "update_failed": "The host cannot be brought up to date",
    "upkeep_failed": "Work on the host failed",
    "placement_failed": "Placement is not told how the devices stand",
    "ports_failed": "A port is not bound as claims say",
    "watch_failed": "Hot plug is not noticed",
}
"""What the sentence of a problem begins with, by event."""

_NAMED = 4
"""So many devices a sentence names; all of them stand in its facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What of the status stays as it was at the start."""

    pid: int
    at: datetime
    driver: str


class Reporter:
    """Turns the outcome of each update into the status, and logs how it differs from the one before."""

    def __init__(self, log: EventLog, clock: Callable[[], datetime], begun: Beginning, first: Updated[C]) -> None:
        self._log = log
        self._clock = clock
        self._tracked = frozenset(first.view.addresses())
        self._watch_error: LanewayError | None = None
        self.status = AgentStatus(
            pid=begun.pid,
            started_at=begun.at,
            host=first.host,
            driver=begun.driver,
            watching=False,
            config_sources=_names(first.config.sources),
            config_since=begun.at,
            updated_at=begun.at,
            devices=count_devices(first.view, begun.at),
            warnings=tuple(map(warning_json, first.warnings)),
            device_spec=_texts(first.config.device_specs),
            dialect=_dialect(first.config.device_specs),
            report_in_placement=first.config.report_in_placement,
            readiness=first.inventory.readiness,
            placement_failing=_trouble(None, _errors(first.placement_error), begun.at),
            ports_failing=_trouble(None, _errors(*first.ports.errors), begun.at),
        )
        self._first_ports = first.ports

    def started(self) -> None:
        """The service has begun, after its first update."""
        config = ", ".join(self.status.config_sources) or "no config, so nothing is handed out"
        message = f"The agent of {self.status.host} has started, with the driver {self.status.driver} and {config}."
        self._log.say(
            logging.INFO,
            "started",
            f"{message} {self.status.devices}.",
            host=self.status.host,
            driver=self.status.driver,
        )
        self._say_problems(logging.WARNING, "config_warning", self.status.warnings)
        self._say_placement(None)
        self._say_ports(self._first_ports, None)
        for note in self.status.readiness:
            if note.severity != "info":
                message = f"{note.message}; {note.remedy}" if note.remedy else note.message or note.code
                self._log.say(logging.WARNING, "readiness", message, code=note.code)

    def took(self, updated: Updated[C]) -> None:
        """An update succeeded."""
        now = self._clock()
        before = self.status
        refused = _trouble(before.refused, errors_json(updated.refused) if updated.refused else (), now)
        self.status = replace(
            before,
            host=updated.host,
            updated_at=now,
            config_sources=_names(updated.config.sources),
            config_since=now if updated.adopted else before.config_since,
            devices=count_devices(updated.view, now),
            failing=None,
            refused=refused,
            contradictions=tuple(map(problem_json, updated.contradictions)),
            warnings=tuple(map(warning_json, updated.warnings)),
            device_spec=_texts(updated.config.device_specs),
            dialect=_dialect(updated.config.device_specs),
            report_in_placement=updated.config.report_in_placement,
            readiness=updated.inventory.readiness,
            placement_failing=_trouble(before.placement_failing, _errors(updated.placement_error), now),
            ports_failing=_trouble(before.ports_failing, _errors(*updated.ports.errors), now),
        )
        if before.failing is not None:
            self._log.say(logging.INFO, "update_recovered", "The host could be brought up to date again.")
        self._say_config(before, adopted=updated.adopted)
        self._say_devices(updated)
        self._say_placement(before.placement_failing)
        self._say_ports(updated.ports, before.ports_failing)

    def failed(self, error: LanewayError) -> None:
        """An update did not succeed: everything stays as it was, until the next one."""
        before = self.status.failing
        failing = _trouble(before, errors_json(error), self._clock())
        self.status = replace(self.status, failing=failing)
        if failing != before:
            self._say_problems(logging.ERROR, "update_failed", errors_json(error))

    def kept_up(self, upkeep: Upkeep) -> None:
        """What was done on the host beside, and what of it failed: that is tried again."""
        if upkeep.error is not None and upkeep.error.code is ErrorCode.HOST_BUSY:
            self._log.say(logging.INFO, "host_busy", "Another process changes the host: the next update does the rest.")
            return
        for device, note in _done(upkeep.vfs_restored):
            self._log.say(logging.INFO, "vfs_restored", f"{device} has its VFs again{note}.", device=device)
        for device, note in _done(upkeep.released):
            self._log.say(logging.INFO, "device_released", f"{device} was given back{note}.", device=device)
        for device, note in _done(upkeep.taken_out_of_use):
            self._log.say(logging.WARNING, "device_blocked", f"{device} is ill{note}.", device=device)
        for device, note in _done(upkeep.cleaned):
            self._log.say(logging.INFO, "device_cleaned", f"{device} is clean{note}.", device=device)
        before = self.status.upkeep_failing
        errors = [error for failure in upkeep.errors for error in errors_json(failure)]
        failing = _trouble(before, errors, self._clock())
        self.status = replace(self.status, upkeep_failing=failing)
        if failing is not None and failing != before:
            self._say_problems(logging.ERROR, "upkeep_failed", errors)

    def watches(self, *, watching: bool, error: LanewayError | None) -> None:
        """Whether events of the host bring updates, and why not if they should."""
        if error is not None and error is not self._watch_error:
            self._say_problems(logging.WARNING, "watch_failed", errors_json(error))
        self._watch_error = error
        self.status = replace(self.status, watching=watching)

    def unwritten(self, error: OSError) -> None:
        """The status could not be put where it is looked for."""
        self._log.say(logging.ERROR, "status_unwritten", f"The status cannot be written: {error}")

    def stopped(self) -> None:
        """The service ends as it was asked to."""
        self._log.say(logging.INFO, "stopped", "The agent has stopped.")

    def _say_config(self, before: AgentStatus, *, adopted: bool) -> None:
        now = self.status
        if adopted:
            message = f"The config has changed and is in force: {', '.join(now.config_sources)}."
            self._log.say(logging.INFO, "config_adopted", message, sources=now.config_sources)
        elif before.refused is not None and now.refused is None:
            self._log.say(logging.INFO, "config_restored", "The config that is written is the one in force again.")
        if now.refused is not None and now.refused != before.refused:
            self._say_problems(logging.ERROR, "config_refused", now.refused.errors)
        if now.contradictions != before.contradictions:
            self._say_problems(logging.ERROR, "config_contradicted", now.contradictions)
        new = [warning for warning in now.warnings if warning not in before.warnings]
        self._say_problems(logging.WARNING, "config_warning", new)

    def _say_placement(self, before: Trouble | None) -> None:
        now = self.status.placement_failing
        if now is not None and now != before:
            self._say_problems(logging.ERROR, "placement_failed", now.errors)
        if now is None and before is not None:
            self._log.say(logging.INFO, "placement_recovered", "Placement is told again how the devices stand.")

    def _say_ports(self, ports: KeptPorts, before: Trouble | None) -> None:
        for port in (port for port in ports.ports if port.done):
            done = ", ".join(port.done)
            self._log.say(logging.INFO, "port_changed", f"Port {port.port} of {port.consumer}: {done}.", port=port.port)
        now = self.status.ports_failing
        if now is not None and now != before:
            self._say_problems(logging.ERROR, "ports_failed", now.errors)
        if now is None and before is not None:
            self._log.say(logging.INFO, "ports_recovered", "All ports are bound as claims say again.")

    def _say_devices(self, updated: Updated[C]) -> None:
        tracked = frozenset(updated.view.addresses())
        changes = {
            "devices_appeared": (tracked - self._tracked, "New devices"),
            "devices_vanished": (self._tracked - tracked, "Devices that are no longer there"),
            "claims_expired": (updated.expired, "Claims of these devices have expired, and they are free"),
        }
        self._tracked = tracked
        for event, (addresses, what) in changes.items():
            if addresses:
                named = [str(address) for address in sorted(addresses)]
                self._log.say(logging.INFO, event, f"{what}: {_listed(named)}.", devices=named)

    def _say_problems(self, level: int, event: str, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._log.say(level, event, f"{_BEFORE[event]}: {problem['message']}", code=problem["code"])


def _errors(*errors: LanewayError | None) -> Sequence[Problem]:
    return [problem for error in errors if error is not None for problem in errors_json(error)]


def _done(changes: Iterable[Change]) -> list[tuple[str, str]]:
    """The devices about which something was done, each with what is noted beside it."""
    return [(str(each.address), f" ({each.note})" if each.note else "") for each in changes if each.error is None]


def _trouble(before: Trouble | None, errors: Sequence[Problem], now: datetime) -> Trouble | None:
    """The errors with the time since when they are the same; None if there are none."""
    if not errors:
        return None
    if before is not None and list(before.errors) == list(errors):
        return before
    return Trouble(since=now, errors=tuple(errors))


def _texts(specs: DeviceSpecs) -> tuple[str, ...]:
    return tuple(spec.source for spec in specs)


def _dialect(specs: DeviceSpecs) -> str:
    """All entries stand in one config; with none it makes no difference."""
    return next((spec.dialect for spec in specs), "laneway")


def _names(sources: Iterable[Path]) -> tuple[str, ...]:
    return tuple(str(source) for source in sources)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])} and {more} more" if more > 0 else ", ".join(names)
