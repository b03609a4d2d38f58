"""OpenStack Placement: what it holds of one host, as values, and who brings it up to date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from laneway.domain.tracking.host_view import HostView

Resources = Mapping[str, int]
"""Amounts by resource class."""


@dataclass(frozen=True, slots=True)
class StandardNames:
    """The names that Placement knows by itself; all others begin with ``CUSTOM_``."""

    resource_classes: frozenset[str]
    traits: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceInventory:
    """How many of one class a provider has, and how many of these are given to nobody (rule P4).

    ``max_unit`` is the most that one consumer may have. The others are Placement's own defaults.
    """

    total: int
    max_unit: int
    reserved: int = 0
    min_unit: int = 1
    step_size: int = 1
    allocation_ratio: float = 1.0


Inventories = Mapping[str, ResourceInventory]
"""By resource class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A resource provider as it was read.

    ``generation`` is its version: a write that names an older one is refused. ``allocations`` are
    those of its resources, by consumer.
    """

    uuid: str
    name: str
    parent: str | None
    generation: int
    inventories: Inventories = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    allocations: Mapping[str, Resources] = field(default_factory=dict)

    def used(self, resource_class: str) -> int:
        """How much of a class is allocated."""
        return sum(resources.get(resource_class, 0) for resources in self.allocations.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTree:
    """The provider of a compute host, of which only uuid and name are known, and all below it."""

    uuid: str
    name: str
    providers: tuple[Provider, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """All that one consumer has allocated, on this host and elsewhere, by the provider's uuid."""

    uuid: str
    generation: int
    project: str
    user: str
    allocations: Mapping[str, Resources]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProvider:
    """A provider to be made. Its uuid is chosen by whoever makes it (rule P1)."""

    uuid: str
    name: str
    parent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeChanges:
    """What is to be written: new providers first, then traits, inventories and allocations; deletions last.

    ``generations`` are those of the providers as they were read. Where there are ``allocations``
    they are written together with the inventories, in one request that succeeds or fails as a
    whole (Placement's reshaper).
    """

    create: tuple[NewProvider, ...] = ()
    traits: Mapping[str, frozenset[str]] = field(default_factory=dict)
    inventories: Mapping[str, Inventories] = field(default_factory=dict)
    allocations: tuple[Consumer, ...] = ()
    delete: tuple[str, ...] = ()
    generations: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.create or self.traits or self.inventories or self.allocations or self.delete)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to satisfy a query: what would be allocated, and which provider serves each group of the query.

    ``allocations`` are by the provider's uuid, ``serving`` by the group's suffix.
    """

    allocations: Mapping[str, Resources]
    serving: Mapping[str, str]


class PlacementService(Protocol):
    """The service itself. Every method raises

    - LanewayError(placement_unreachable) where it does not answer, or only with failures of its own;
    - LanewayError(placement_refused) where it takes a request for wrong.
    """

    def standard_names(self) -> StandardNames:
        """The names that are the service's own."""

    def tree(self, root: str) -> ProviderTree | None:
        """The provider of this name, with all below it; None where there is none."""

    def consumer(self, uuid: str) -> Consumer | None:
        """All that a consumer has; None where it has nothing, so that Placement does not know it."""

    def apply(self, changes: TreeChanges) -> None:
        """Writes the changes. To write them again does no harm.

        Raises LanewayError(placement_conflict) where another has changed one of the providers or consumers
        since it was read: what was written until then stays, so read again and decide anew.
        """

    def candidates(self, query: Sequence[tuple[str, str]]) -> tuple[Candidate, ...]:
        """The answers to a query of allocation candidates, in the service's order."""


class ProviderReporter(Protocol):
    """Tells Placement how the devices of a host stand."""

    def report(self, host: str, view: HostView) -> None:
        """Brings the providers of a host up to date.

        Raises ConfigError where the config asks for what Placement cannot be told,
        LanewayError(not_reportable) for devices of which it cannot be told for another reason, and LanewayError
        as ``PlacementService`` does. Of the first two, all else has been told.
        """
