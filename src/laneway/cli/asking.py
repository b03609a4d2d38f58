"""From the options of a command to the claim that they describe."""

from collections.abc import Sequence

from laneway.bootstrap import LocalHost
from laneway.cli.command import Settings
from laneway.cli.host import source_of
from laneway.cli.parameters import Asked
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.alias import Aliases
from laneway.domain.requests.flavor import parse_flavor
from laneway.domain.requests.request import ClaimRequest, DeviceRequest, NumaPolicy
from laneway.domain.requests.request_parser import parse_constraints, parse_request_json, parse_requests


def claim_on(host: LocalHost, settings: Settings, asked: Asked, claim: str) -> ClaimRequest:
    """The claim that is asked for on a host; of its ports Neutron is asked.

    Raises as ``claim_of`` and ``port_bootstrap.requests_of_ports`` do.
    """
    ports: Sequence[DeviceRequest] = ()
    if asked.ports:
        from laneway.port_bootstrap import requests_of_ports  # noqa: PLC0415 - most claims have no ports

        ports = requests_of_ports(
            source_of(settings), host.config, asked.ports, asked.consumer, guest_policy=_guest_policy(asked)
        )
    return claim_of(asked, claim, host.config.aliases, ports)


def claim_of(asked: Asked, claim: str, aliases: Aliases, ports: Sequence[DeviceRequest] = ()) -> ClaimRequest:
    """The claim of ``--alias``, ``--request`` and ``--port`` together, with its constraints.

    Raises LanewayError: usage where nothing is asked for, invalid_json, invalid_request, unknown_alias.
    """
    policy = _guest_policy(asked)
    requests = (*_by_alias(asked.flavors, aliases, policy), *_in_full(asked.requests, aliases, policy), *ports)
    if not requests:
        raise LanewayError(
            ErrorCode.USAGE,
            "nothing is asked for; say what by --alias, such as --alias gpu:1, by --request or by --port",
        )
    _refuse_same_names(requests)
    limits = [limit for text in asked.constraints for limit in parse_request_json(text)]
    return ClaimRequest(
        consumer=asked.consumer,
        claim=claim,
        requests=requests,
        constraints=parse_constraints(limits, requests),
        guest_numa_nodes=frozenset(asked.numa_nodes),
    )


def _guest_policy(asked: Asked) -> NumaPolicy | None:
    return None if asked.numa_policy is None else NumaPolicy(asked.numa_policy)


def _by_alias(flavors: Sequence[str], aliases: Aliases, policy: NumaPolicy | None) -> tuple[DeviceRequest, ...]:
    return parse_flavor(",".join(flavors), aliases, guest_policy=policy) if flavors else ()


def _in_full(requests: Sequence[str], aliases: Aliases, policy: NumaPolicy | None) -> tuple[DeviceRequest, ...]:
    values = [value for text in requests for value in parse_request_json(text)]
    return parse_requests(values, aliases, guest_policy=policy) if requests else ()


def _refuse_same_names(asked: Sequence[DeviceRequest]) -> None:
    names = [request.name for request in asked]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"two requests are named {twice!r}, by --alias and by --request; give the one of --request another name",
            {"name": twice},
        )
