"""From what a caller writes to a claim: requests, a flavor's text, ports, constraints, guest nodes."""

from collections.abc import Mapping

from laneway.contracts.scenario import GUEST_POLICY_KEYS
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.alias import Aliases
from laneway.domain.requests.flavor import parse_flavor
from laneway.domain.requests.guest_policy import guest_numa_policy
from laneway.domain.requests.request import ClaimRequest, DeviceRequest, NumaPolicy
from laneway.domain.requests.request_parser import parse_constraints, parse_guest_numa_nodes, parse_requests
from laneway.domain.requests.request_shape import refused, text_at
from laneway.network.port_parser import parse_ports

_WAYS = ("requests", "flavor", "ports")


def read_claim(values: Mapping[str, object], aliases: Aliases, *, consumer: str, claim: str) -> ClaimRequest:
    """The claim that JSON values describe: ``requests``, ``flavor`` or ``ports``, with ``constraints``,
    ``guest_numa_nodes``, and the policies of flavor and image.

    Raises LanewayError(invalid_request), LanewayError(unknown_alias), and LanewayError(not_supported)
    for a port whose device Cyborg chooses.
    """
    requests = _requests(values, aliases, _guest_policy(values))
    return ClaimRequest(
        consumer=consumer,
        claim=claim,
        requests=requests,
        constraints=parse_constraints(values.get("constraints"), requests),
        guest_numa_nodes=parse_guest_numa_nodes(values.get("guest_numa_nodes")),
    )


def _guest_policy(values: Mapping[str, object]) -> NumaPolicy | None:
    flavor, image = (text_at(values, key, "claim") for key in GUEST_POLICY_KEYS)
    return guest_numa_policy(flavor, image)


def _requests(
    values: Mapping[str, object], aliases: Aliases, guest_policy: NumaPolicy | None
) -> tuple[DeviceRequest, ...]:
    given = [way for way in _WAYS if values.get(way) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"a claim says what it wants by one of {', '.join(_WAYS)}; this one has {found}",
            {"given": given},
        )
    if given == ["requests"]:
        return parse_requests(values["requests"], aliases, guest_policy=guest_policy)
    if given == ["ports"]:
        return parse_ports(values["ports"], guest_policy=guest_policy)
    flavor = values["flavor"]
    if not isinstance(flavor, str):
        raise refused("flavor", flavor, "is not a text; write the aliases and counts, such as 'gpu:2,nic:1'")
    return parse_flavor(flavor, aliases, guest_policy=guest_policy)
