"""The JSON contract ``laneway.agent/1``: what a running service says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from laneway.contracts.codec import convert, encode, parse_json
from laneway.domain.device import Status
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError
from laneway.domain.inventory import ReadinessNote

AGENT_SCHEMA = "laneway.agent/1"

Problem = Mapping[str, Any]
"""An error or a warning, as answers have it: code, message, detail or place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCounts:
    """How many tracked devices have each status, and how many of the available ones are blocked."""

    counted_at: datetime
    by_status: Mapping[str, int]
    blocked: int

    def __str__(self) -> str:
        """In words, in which ``available`` means that it can be claimed."""
        tracked = sum(self.by_status.values())
        numbers = {**self.by_status, Status.AVAILABLE: self.by_status.get(Status.AVAILABLE, 0) - self.blocked}
        numbers["blocked"] = self.blocked
        parts = ", ".join(f"{number} {what}" for what, number in numbers.items() if number)
        return f"{tracked} device{'' if tracked == 1 else 's'}{': ' if parts else ''}{parts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something that did not work: since when it is so, and everything that is wrong."""

    since: datetime
    errors: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """How a service stands after its last update.

    ``updated_at`` is the last update that succeeded, ``failing`` why those since then did not.
    ``placement_failing`` is why Placement is not told how the devices stand, ``ports_failing`` why ports of Neutron's
    are not bound as claims say.
    ``upkeep_failing`` is what could not be done on the host: giving back, cleaning, VFs after a boot.
    ``refused`` is why the config that is written now is not in force, ``contradictions`` what of
    the one in force speaks against the facts. ``watching``: events of the host bring updates.
    ``device_spec`` are the entries in force as JSON texts, in the ``dialect`` of their config; None of
    a version that did not tell, as is ``report_in_placement``.
    """

    pid: int
    started_at: datetime
    host: str
    driver: str
    watching: bool
    config_sources: tuple[str, ...]
    config_since: datetime
    updated_at: datetime
    devices: DeviceCounts
    schema: str = AGENT_SCHEMA
    failing: Trouble | None = None
    placement_failing: Trouble | None = None
    ports_failing: Trouble | None = None
    refused: Trouble | None = None
    upkeep_failing: Trouble | None = None
    contradictions: tuple[Problem, ...] = ()
    device_spec: tuple[str, ...] | None = None
    dialect: str = "laneway"
    report_in_placement: bool | None = None
    warnings: tuple[Problem, ...] = ()
    readiness: tuple[ReadinessNote, ...] = field(default=())

    @property
    def is_well(self) -> bool:
        """Whether nothing of it waits for a person."""
        return not self.troubles

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """What waits for a person."""
        known = (self.refused, self.failing, self.placement_failing, self.ports_failing, self.upkeep_failing)
        contradictions = (Trouble(since=self.updated_at, errors=self.contradictions),) if self.contradictions else ()
        return (*(trouble for trouble in known if trouble is not None), *contradictions)


def encode_agent_status(status: AgentStatus) -> bytes:
    """The document, in UTF-8."""
    return encode(status)


def decode_agent_status(data: bytes) -> AgentStatus:
    """The status in a document. Raises LanewayError(invalid_json)."""
    return convert(parse_json(data), AgentStatus, ErrorCode.INVALID_JSON)


def error_of(trouble: Trouble) -> LanewayError:
    """The error that the service met, as it was raised there."""
    if all(_IN_CONFIG <= error["detail"].keys() for error in trouble.errors):
        return ConfigError([_problem_of(error) for error in trouble.errors])
    first = trouble.errors[0]
    return LanewayError(ErrorCode(first["code"]), first["message"], first["detail"])


_IN_CONFIG = frozenset({"option", "entry", "key", "value", "remedy", "place"})
"""What the detail of an error of a config has, and of no other."""


def _problem_of(error: Problem) -> ConfigProblem:
    detail = error["detail"]
    return ConfigProblem(error["code"], error["message"], **{name: detail[name] for name in _IN_CONFIG})
