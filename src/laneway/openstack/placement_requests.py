"""From requests to what Placement is asked, and from its answer back to requests (rules P11 to P14).

Placement chooses the provider of each device, and the claim then takes devices of these providers.
"""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.placement_terms import (
    FORBIDDEN,
    LIVE_MIGRATABLE_TRAIT,
    official_name,
    resource_class_of_ids,
    split_list,
)
from laneway.domain.requests.request import Alternative, DeviceRequest
from laneway.domain.tags import parse_boolean
from laneway.interfaces.placement import Candidate, StandardNames
from laneway.openstack.device_providers import OWNER_TRAIT

_SUFFIX = re.compile(r"[a-zA-Z0-9_-]{1,40}")
"""What Placement takes after ``resources_`` (microversion 1.33), which has at most 64 characters, number included."""

MOST_GROUPS = 64
"""So many devices one query asks for: its groups stand in the address of one HTTP request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestGroup:
    """What is asked for one device: one of a class, of one provider with and without these traits.

    ``suffix`` tells it from the other groups of a query: the request's name and the device's number.
    """

    suffix: str
    request: str
    resource_class: str
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()


def request_groups(requests: Sequence[DeviceRequest], names: StandardNames) -> tuple[RequestGroup, ...]:
    """One group for each device (rule P11); none for ports, which Placement knows nothing of (rule P14).

    Raises LanewayError(invalid_request) for what cannot be asked of Placement: no class, or alternatives.
    """
    placed = [request for request in requests if is_in_placement(request)]
    if sum(request.count for request in placed) > MOST_GROUPS:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"more than {MOST_GROUPS} devices are asked for at once, which is more than one query of Placement can say;"
            " ask for less",
            {"requests": [request.name for request in placed]},
        )
    taken = {request.name for request in requests}
    groups: list[RequestGroup] = []
    for place, request in enumerate(placed):
        groups += _groups(request, _suffixes(request, place, taken), names)
        taken |= {group.suffix for group in groups}
    return tuple(groups)


def is_in_placement(request: DeviceRequest) -> bool:
    """Whether Placement chooses the devices. A port's are chosen by the claim alone (rule P14)."""
    return request.requester is None and not any(
        way.tags.get("physical_network") is not None for way in request.alternatives
    )


def candidate_query(
    groups: Sequence[RequestGroup],
    *,
    root: str | None = None,
    root_traits: Collection[str] = (),
    limit: int | None = None,
    of_nova_only: bool = False,
) -> tuple[tuple[str, str], ...]:
    """The query of allocation candidates that the groups make, to be added to what else a guest needs.

    ``root`` is the uuid of the one host that may answer; ``root_traits`` are those that a host has to have
    (``compute_traits.required_traits``). ``of_nova_only`` leaves out the providers of other services; every
    host has to report its owner by then (rule P12).
    """
    query: list[tuple[str, str]] = []
    for group in groups:
        required = sorted(group.required | ({OWNER_TRAIT} if of_nova_only else frozenset()))
        traits = ",".join([*required, *(f"{FORBIDDEN}{trait}" for trait in sorted(group.forbidden))])
        query.append((f"resources_{group.suffix}", f"{group.resource_class}:1"))
        if traits:
            query.append((f"required_{group.suffix}", traits))
        if root is not None:
            query.append((f"in_tree_{group.suffix}", root))
    if len(groups) > 1:
        query.append(("group_policy", "none"))  # isolate would spread VFs over PFs
    of_root = sorted({*root_traits, OWNER_TRAIT} if of_nova_only else set(root_traits))
    if of_root:
        query.append(("root_required", ",".join(of_root)))
    if limit is not None:
        query.append(("limit", str(limit)))
    return tuple(query)


def placed_requests(
    requests: Sequence[DeviceRequest],
    groups: Sequence[RequestGroup],
    candidate: Candidate,
    provider_names: Mapping[str, str],
) -> tuple[DeviceRequest, ...]:
    """The requests as they are to be claimed: one for each device, of the provider that was chosen for it (rule P13).

    They are named as the groups, ``gpu-0`` and ``gpu-1`` for two devices of the request ``gpu``; the requests
    of ports stay as they are. ``provider_names`` are those of the host's providers, by uuid.
    Raises LanewayError(invalid_request) for a candidate that serves other groups, or from no provider of ours.
    """
    placed: list[DeviceRequest] = []
    for request in requests:
        own = [group for group in groups if group.request == request.name]
        if not own:
            placed.append(request)
        for group in own:
            address = _chosen(group, candidate, provider_names)
            placed.append(replace(request, name=group.suffix, count=1, provider=address))
    return tuple(placed)


def _suffixes(request: DeviceRequest, place: int, taken: Container[str]) -> tuple[str, ...]:
    """The request's name with the number of each device; another one where that is taken or cannot be a suffix."""
    base = request.name if _SUFFIX.fullmatch(request.name) else f"request{place}"
    while True:
        suffixes = tuple(f"{base}-{number}" for number in range(request.count))
        if not any(suffix in taken for suffix in suffixes):
            return suffixes
        base += "_"


def _groups(request: DeviceRequest, suffixes: Sequence[str], names: StandardNames) -> Iterator[RequestGroup]:
    if len(request.alternatives) != 1:
        raise _refused(request, "has alternatives, of which Placement takes only one", "give their devices one class")
    way = request.alternatives[0]
    resource_class = _resource_class(request, way, names)
    required, forbidden = _traits(way, names.traits)
    for suffix in suffixes:
        yield RequestGroup(
            suffix=suffix,
            request=request.name,
            resource_class=resource_class,
            required=required,
            forbidden=forbidden,
        )


def _resource_class(request: DeviceRequest, way: Alternative, names: StandardNames) -> str:
    wanted = way.tags.get("resource_class")
    if isinstance(wanted, str):
        return official_name(wanted, names.resource_classes)
    if way.vendor_id is None or way.product_id is None:
        raise _refused(request, "names no resource class", "add resource_class, or vendor_id and product_id")
    return official_name(resource_class_of_ids(way.vendor_id, way.product_id), names.resource_classes)


def _traits(way: Alternative, standard: Container[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Those that are required and those that are forbidden (rules D11 and D12)."""
    wanted = way.tags.get("traits")
    named = wanted if isinstance(wanted, tuple) else split_list(wanted) if isinstance(wanted, str) else ()
    required = {official_name(trait, standard) for trait in named if not trait.startswith(FORBIDDEN)}
    forbidden = {official_name(trait[1:], standard) for trait in named if trait.startswith(FORBIDDEN)}
    migratable = way.tags.get("live_migratable")
    if isinstance(migratable, str):
        migratable = parse_boolean(migratable)
    if migratable is not None:
        (required if migratable else forbidden).add(LIVE_MIGRATABLE_TRAIT)
    return frozenset(required), frozenset(forbidden)


def _chosen(group: RequestGroup, candidate: Candidate, provider_names: Mapping[str, str]) -> PciAddress:
    uuid = candidate.serving.get(group.suffix)
    name = provider_names.get(uuid or "", "")
    try:
        return PciAddress.parse(name.rpartition("_")[2])
    except LanewayError as error:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST,
            f"the candidate of Placement has {uuid or 'nothing'} for {group.suffix}, which is no provider of a PCI"
            " device of this host; ask for candidates anew",
            {"group": group.suffix, "provider": uuid},
        ) from error


def _refused(request: DeviceRequest, fault: str, remedy: str) -> LanewayError:
    return LanewayError(
        ErrorCode.INVALID_REQUEST,
        f"request {request.name} {fault}, so Placement cannot be asked for it; {remedy}",
        {"request": request.name},
    )
