"""Placement in memory, as strict as the real one: generations, capacity, what is in use, names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.placement import (
    Candidate,
    Consumer,
    Inventories,
    Provider,
    ProviderTree,
    Resources,
    StandardNames,
    TreeChanges,
)

ROOT = "b6f2c1de-0000-4000-8000-000000000001"
HOST = "node-1"
NAMES = StandardNames(
    frozenset({"VCPU", "VGPU", "PCI_DEVICE"}),
    frozenset(
        {
            "OWNER_NOVA",
            "OWNER_CYBORG",
            "COMPUTE_MANAGED_PCI_DEVICE",
            "HW_PCI_LIVE_MIGRATABLE",
            "HW_PCI_ONE_TIME_USE",
            "HW_NIC_SRIOV",
        }
    ),
)


def vm(number: int) -> str:
    """The uuid of a consumer."""
    return f"00000000-0000-4000-8000-{number:012d}"


def conflict(why: str) -> LanewayError:
    return LanewayError(ErrorCode.PLACEMENT_CONFLICT, why)


class FakePlacement:
    """One host's tree. ``before_apply`` is done before a write: others who write, or a failure."""

    def __init__(self) -> None:
        self.providers: dict[str, Provider] = {}
        self.consumers: dict[str, Consumer] = {}
        self.applied: list[TreeChanges] = []
        self.before_apply: Callable[[], None] = lambda: None
        self.has_root = True

    # what the protocol has

    def standard_names(self) -> StandardNames:
        return NAMES

    def tree(self, root: str) -> ProviderTree | None:
        if not self.has_root or root != HOST:
            return None
        found = tuple(replace(one, allocations=self._allocations(one.uuid)) for one in self.providers.values())
        return ProviderTree(uuid=ROOT, name=HOST, providers=found)

    def consumer(self, uuid: str) -> Consumer | None:
        return self.consumers.get(uuid)

    def apply(self, changes: TreeChanges) -> None:
        self.before_apply()
        self.applied.append(changes)
        generations = dict(changes.generations)
        for new in changes.create:
            if new.uuid in self.providers or new.name in {one.name for one in self.providers.values()}:
                raise conflict(f"{new.name} exists")
            self.providers[new.uuid] = Provider(uuid=new.uuid, name=new.name, parent=new.parent, generation=0)
            generations[new.uuid] = 0
        for uuid, traits in changes.traits.items():
            unknown = {name for name in traits if name not in NAMES.traits and not name.startswith("CUSTOM_")}
            assert not unknown, unknown
            self._write(uuid, generations, traits=traits)
        before = dict(self.providers), dict(self.consumers)
        try:
            for uuid, inventories in changes.inventories.items():
                self._write(uuid, generations, inventories=inventories)
            for consumer in changes.allocations:
                self.allocate(consumer)
            self._check(set(changes.inventories))
        except LanewayError:
            self.providers, self.consumers = before
            raise
        for uuid in changes.delete:
            if self._allocations(uuid):
                raise conflict(f"{uuid} is in use")
            del self.providers[uuid]

    def candidates(self, query: Sequence[tuple[str, str]]) -> tuple[Candidate, ...]:
        raise AssertionError("the fake answers no queries")

    # what others do

    def allocate(self, consumer: Consumer) -> None:
        """Writes a consumer's allocations, as PUT /allocations and the reshaper do."""
        known = self.consumers.get(consumer.uuid)
        if known is not None and known.generation != consumer.generation:
            raise conflict(f"consumer {consumer.uuid} is at {known.generation}")
        self.consumers[consumer.uuid] = replace(consumer, generation=consumer.generation + 1)
        for uuid, resources in consumer.allocations.items():
            if uuid in self.providers:
                self.providers[uuid] = replace(self.providers[uuid], generation=self.providers[uuid].generation + 1)
                for name in resources:
                    self._check_capacity(uuid, name)

    def have(self, number: int, **by_name: int) -> str:
        """A VM with VCPUs on the host, and as much of each named provider as is said. Its uuid."""
        allocations: dict[str, Resources] = {ROOT: {"VCPU": 1}}
        for address, amount in by_name.items():
            provider = self.named(address)
            allocations[provider.uuid] = dict.fromkeys(provider.inventories, amount)
        generation = self.consumers[vm(number)].generation if vm(number) in self.consumers else 0
        self.allocate(Consumer(uuid=vm(number), generation=generation, project="p", user="u", allocations=allocations))
        return vm(number)

    def has(self, number: int, allocations: Mapping[str, int] | None = None) -> str:
        return self.have(number, **(allocations or {}))

    def forget(self, number: int) -> None:
        """The VM's allocations are deleted, which changes no provider's generation."""
        del self.consumers[vm(number)]

    def named(self, address: str) -> Provider:
        return next(one for one in self.providers.values() if one.name == f"{HOST}_{address}")

    def put(self, address: str, inventories: Inventories, *traits: str) -> Provider:
        """A provider that somebody else has made."""
        uuid = vm(900 + len(self.providers))
        provider = Provider(
            uuid=uuid,
            name=f"{HOST}_{address}",
            parent=ROOT,
            generation=3,
            inventories=inventories,
            traits=frozenset(traits),
        )
        self.providers[uuid] = provider
        return provider

    def free(self, address: str) -> int:
        """How many of a provider could be allocated now."""
        provider = self.named(address)
        (name, inventory), *_ = provider.inventories.items()
        used = sum(resources.get(name, 0) for resources in self._allocations(provider.uuid).values())
        return inventory.total - inventory.reserved - used

    def _allocations(self, uuid: str) -> dict[str, Resources]:
        return {one.uuid: one.allocations[uuid] for one in self.consumers.values() if uuid in one.allocations}

    def _write(self, uuid: str, generations: dict[str, int], **fields: object) -> None:
        provider = self.providers.get(uuid)
        if provider is None or provider.generation != generations[uuid]:
            raise conflict(f"{uuid} is not at {generations[uuid]}")
        generations[uuid] += 1
        self.providers[uuid] = replace(provider, generation=generations[uuid], **fields)  # type: ignore[arg-type]

    def _check(self, uuids: set[str]) -> None:
        for uuid in uuids:
            used = {name for resources in self._allocations(uuid).values() for name in resources}
            if used - self.providers[uuid].inventories.keys():
                raise conflict(f"an inventory of {uuid} is in use")

    def _check_capacity(self, uuid: str, name: str) -> None:
        inventory = self.providers[uuid].inventories.get(name)
        used = sum(resources.get(name, 0) for resources in self._allocations(uuid).values())
        if inventory is None or used > inventory.total - inventory.reserved:
            raise conflict(f"no {name} is left of {uuid}")
