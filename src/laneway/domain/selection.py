"""From a claim and what is on offer to the problem that ``assignment`` solves."""

from collections.abc import Iterable, Iterator, Sequence

from laneway.domain.address import PciAddress
from laneway.domain.assignment import DEFAULT_BUDGET, solve
from laneway.domain.assignment_problem import (
    AssignmentConstraint,
    AssignmentProblem,
    NoSolution,
    SearchExhausted,
    Solution,
)
from laneway.domain.assignment_problem import Cohort as Choice
from laneway.domain.device import Attach, PciDevice
from laneway.domain.matching import constraint_values, serves
from laneway.domain.numa import NumaTopology, is_away
from laneway.domain.pools import Cohort, PoolIndex
from laneway.domain.request import ClaimRequest, DeviceRequest

Outcome = Solution | NoSolution | SearchExhausted


def select(
    index: PoolIndex, topology: NumaTopology, claim: ClaimRequest, *, owns_some: bool, budget: int = DEFAULT_BUDGET
) -> Outcome:
    """The best devices for a claim. ``owns_some``: the consumer holds devices on this host already."""
    if not owns_some and _is_one_plain_device(claim):
        return _cheapest(index, topology, claim)
    return solve(problem_of(index, topology, claim), budget)


def problem_of(index: PoolIndex, topology: NumaTopology, claim: ClaimRequest) -> AssignmentProblem:
    """The choice that the claim leaves, over cohorts of interchangeable devices."""
    choices = list(_choices(index, claim))
    place: dict[int, list[int]] = {}
    for at, (cohort, _, _) in enumerate(choices):
        place.setdefault(id(cohort), []).append(at)
    names = [request.name for request in claim.requests]
    return AssignmentProblem(
        counts=tuple(request.count for request in claim.requests),
        cohorts=tuple(
            _as_choice(cohort, addresses, vfio, at, place, topology, claim)
            for at, (cohort, addresses, vfio) in enumerate(choices)
        ),
        constraints=tuple(
            AssignmentConstraint(constraint.kind, tuple(names.index(name) for name in constraint.requests))
            for constraint in claim.constraints
        ),
    )


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


def _choices(index: PoolIndex, claim: ClaimRequest) -> Iterator[tuple[Cohort, Sequence[PciAddress], bool]]:
    """Cohorts with members to choose; apart, the members that only a group blocks (not for VFIO)."""
    beyond_vfio = any(request.attach is not Attach.VFIO for request in claim.requests)
    apart = any(constraint.attribute == "iommu_group" for constraint in claim.constraints)
    for cohort in index.cohorts:
        if not cohort.is_open_to(claim.consumer):
            continue
        for addresses, vfio in ((cohort.free, True), (cohort.group_blocked if beyond_vfio else (), False)):
            if addresses and apart:
                yield from ((cohort, (address,), vfio) for address in addresses)
            elif addresses:
                yield cohort, addresses, vfio


def _as_choice(
    cohort: Cohort,
    addresses: Sequence[PciAddress],
    vfio: bool,
    at: int,
    place: dict[int, list[int]],
    topology: NumaTopology,
    claim: ClaimRequest,
) -> Choice:
    guest_nodes = claim.guest_numa_nodes
    device = cohort.sample
    node = device.function.numa_node
    partners = _places(cohort.partners, place)
    siblings = [*_places(cohort.siblings, place)]
    if cohort.self_related:
        siblings += [other for other in place[id(cohort)] if other != at]
    return Choice(
        addresses=addresses,
        offered=vfio and cohort.is_open,
        serves=tuple(
            serving(device, request, topology, guest_nodes) if vfio or request.attach is not Attach.VFIO else None
            for request in claim.requests
        ),
        away=is_away(node, guest_nodes),
        distance=topology.distance(node, guest_nodes),
        relatives=tuple(sorted({*partners, *siblings})),
        self_related=cohort.self_related and len(addresses) > 1,
        excludes=tuple(sorted(partners)),
        values=tuple(constraint_values(device, constraint.attribute, topology) for constraint in claim.constraints),
    )


def _places(cohorts: Iterable[Cohort], place: dict[int, list[int]]) -> set[int]:
    return {at for cohort in cohorts for at in place.get(id(cohort), ())}
