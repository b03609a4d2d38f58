"""The JSON contract ``laneway.status/1``: whether an agent runs on a host, how it is, and how the host stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from laneway.contracts.agent_status import AgentStatus, DeviceCounts, error_of
from laneway.contracts.answer import Json, drift_json, error_json
from laneway.contracts.codec import to_plain
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import ReadinessNote
from laneway.domain.tracking.drift import Drift

STATUS_SCHEMA = "laneway.status/1"
RELOAD_SCHEMA = "laneway.reload/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChange:
    """A change of the host that has begun: so many of its ``steps``. ``going_on``: a process is at it.

    Otherwise it was interrupted, and whatever changes the host next brings it to an end.
    """

    action: str
    address: PciAddress
    steps: int
    begun: int
    going_on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStatus:
    """``agent`` is None where none runs. ``devices`` are counted now, or by the agent where the host cannot be read.

    ``drift`` is where the host does not stand as it is recorded, ``change`` what is being changed on it.
    ``failing_ports``: so many ports of Neutron's could not be bound, or unbound, when that was last tried.
    """

    host: str
    database: str
    agent: AgentStatus | None
    devices: DeviceCounts
    readiness: Sequence[ReadinessNote]
    drift: Sequence[Drift] = ()
    change: HostChange | None = None
    failing_ports: int = 0

    @property
    def is_well(self) -> bool:
        """Whether an agent runs, and nothing waits for a person."""
        is_interrupted = self.change is not None and not self.change.going_on
        waits = self.drift or is_interrupted or self.failing_ports
        return self.agent is not None and self.agent.is_well and not waits


def status_document(status: HostStatus) -> Json:
    return {
        "schema": STATUS_SCHEMA,
        "ok": status.is_well,
        "error": None if status.is_well else error_json(_first_error(status)),
        "host": status.host,
        "database": status.database,
        "agent": None if status.agent is None else _agent_json(status.agent),
        "devices": to_plain(status.devices),
        "drift": [drift_json(one) for one in status.drift],
        "change": None if status.change is None else to_plain(status.change),
        "failing_ports": status.failing_ports,
        "readiness": to_plain(status.readiness),
    }


def _first_error(status: HostStatus) -> LanewayError:
    """Of all that waits for a person, which stands in the document, what to look at first."""
    agent = status.agent
    if agent is None:
        message = f"no agent runs on {status.host}; `laneway agent` starts one, and commands need none"
        return LanewayError(ErrorCode.NO_AGENT, message, {"host": status.host})
    if agent.troubles:
        return error_of(agent.troubles[0])
    for one in status.drift:
        return LanewayError(ErrorCode.INVALID_STATUS, f"{one.address}: {one.message}", drift_json(one))
    if status.failing_ports:
        message = f"{status.failing_ports} of Neutron's ports not bound as claims say; `laneway ports` tells why"
        return LanewayError(ErrorCode.PORT_BINDING_FAILED, message, {"ports": status.failing_ports})
    message = "a change of the host was interrupted; whatever changes the host next ends it, such as laneway release"
    return LanewayError(ErrorCode.HOST_CHANGE_FAILED, message, {"change": to_plain(status.change)})


def _agent_json(agent: AgentStatus) -> Json:
    """Without what stands beside it."""
    beside = ("schema", "host", "devices", "readiness")
    return {key: value for key, value in to_plain(agent).items() if key not in beside}


def reload_document(agent: AgentStatus) -> Json:
    """The answer to a reload that was not refused: what is in force."""
    return {
        "schema": RELOAD_SCHEMA,
        "ok": True,
        "host": agent.host,
        "config_sources": list(agent.config_sources),
        "config_since": to_plain(agent.config_since),
        "warnings": to_plain(agent.warnings),
        "devices": to_plain(agent.devices),
    }
