"""From a claim and what is on offer to the problem that ``assignment`` solves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.assignment.problem import (
    AssignmentConstraint,
    AssignmentProblem,
    NoSolution,
    SearchExhausted,
    Solution,
)
from laneway.domain.assignment.problem import Cohort as Choice
from laneway.domain.assignment.solver import DEFAULT_BUDGET, solve
from laneway.domain.device import Attach, PciDevice
from laneway.domain.requests.matching import constraint_values, serves
from laneway.domain.requests.numa import NumaTopology, is_away
from laneway.domain.requests.request import ClaimRequest, Constraint, ConstraintKind, DeviceRequest
from laneway.domain.tracking.host_view import HostView
from laneway.domain.tracking.pools import Cohort, PoolIndex

Outcome = Solution | NoSolution | SearchExhausted


def select(view: HostView, claim: ClaimRequest, budget: int = DEFAULT_BUDGET) -> Outcome:
    """The best devices for a claim."""
    if _is_one_plain_device(claim) and not view.owned_by(claim.consumer):
        return _cheapest(view.index, view.topology, claim)
    return solve(problem_of(view, claim), budget)


def problem_of(view: HostView, claim: ClaimRequest) -> AssignmentProblem:
    """The choice that the claim leaves, over cohorts of interchangeable devices."""
    claim = replace(claim, constraints=_essential(claim.constraints))
    parts = list(_parts(view.index, claim))
    places: dict[int, list[int]] = {}
    for place, part in enumerate(parts):
        places.setdefault(id(part.cohort), []).append(place)
    names = [request.name for request in claim.requests]
    return AssignmentProblem(
        counts=tuple(request.count for request in claim.requests),
        cohorts=tuple(
            _as_choice(view, claim, part, _relatives(place, part, places)) for place, part in enumerate(parts)
        ),
        constraints=tuple(
            AssignmentConstraint(constraint.kind, tuple(names.index(name) for name in constraint.requests))
            for constraint in claim.constraints
        ),
    )


def _essential(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """The constraints without those that another one of the same kind and attribute implies: over more requests."""
    kept: dict[tuple[ConstraintKind, str], list[Constraint]] = {}
    for constraint in sorted(constraints, key=lambda one: -len(one.requests)):
        alike = kept.setdefault((constraint.kind, constraint.attribute), [])
        if not any(set(constraint.requests) <= set(other.requests) for other in alike):
            alike.append(constraint)
    return tuple(constraint for alike in kept.values() for constraint in alike)


def serving(
    device: PciDevice, request: DeviceRequest, topology: NumaTopology, guest_nodes: frozenset[int]
) -> int | None:
    """How many tags of the device the request did not ask for, or None where it cannot serve it."""
    if not topology.admits(request.numa_policy, device.function.numa_node, guest_nodes):
        return None
    return serves(device, request)


def _is_one_plain_device(claim: ClaimRequest) -> bool:
    if len(claim.requests) != 1 or claim.constraints:
        return False
    request = claim.requests[0]
    return (
        request.count == 1
        and request.attach is Attach.VFIO
        and request.provider is None
        and all(alternative.parent_ifname is None for alternative in request.alternatives)
    )


def _cheapest(index: PoolIndex, topology: NumaTopology, claim: ClaimRequest) -> Outcome:
    """One device: the least in the order of costs, looked up by shape rather than searched."""
    request, guest_nodes = claim.requests[0], claim.guest_numa_nodes
    best: tuple[int, int, int, int, PciAddress] | None = None
    for shape in index.shapes:
        if not shape.heads:
            continue
        unasked = serving(shape.sample, request, topology, guest_nodes)
        if unasked is None:
            continue
        node = shape.sample.function.numa_node
        losses = min(shape.heads)
        cost = (
            int(is_away(node, guest_nodes)),
            topology.distance(node, guest_nodes),
            losses,
            unasked,
            shape.heads[losses][0],
        )
        if best is None or cost < best:
            best = cost
    if best is None:
        return NoSolution(nodes=0)
    return Solution(((best[4],),), proven_best=True, nodes=0)


class _Part(NamedTuple):
    """Members of a cohort among which a claim may choose. Without ``vfio`` their group is not viable."""

    cohort: Cohort
    addresses: Sequence[PciAddress]
    vfio: bool


class _Relatives(NamedTuple):
    """The places of other parts: of those in conflict, and of those that exclude each other."""

    related: tuple[int, ...]
    excluded: tuple[int, ...]


def _parts(index: PoolIndex, claim: ClaimRequest) -> Iterator[_Part]:
    """What the consumer may choose from; device by device where a constraint looks at the group."""
    beyond_vfio = any(request.attach is not Attach.VFIO for request in claim.requests)
    apart = any(constraint.attribute == "iommu_group" for constraint in claim.constraints)
    for cohort in index.cohorts:
        if not cohort.is_open_to(claim.consumer):
            continue
        for addresses, vfio in ((cohort.free, True), (cohort.group_blocked if beyond_vfio else (), False)):
            if addresses and apart:
                yield from (_Part(cohort, (address,), vfio) for address in addresses)
            elif addresses:
                yield _Part(cohort, addresses, vfio)


def _relatives(place: int, part: _Part, places: Mapping[int, Sequence[int]]) -> _Relatives:
    def places_of(cohorts: Iterable[Cohort]) -> set[int]:
        return {other for cohort in cohorts for other in places.get(id(cohort), ())}

    partners = places_of(part.cohort.partners)
    related = partners | places_of(part.cohort.siblings)
    if part.cohort.self_related:
        related |= places_of((part.cohort,)) - {place}
    return _Relatives(tuple(sorted(related)), tuple(sorted(partners)))


def _as_choice(view: HostView, claim: ClaimRequest, part: _Part, relatives: _Relatives) -> Choice:
    guest_nodes, topology = claim.guest_numa_nodes, view.topology
    device = view.admitted[part.addresses[0]]
    node = device.function.numa_node
    return Choice(
        addresses=part.addresses,
        offered=part.vfio and part.cohort.is_open,
        serves=tuple(
            serving(device, request, topology, guest_nodes) if part.vfio or request.attach is not Attach.VFIO else None
            for request in claim.requests
        ),
        away=is_away(node, guest_nodes),
        distance=topology.distance(node, guest_nodes),
        relatives=relatives.related,
        self_related=part.cohort.self_related and len(part.addresses) > 1,
        excludes=relatives.excluded,
        values=tuple(constraint_values(device, constraint.attribute, topology) for constraint in claim.constraints),
    )
