"""What Placement has to be told of a host, and how that differs from what it has (rules P1 to P10)."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self
from uuid import UUID, uuid5

from laneway.domain.address import PciAddress
from laneway.domain.errors import ConfigProblem, ErrorCode
from laneway.domain.requests.placement_terms import MANAGED_TRAIT
from laneway.interfaces.placement import (
    Consumer,
    Inventories,
    NewProvider,
    Provider,
    ProviderTree,
    ResourceInventory,
    Resources,
    TreeChanges,
)
from laneway.openstack.device_providers import OWNER_TRAIT, DeviceProvider, ReportedHost


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReport:
    """What is to be written, and what cannot be: providers with a problem are left as they are."""

    changes: TreeChanges
    problems: tuple[ConfigProblem, ...] = ()


def provider_name(root: str, address: PciAddress) -> str:
    """The name of the provider of a device or a PF, below the provider of its host (rule P1)."""
    return f"{root}_{str(address).upper()}"


def managed_providers(tree: ProviderTree) -> tuple[Provider, ...]:
    """The providers that a compute service has reported of PCI devices (rule P7)."""
    return tuple(provider for provider in tree.providers if MANAGED_TRAIT in provider.traits)


def owners_to_look_up(host: ReportedHost, tree: ProviderTree) -> frozenset[str]:
    """The owners of devices of whom Placement has something else, or nothing: only their allocations may need healing.

    Those in the middle of a move are left alone, and so are names that are no uuid, which no consumer of Placement has.
    """
    existing = {provider.name: provider for provider in tree.providers}
    return frozenset(
        consumer
        for provider in host.providers
        for consumer, amount in provider.owned.items()
        if consumer not in host.moving
        and _is_uuid(consumer)
        and _allocated(existing.get(provider_name(tree.name, provider.address)), consumer) != amount
    )


def plan_report(
    host: ReportedHost,
    tree: ProviderTree,
    consumers: Mapping[str, Consumer],
    cleaned: Container[PciAddress] = frozenset(),
) -> PlannedReport:
    """The changes that make the tree say what the host has.

    ``consumers`` are those of ``owners_to_look_up`` that Placement knows, ``cleaned`` the devices
    for one use that were seen used and are clean again. Another report on what the changes lead to may find
    more to change; on a tree that says all of it there is none.
    """
    targets, problems = _targets(host, tree)
    healed = tuple(_healed(targets, _known_here(consumers, tree)))
    allocations = _allocations_after(tree, healed)
    left = _left_over(host, tree)
    inventories = {target.uuid: target.inventories(allocations.get(target.uuid, {}), cleaned) for target in targets}
    inventories |= {provider.uuid: _only_what_is_used(provider) for provider in left if provider.allocations}
    for uuid in {uuid for consumer in healed for uuid in consumer.allocations if uuid in inventories}:
        inventories[uuid] = _with_room(inventories[uuid], allocations[uuid])
    before = {provider.uuid: provider for provider in tree.providers}
    changes = TreeChanges(
        create=tuple(target.new_below(tree) for target in targets if target.existing is None),
        traits={
            target.uuid: target.traits
            for target in targets
            if target.existing is None or target.existing.traits != target.traits
        },
        inventories={
            uuid: content
            for uuid, content in inventories.items()
            if uuid not in before or dict(before[uuid].inventories) != content
        },
        allocations=healed,
        delete=tuple(provider.uuid for provider in left if not provider.allocations),
        generations={provider.uuid: provider.generation for provider in tree.providers},
    )
    return PlannedReport(changes=changes, problems=tuple(problems))


@dataclass(frozen=True, slots=True)
class _Target:
    """A provider as it is to be, and the one of its name that there is."""

    wanted: DeviceProvider
    existing: Provider | None
    uuid: str

    @classmethod
    def of(cls, wanted: DeviceProvider, existing: Provider | None, tree: ProviderTree) -> Self:
        """A new provider has always the same uuid, so that to make it again is a conflict, and no second one."""
        new = str(uuid5(UUID(tree.uuid), str(wanted.address)))
        return cls(wanted, existing, new if existing is None else existing.uuid)

    def new_below(self, tree: ProviderTree) -> NewProvider:
        return NewProvider(uuid=self.uuid, name=provider_name(tree.name, self.wanted.address), parent=tree.uuid)

    @property
    def resource_class(self) -> str:
        """What no entry admits any more stays of the class that is allocated (rule P8)."""
        if self.wanted.held_over and self.existing is not None:
            return min(_used_classes(self.existing), default=self.wanted.resource_class)
        return self.wanted.resource_class

    @property
    def traits(self) -> frozenset[str]:
        """Likewise."""
        if self.wanted.held_over and self.existing is not None and self.existing.allocations:
            return self.existing.traits
        return self.wanted.traits

    def inventories(self, allocations: Mapping[str, Resources], cleaned: Container[PciAddress]) -> Inventories:
        """Never less than is allocated (rule P8); what nobody could claim is reserved (rules P4 and P9)."""
        wanted, resource_class = self.wanted, self.resource_class
        used = {consumer: resources.get(resource_class, 0) for consumer, resources in allocations.items()}
        total = max(wanted.size, sum(used.values()))
        unknown = sum(max(0, amount - used.get(consumer, 0)) for consumer, amount in wanted.owned.items())
        by_others = sum(amount for consumer, amount in used.items() if consumer not in wanted.owned)
        reserved = total if self._is_burned(cleaned) else wanted.withheld + max(0, unknown - by_others)
        return {resource_class: ResourceInventory(total=total, max_unit=total, reserved=min(total, reserved))}

    def _is_burned(self, cleaned: Container[PciAddress]) -> bool:
        """Used up, or left so in Placement by whoever reported before: only a cleaning that was seen ends it (P9)."""
        wanted, existing = self.wanted, self.existing
        was_reserved = existing is not None and any(one.reserved for one in existing.inventories.values())
        return wanted.burned or (wanted.one_time_use and was_reserved and wanted.address not in cleaned)


def _targets(host: ReportedHost, tree: ProviderTree) -> tuple[list[_Target], list[ConfigProblem]]:
    """What the providers are to be, and why some cannot be that."""
    existing = {provider.name: provider for provider in tree.providers}
    targets: list[_Target] = []
    problems = list(host.problems)
    for wanted in host.providers:
        found = existing.get(provider_name(tree.name, wanted.address))
        problem = None if found is None else _of_another(wanted, found) or _fixed(wanted, found)
        if problem is None:
            targets.append(_Target.of(wanted, found, tree))
        else:
            problems.append(problem)
    return targets, problems


def _known_here(consumers: Mapping[str, Consumer], tree: ProviderTree) -> list[Consumer]:
    """Those that have something on this host: others are on their way to another, or from one (rule P10)."""
    here = {tree.uuid, *(provider.uuid for provider in tree.providers)}
    return [consumer for _, consumer in sorted(consumers.items()) if not here.isdisjoint(consumer.allocations)]


def _healed(targets: Iterable[_Target], consumers: Iterable[Consumer]) -> Iterator[Consumer]:
    """The consumers of whom Placement has other amounts than they own, with what they own (rule P10)."""
    owned: dict[str, dict[str, Resources]] = {}
    for target in targets:
        for consumer, amount in target.wanted.owned.items():
            owned.setdefault(consumer, {})[target.uuid] = {target.resource_class: amount}
    for known in consumers:
        allocations = {**known.allocations, **owned.get(known.uuid, {})}
        if allocations != known.allocations:
            yield replace(known, allocations=allocations)


def _allocations_after(tree: ProviderTree, healed: Iterable[Consumer]) -> Mapping[str, Mapping[str, Resources]]:
    """By provider and consumer, as they are and as healing makes them."""
    after = {provider.uuid: dict(provider.allocations) for provider in tree.providers}
    for consumer in healed:
        for uuid, resources in consumer.allocations.items():
            after.setdefault(uuid, {})[consumer.uuid] = resources
    return after


def _left_over(host: ReportedHost, tree: ProviderTree) -> list[Provider]:
    """Providers of devices that are no more (rule P7), but for those of which nothing can be said."""
    known = {provider.address for provider in host.providers} | host.faulty
    names = {provider_name(tree.name, address) for address in known}
    return [provider for provider in managed_providers(tree) if provider.name not in names]


def _of_another(provider: DeviceProvider, existing: Provider) -> ConfigProblem | None:
    """Another service has a provider of this name (rule P18): it is neither taken over nor changed."""
    owner = next((t for t in sorted(existing.traits) if t.startswith("OWNER_") and t != OWNER_TRAIT), None)
    if owner is None and (MANAGED_TRAIT in existing.traits or not existing.inventories):
        return None
    whose = f"has the trait {owner}" if owner else f"has resources and no trait {MANAGED_TRAIT}"
    return ConfigProblem(
        ErrorCode.NOT_REPORTABLE,
        f"{provider.address} is reported to Placement by another service: {existing.name} {whose};"
        " take it from one of the two",
        value=str(provider.address),
    )


def _fixed(provider: DeviceProvider, existing: Provider) -> ConfigProblem | None:
    """What is allocated keeps its class and its traits, whatever the config says now (rules P8 and C92)."""
    if provider.held_over:
        return None
    other = _used_classes(existing) - {provider.resource_class}
    if other:
        allocated = ", ".join(sorted(other))
        fault = f"is {provider.resource_class} in the config, but allocated as {allocated} in Placement"
        return _refused(provider, "resource_class", fault)
    if provider.traits_changed and existing.allocations and existing.traits != provider.traits:
        differing = ", ".join(sorted((existing.traits ^ provider.traits) - {OWNER_TRAIT}))
        return _refused(provider, "traits", f"has other traits in the config than were allocated ({differing})")
    return None


def _refused(provider: DeviceProvider, key: str, fault: str) -> ConfigProblem:
    remedy = f"put the former {key} back until it is free"
    message = f"{provider.address} {fault}; {remedy}"
    return ConfigProblem(
        ErrorCode.INVALID_DEVICE_SPEC, message, "device_spec", provider.entry, key, str(provider.address), remedy
    )


def _used_classes(provider: Provider) -> frozenset[str]:
    return frozenset(
        name for resources in provider.allocations.values() for name, amount in resources.items() if amount
    )


def _allocated(provider: Provider | None, consumer: str) -> int | None:
    """How much a consumer has of a provider; None for nothing."""
    resources = None if provider is None else provider.allocations.get(consumer)
    return None if resources is None else sum(resources.values())


def _only_what_is_used(provider: Provider) -> Inventories:
    return {
        name: ResourceInventory(total=provider.used(name), max_unit=provider.used(name))
        for name in sorted(_used_classes(provider))
    }


def _with_room(inventories: Inventories, allocations: Mapping[str, Resources]) -> Inventories:
    """With so little reserved that the allocations can be written: Placement counts what is reserved as taken."""
    return {
        name: replace(
            inventory,
            reserved=min(
                inventory.reserved,
                inventory.total - sum(resources.get(name, 0) for resources in allocations.values()),
            ),
        )
        for name, inventory in inventories.items()
    }


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
