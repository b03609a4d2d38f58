"""What the assignment solver is asked, and what it answers: values only."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.requests.request import ConstraintKind


@dataclass(frozen=True, slots=True)
class Cohort:
    """Devices that nothing in a problem tells apart but their addresses.

    ``addresses`` are ascending. ``serves`` has, for each request, the number of tags that the
    request did not ask for, or None where the devices cannot serve it. ``away`` and ``distance``
    say how far they stand from the guest's nodes. ``offered`` devices are available now, so they
    count as lost when the choice makes them unclaimable for others: those of the cohorts in
    ``relatives`` once a member of this one is chosen, and its own remaining members if it is
    ``self_related`` (they share one IOMMU group). No member is chosen together with a member of a
    cohort in ``excludes`` (a PF and its own VFs). Both relations are symmetric and hold indexes of
    other cohorts. ``values`` has, for each constraint, the values of its attribute; None is
    unknown.
    """

    addresses: Sequence[PciAddress]
    offered: bool
    serves: tuple[int | None, ...]
    away: bool = False
    distance: int = 0
    relatives: tuple[int, ...] = ()
    self_related: bool = False
    excludes: tuple[int, ...] = ()
    values: tuple[frozenset[Hashable] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class AssignmentConstraint:
    """All devices of the requests share a value (match), or no two of them share one (distinct).

    A device whose values are unknown satisfies neither, even alone.
    """

    kind: ConstraintKind
    requests: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AssignmentProblem:
    """``counts[i]`` devices for request ``i``, no device twice, within the constraints."""

    counts: tuple[int, ...]
    cohorts: tuple[Cohort, ...]
    constraints: tuple[AssignmentConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Solution:
    """The chosen addresses of each request, ascending.

    Without ``proven_best`` the choice is valid, but the budget ended before a better one was
    ruled out. ``nodes`` is what the search spent.
    """

    chosen: tuple[tuple[PciAddress, ...], ...]
    proven_best: bool
    nodes: int


@dataclass(frozen=True, slots=True)
class NoSolution:
    """It is proven that no choice satisfies all requests at once."""

    nodes: int


@dataclass(frozen=True, slots=True)
class SearchExhausted:
    """The budget ended before a choice was found or ruled out."""

    nodes: int
