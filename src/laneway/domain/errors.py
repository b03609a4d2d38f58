"""The one error class of Laneway, its stable codes, and problems of a config as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class ErrorCode(StrEnum):
    """Every code that an error of Laneway can have. A code never changes its meaning or its text."""

    # values and documents
    INVALID_ADDRESS = "invalid_address"
    INVALID_JSON = "invalid_json"
    INVALID_INVENTORY = "invalid_inventory"
    INVALID_SCENARIO = "invalid_scenario"
    INVALID_REQUEST = "invalid_request"
    # config
    INVALID_CONFIG = "invalid_config"
    INVALID_DEVICE_SPEC = "invalid_device_spec"
    INVALID_ALIAS = "invalid_alias"
    DOMAIN_TOO_LARGE = "domain_too_large"
    REMOTE_MANAGED_PF = "remote_managed_pf"
    # claims
    UNKNOWN_ALIAS = "unknown_alias"
    DOES_NOT_FIT = "does_not_fit"
    SEARCH_EXHAUSTED = "search_exhausted"
    CLAIM_CONFLICT = "claim_conflict"
    NO_CLAIM = "no_claim"
    NOT_OWNER = "not_owner"
    NO_MOVE = "no_move"
    MOVE_IN_PROGRESS = "move_in_progress"
    SAME_HOST = "same_host"
    NOT_MIGRATABLE = "not_migratable"
    UNKNOWN_DEVICE = "unknown_device"
    INVALID_STATUS = "invalid_status"
    # changing a host
    DEVICE_IN_USE = "device_in_use"
    DEVICE_OPEN = "device_open"
    GROUP_NOT_VIABLE = "group_not_viable"
    WRONG_DEVICE = "wrong_device"
    NOT_BOUND = "not_bound"
    NOT_ASSIGNABLE = "not_assignable"
    VFS_IN_THE_WAY = "vfs_in_the_way"
    HOST_BUSY = "host_busy"
    HOST_CHANGE_FAILED = "host_change_failed"
    CLEANING_FAILED = "cleaning_failed"
    # around the core
    CANNOT_CORRELATE = "cannot_correlate"
    NOT_SUPPORTED = "not_supported"
    HOST_UNREACHABLE = "host_unreachable"
    NO_PERMISSION = "no_permission"
    DATABASE_UNREACHABLE = "database_unreachable"
    DATABASE_TOO_NEW = "database_too_new"
    DATABASE_TOO_OLD = "database_too_old"
    PLACEMENT_UNREACHABLE = "placement_unreachable"
    PLACEMENT_REFUSED = "placement_refused"
    PLACEMENT_CONFLICT = "placement_conflict"
    NOT_REPORTABLE = "not_reportable"
    NEUTRON_UNREACHABLE = "neutron_unreachable"
    NEUTRON_REFUSED = "neutron_refused"
    NEUTRON_CONFLICT = "neutron_conflict"
    UNKNOWN_PORT = "unknown_port"
    PORT_IN_USE = "port_in_use"
    PORT_BINDING_FAILED = "port_binding_failed"
    AGENT_RUNNING = "agent_running"
    NO_AGENT = "no_agent"
    USAGE = "usage"
    INTERNAL_ERROR = "internal_error"


class LanewayError(Exception):
    """What Laneway raises on purpose.

    ``message`` is for a person: it names the value, where it stands and what would be right.
    ``detail`` holds the same as data that can be written as JSON.
    """

    def __init__(self, code: ErrorCode, message: str, detail: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail: dict[str, object] = dict(detail or {})


class CompoundError(LanewayError):
    """All that is wrong with one input; ``code``, ``message`` and ``detail`` are those of the first."""

    def __init__(self, errors: Sequence[LanewayError]) -> None:
        first = errors[0]
        super().__init__(first.code, first.message, first.detail)
        self.errors = tuple(errors)


def together(errors: Sequence[LanewayError]) -> LanewayError:
    """The errors, of which there is at least one, as one."""
    apart = [one for error in errors for one in errors_of(error)]
    return apart[0] if len(apart) == 1 else CompoundError(apart)


def errors_of(error: LanewayError) -> Sequence[LanewayError]:
    """The errors that it is made of: itself, if it is one."""
    return error.errors if isinstance(error, CompoundError) else (error,)


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One thing that is wrong with, or noteworthy in, a config.

    ``option`` is ``device_spec``, ``alias`` or the name of another option; ``entry`` counts the
    entries of that option from 0, lists counted through; ``place`` is file and line where known.
    """

    code: ErrorCode | str
    message: str
    option: str | None = None
    entry: int | None = None
    key: str | None = None
    value: object = None
    remedy: str | None = None
    place: str | None = None


class ConfigError(LanewayError):
    """A config that cannot be used, with everything that is wrong with it."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        first = problems[0]
        super().__init__(
            ErrorCode(first.code),
            "\n".join(problem.message for problem in problems),
            {"problems": len(problems)},
        )
        self.problems = tuple(problems)


@dataclass(slots=True)
class Findings:
    """Collects what a reader of config finds, so that all of it is reported at once."""

    errors: list[ConfigProblem] = field(default_factory=list)
    warnings: list[ConfigProblem] = field(default_factory=list)

    def raise_errors(self) -> None:
        """Raises ConfigError with all errors, if there are any."""
        if self.errors:
            raise ConfigError(self.errors)
