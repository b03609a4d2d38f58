"""What Laneway answers, as JSON values: a step of a scenario, an error, a warning."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from laneway.contracts.codec import encode
from laneway.domain.address import PciAddress
from laneway.domain.config_entry import shown
from laneway.domain.device import BlockReason, TagValue
from laneway.domain.errors import CompoundError, ConfigError, ConfigProblem, LanewayError
from laneway.domain.tracking.drift import Drift
from laneway.domain.tracking.host_view import HostView
from laneway.domain.tracking.pools import Pool

if TYPE_CHECKING:
    from laneway.domain.tracking.tracker import PciDeviceTracker

Json = dict[str, object]

_MOST_ECHOED = 1_000
"""In bytes of JSON. Of a longer value an error repeats the beginning, as text."""


def error_json(error: LanewayError) -> Json:
    """An error as ``code``, ``message`` and ``detail``; of several, and of a config, the first."""
    if isinstance(error, ConfigError):
        return problem_json(error.problems[0])
    detail = error.detail
    if "value" in detail:
        detail = {**detail, "value": _echo(detail["value"])}
    return {"code": str(error.code), "message": error.message, "detail": detail}


def errors_json(error: LanewayError) -> list[Json]:
    """All that is wrong: each problem of a config, each of several errors, or the one error."""
    if isinstance(error, ConfigError):
        return [problem_json(problem) for problem in error.problems]
    if isinstance(error, CompoundError):
        return [told for one in error.errors for told in errors_json(one)]
    return [error_json(error)]


def problem_json(problem: ConfigProblem) -> Json:
    """An error of a config: entry, key, value and remedy in ``detail``."""
    return {"code": str(problem.code), "message": problem.message, "detail": _problem_detail(problem)}


def warning_json(problem: ConfigProblem) -> Json:
    """A warning about a config."""
    return {
        "code": str(problem.code),
        "message": problem.message,
        "entry": problem.entry,
        "key": problem.key,
        "option": problem.option,
        "value": _echo(problem.value),
        "remedy": problem.remedy,
        "place": problem.place,
    }


def drift_json(drift: Drift) -> Json:
    return {"code": drift.code, "address": str(drift.address), "message": drift.message}


def block_json(reason: BlockReason) -> Json:
    return {"code": reason.code, "message": reason.message, "detail": reason.detail}


def devices_json(devices: Mapping[str, tuple[PciAddress, ...]]) -> Json:
    """The chosen addresses by request."""
    return {name: [str(address) for address in addresses] for name, addresses in devices.items()}


def status_json(view: HostView, address: PciAddress) -> Json:
    """One tracked device: status, owner while it has one, entry, and what blocks it."""
    held, admitted = view.held.get(address), view.admitted.get(address)
    owner = {} if held is None or not held.is_owned else {"consumer": held.consumer, "claim": held.claim}
    return {
        "status": str(view.status_of(address)),
        **owner,
        "entry": None if admitted is None else admitted.entry,
        "blocked_by": [block_json(reason) for reason in view.blocked_by(address)],
    }


def pool_json(pool: Pool) -> Json:
    key = pool.key
    tags: dict[str, TagValue] = dict(key.tags)
    return {
        "count": pool.count,
        "vendor_id": key.vendor_id,
        "product_id": key.product_id,
        "dev_type": str(key.dev_type),
        "numa_node": key.numa_node,
        "parent": str(key.parent),
        "tags": tags,
    }


def step_json(
    op: str,
    tracker: "PciDeviceTracker",
    *,
    devices: Mapping[str, tuple[PciAddress, ...]] | None = None,
    proven_best: bool | None = None,
    profiles: Mapping[PciAddress, Mapping[str, object]] | None = None,
    error: LanewayError | None = None,
) -> Json:
    """What a step did, and how the host stands after it. ``profiles`` is there only where it was asked for."""
    answer: Json = {
        "op": op,
        "ok": error is None,
        "error": None if error is None else _step_error_json(error),
        "devices": None if devices is None else devices_json(devices),
        "proven_best": proven_best,
        "statuses": {str(a): status_json(tracker.view, a) for a in sorted(tracker.view.addresses())},
        "pools": [pool_json(pool) for pool in tracker.pools()],
    }
    if profiles is not None:
        answer["profiles"] = {str(address): profile for address, profile in profiles.items()}
    return answer


def _step_error_json(error: LanewayError) -> Json:
    """A step has no list ``errors``: of a bad config or inventory, all are in ``detail``."""
    if isinstance(error, ConfigError):
        return {**error_json(error), "detail": {**_problem_detail(error.problems[0]), "errors": errors_json(error)}}
    if isinstance(error, CompoundError):
        return {**error_json(error), "detail": {**error.detail, "errors": errors_json(error)}}
    return error_json(error)


def _problem_detail(problem: ConfigProblem) -> Json:
    return {
        "option": problem.option,
        "entry": problem.entry,
        "key": problem.key,
        "value": _echo(problem.value),
        "remedy": problem.remedy,
        "place": problem.place,
    }


def _echo(value: object) -> object:
    """A value that is at fault, as an error repeats it: whole, if that is short."""
    try:
        is_short = len(encode(value)) <= _MOST_ECHOED
    except RecursionError:
        is_short = False
    return value if is_short else shown(value)
