"""From what a caller writes to a claim: requests, a flavor's text, constraints, guest nodes."""

from collections.abc import Mapping

from laneway.domain.alias import Aliases
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.flavor import parse_flavor
from laneway.domain.request import ClaimRequest, DeviceRequest
from laneway.domain.request_parser import parse_constraints, parse_guest_numa_nodes, parse_requests

_WAYS = ("requests", "flavor", "ports")


def read_claim(values: Mapping[str, object], aliases: Aliases, *, consumer: str, claim: str) -> ClaimRequest:
    """The claim that JSON values describe: ``requests`` or ``flavor``, ``constraints``, ``guest_numa_nodes``.

    Raises LanewayError(invalid_request) or LanewayError(unknown_alias).
    """
    requests = _requests(values, aliases)
    return ClaimRequest(
        consumer=consumer,
        claim=claim,
        requests=requests,
        constraints=parse_constraints(values.get("constraints"), requests),
        guest_numa_nodes=parse_guest_numa_nodes(values.get("guest_numa_nodes")),
    )


def _requests(values: Mapping[str, object], aliases: Aliases) -> tuple[DeviceRequest, ...]:
    given = [way for way in _WAYS if values.get(way) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"a claim says what it wants by one of {', '.join(_WAYS)}; this one has {found}",
            {"given": given},
        )
    flavor = values.get("flavor")
    if isinstance(flavor, str):
        return parse_flavor(flavor, aliases)
    return parse_requests(values.get("requests"), aliases)
