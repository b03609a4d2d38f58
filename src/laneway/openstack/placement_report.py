"""What Placement has to be told of a host, and how that differs from what it has (rules P1 to P10)."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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
    return _Planner(host, tree, consumers, cleaned).plan()


class _Planner:
    def __init__(
        self,
        host: ReportedHost,
        tree: ProviderTree,
        consumers: Mapping[str, Consumer],
        cleaned: Container[PciAddress],
    ) -> None:
        self._host = host
        self._tree = tree
        self._cleaned = cleaned
        self._existing = {provider.name: provider for provider in tree.providers}
        own = {tree.uuid, *(provider.uuid for provider in tree.providers)}
        self._consumers = {
            consumer.uuid: consumer
            for consumer in consumers.values()
            if not own.isdisjoint(consumer.allocations)  # rule P10: known on this host, not only where it moves to
        }
        self._problems = list(host.problems)

    def plan(self) -> PlannedReport:
        wanted = [provider for provider in self._host.providers if self._is_possible(provider)]
        healed = tuple(self._healed(wanted))
        allocations = self._allocations_after(healed)
        traits: dict[str, frozenset[str]] = {}
        inventories: dict[str, Inventories] = {}
        for provider in wanted:
            uuid = self._uuid_of(provider)
            traits[uuid] = self._traits_of(provider)
            inventories[uuid] = self._inventories(provider, allocations.get(uuid, {}))
        delete: list[str] = []
        for provider_left in self._left_over():
            if provider_left.allocations:
                inventories[provider_left.uuid] = _only_what_is_used(provider_left)
            else:
                delete.append(provider_left.uuid)
        if healed:
            touched = {uuid for consumer in healed for uuid in consumer.allocations}
            inventories = {
                uuid: _with_room(content, allocations.get(uuid, {})) if uuid in touched else content
                for uuid, content in inventories.items()
            }
        by_uuid = {provider.uuid: provider for provider in self._tree.providers}
        changes = TreeChanges(
            create=tuple(self._new(provider) for provider in wanted if self._found(provider) is None),
            traits={uuid: new for uuid, new in traits.items() if uuid not in by_uuid or by_uuid[uuid].traits != new},
            inventories={
                uuid: new
                for uuid, new in inventories.items()
                if uuid not in by_uuid or dict(by_uuid[uuid].inventories) != new
            },
            allocations=healed,
            delete=tuple(delete),
            generations={provider.uuid: provider.generation for provider in self._tree.providers},
        )
        return PlannedReport(changes=changes, problems=tuple(self._problems))

    def _found(self, provider: DeviceProvider) -> Provider | None:
        return self._existing.get(provider_name(self._tree.name, provider.address))

    def _uuid_of(self, provider: DeviceProvider) -> str:
        """That of the provider there is; a new one has always the same, so that to make it again changes nothing."""
        existing = self._found(provider)
        if existing is not None:
            return existing.uuid
        return str(uuid5(UUID(self._tree.uuid), str(provider.address)))

    def _new(self, provider: DeviceProvider) -> NewProvider:
        name = provider_name(self._tree.name, provider.address)
        return NewProvider(uuid=self._uuid_of(provider), name=name, parent=self._tree.uuid)

    def _is_possible(self, provider: DeviceProvider) -> bool:
        """Whether the provider there is can become what is wanted. If not, that is noted."""
        existing = self._found(provider)
        problem = None if existing is None else _of_another(provider, existing) or _fixed(provider, existing)
        if problem is not None:
            self._problems.append(problem)
        return problem is None

    def _healed(self, wanted: Iterable[DeviceProvider]) -> Iterator[Consumer]:
        """The consumers of whom Placement has other amounts than they own, with what they own (rule P10)."""
        owned: dict[str, dict[str, Resources]] = {}
        for provider in wanted:
            for consumer, amount in provider.owned.items():
                resources = {self._class_of(provider): amount}
                owned.setdefault(consumer, {})[self._uuid_of(provider)] = resources
        for uuid, consumer_there in sorted(self._consumers.items()):
            allocations = {**consumer_there.allocations, **owned.get(uuid, {})}
            if allocations != consumer_there.allocations:
                yield replace(consumer_there, allocations=allocations)

    def _allocations_after(self, healed: Iterable[Consumer]) -> Mapping[str, Mapping[str, Resources]]:
        """By provider and consumer, as they are and as healing makes them."""
        after = {provider.uuid: dict(provider.allocations) for provider in self._tree.providers}
        for consumer in healed:
            for uuid, resources in consumer.allocations.items():
                after.setdefault(uuid, {})[consumer.uuid] = resources
        return after

    def _class_of(self, provider: DeviceProvider) -> str:
        """What no entry admits any more stays of the class that is allocated (rule P8)."""
        existing = self._found(provider)
        if provider.held_over and existing is not None:
            return min(_used_classes(existing), default=provider.resource_class)
        return provider.resource_class

    def _traits_of(self, provider: DeviceProvider) -> frozenset[str]:
        existing = self._found(provider)
        is_kept = provider.held_over and existing is not None and existing.allocations
        return existing.traits if existing is not None and is_kept else provider.traits

    def _inventories(self, provider: DeviceProvider, allocations: Mapping[str, Resources]) -> Inventories:
        """Never less than is allocated (rule P8); what nobody could claim is reserved (rules P4 and P9)."""
        resource_class = self._class_of(provider)
        used = {consumer: resources.get(resource_class, 0) for consumer, resources in allocations.items()}
        total = max(provider.size, sum(used.values()))
        unknown = sum(max(0, amount - used.get(consumer, 0)) for consumer, amount in provider.owned.items())
        by_others = sum(amount for consumer, amount in used.items() if consumer not in provider.owned)
        reserved = total if self._is_burned(provider) else provider.withheld + max(0, unknown - by_others)
        return {resource_class: ResourceInventory(total=total, max_unit=total, reserved=min(total, reserved))}

    def _is_burned(self, provider: DeviceProvider) -> bool:
        """Used up, or left so in Placement by whoever reported before: only a cleaning that was seen ends it (P9)."""
        existing = self._found(provider)
        was_reserved = existing is not None and any(one.reserved for one in existing.inventories.values())
        return provider.burned or (provider.one_time_use and was_reserved and provider.address not in self._cleaned)

    def _left_over(self) -> Iterator[Provider]:
        """Providers of devices that are no more (rule P7), but for those of which nothing can be said."""
        known = {provider.address for provider in self._host.providers} | self._host.faulty
        names = {provider_name(self._tree.name, address) for address in known}
        return (provider for provider in managed_providers(self._tree) if provider.name not in names)


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
