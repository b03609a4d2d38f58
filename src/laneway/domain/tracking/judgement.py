"""What keeps each device of a host from each request of a claim: the facts behind an explanation."""

from collections.abc import Iterator
from dataclasses import replace

from laneway.domain.address import PciAddress
from laneway.domain.assignment.problem import Solution
from laneway.domain.assignment.solver import solve
from laneway.domain.device import Attach, PciDevice
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.requests.matching import ONLY_IF_ASKED, constraint_values, provider_address, satisfies, serves
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.specs.refusal import NO_SPEC_MATCHES, why_not
from laneway.domain.tracking.blocking import GROUP_NOT_VIABLE
from laneway.domain.tracking.explanation import (
    Explanation,
    Judged,
    JudgedRequest,
    Removal,
    Rule,
    explain_interaction,
    explain_requests,
)
from laneway.domain.tracking.host_view import HostView
from laneway.domain.tracking.pools import Cohort
from laneway.domain.tracking.selection import problem_of

_BUDGET = 4_000
_MOST_TRIED = 12
"""Nodes for each try to leave one condition out, and the tries: an explanation must not take longer than the claim."""


def explain(view: HostView, claim: ClaimRequest) -> Explanation:
    """Why the claim does not fit on the host as it stands."""
    judged = [_judge(view, claim, request) for request in claim.requests]
    if any(len(one.found) < one.wanted for one in judged):
        return explain_requests(judged)
    return explain_interaction(judged, tuple(_hindrances(view, claim)))


def _judge(view: HostView, claim: ClaimRequest, request: DeviceRequest) -> JudgedRequest:
    return JudgedRequest(
        name=request.name,
        wanted=request.count,
        devices=(
            *(judged for cohort in view.index.cohorts for judged in _judge_cohort(view, claim, request, cohort)),
            *(
                Judged(function.address, _not_admitted(view, function))
                for function in view.report.inventory.functions
                if function.address not in view.index.cohort_of and _would_be_asked_for(function, request)
            ),
        ),
    )


def _would_be_asked_for(function: PciFunction, request: DeviceRequest) -> bool:
    """Whether the request names the ids of a function, whose tags no spec has said."""
    return not function.is_bridge and any(
        alternative.product_id == function.product_id
        and alternative.vendor_id in (None, function.vendor_id)
        and alternative.dev_type in (None, function.dev_type)
        for alternative in request.alternatives
    )


def _not_admitted(view: HostView, function: PciFunction) -> Removal:
    """A bad domain or a missing serial is said; that no spec matches needs no more words here."""
    inventory, specs = view.report.inventory, view.report.specs
    parent = None if function.parent_addr is None else inventory.by_address.get(function.parent_addr)
    reason = why_not(function, parent, specs)[0]
    if reason.code == NO_SPEC_MATCHES:
        return Removal(Rule.NOT_ADMITTED, "not admitted by any device spec")
    return Removal(Rule.NOT_ADMITTED, f"not admitted: {reason.message}")


def _judge_cohort(view: HostView, claim: ClaimRequest, request: DeviceRequest, cohort: Cohort) -> Iterator[Judged]:
    """What a request can see is the same for all members; who holds them, and what blocks them, is not."""
    not_asked_for = _not_asked_for(cohort.sample, request)
    misplaced = _misplaced(view, claim, request, cohort.sample)
    for address in cohort.members:
        removal = not_asked_for or _not_to_be_had(view, claim, request, cohort, address) or misplaced
        yield Judged(address, removal)


def _not_asked_for(device: PciDevice, request: DeviceRequest) -> Removal | None:
    with_ids = [alternative for alternative in request.alternatives if _has_ids(device, alternative)]
    if not with_ids:
        return Removal(Rule.IDS, f"of other ids ({device.vendor_id}:{device.product_id})")
    if serves(device, request) is not None:
        return None
    if all(alternative.dev_type not in (None, device.dev_type) for alternative in with_ids):
        return Removal(Rule.TYPE, f"{device.dev_type}, which is not asked for")
    if not any(satisfies(device, alternative) for alternative in with_ids):
        return Removal(Rule.TAGS, "without the tags that are asked for")
    if request.provider is not None and request.provider != provider_address(device):
        return Removal(Rule.PROVIDER, f"not of {request.provider}, where Placement has chosen it")
    if device.dev_type in ONLY_IF_ASKED and all(one.dev_type is None for one in with_ids):
        key = "dev_type" if device.dev_type is DevType.VDPA else "dev_type, or device_type in an alias"
        return Removal(Rule.ONLY_IF_ASKED, f"{device.dev_type}, which has to be asked for by {key}")
    if device.tags.get("remote_managed") is True:
        return Removal(Rule.ONLY_IF_ASKED, "remote-managed, which has to be asked for by remote_managed")
    return Removal(Rule.TYPE, f"{device.dev_type}, which cannot be attached by {request.attach}")


def _has_ids(device: PciDevice, alternative: Alternative) -> bool:
    return alternative.vendor_id in (None, device.vendor_id) and alternative.product_id in (None, device.product_id)


def _not_to_be_had(
    view: HostView, claim: ClaimRequest, request: DeviceRequest, cohort: Cohort, address: PciAddress
) -> Removal | None:
    held = view.held.get(address)
    if held is not None:
        return Removal(Rule.HELD, held.standing)
    if not cohort.is_open_to(claim.consumer):
        rival = min(
            cohort.holders_beside(address), key=lambda device: (device.consumer == claim.consumer, device.address)
        )
        return Removal(Rule.UNCLAIMABLE, f"unclaimable, as {rival.address} is {rival.standing}")
    for reason in view.blocked_by(address):
        if reason.code != GROUP_NOT_VIABLE or request.attach is Attach.VFIO:
            return Removal(Rule.BLOCKED, f"blocked: {reason.message}")
    if not view.is_admitted(address):
        return Removal(Rule.HELD, "not admitted any more")
    return None


def _misplaced(view: HostView, claim: ClaimRequest, request: DeviceRequest, device: PciDevice) -> Removal | None:
    node = device.numa_node
    if not view.topology.admits(request.numa_policy, node, claim.guest_numa_nodes):
        where = "an unknown NUMA node" if node is None else f"NUMA node {node}"
        guest = ", ".join(map(str, sorted(claim.guest_numa_nodes)))
        return Removal(
            Rule.NUMA, f"on {where}, which policy {request.numa_policy} does not take for a guest on {guest}"
        )
    for constraint in claim.constraints:
        unknown = constraint_values(device, constraint.attribute, view.topology) is None
        if unknown and request.name in constraint.requests:
            return Removal(Rule.CONSTRAINT, f"without a known {constraint.attribute}, which {constraint.kind} needs")
    return None


def _hindrances(view: HostView, claim: ClaimRequest) -> Iterator[str]:
    """The conditions of which each is the only one in the way: without it the claim would fit."""
    for constraint in claim.constraints[:_MOST_TRIED]:
        others = tuple(other for other in claim.constraints if other is not constraint)
        problem = problem_of(view, replace(claim, constraints=others))
        if isinstance(solve(problem, _BUDGET), Solution):
            yield f"{constraint.kind} on {constraint.attribute} over {' and '.join(constraint.requests)}"
    problem = problem_of(view, claim)
    free = replace(problem, cohorts=tuple(replace(cohort, excludes=()) for cohort in problem.cohorts))
    if isinstance(solve(free, _BUDGET), Solution):
        yield "the rule that a PF and its own VFs never go to one consumer"
