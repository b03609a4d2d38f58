"""A model of the tracker, written from the rules alone: slow, without an index, one device at a time.

It shares the values with the product and none of its decisions: conflicts, blocks, statuses and
costs are written once more here, from DESIGN.md's tracker and the rules that it names.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Status, TagValue
from laneway.domain.inventory import DevType, NumaNode, PciFunction
from laneway.domain.requests.request import (
    Alternative,
    ClaimRequest,
    Constraint,
    ConstraintKind,
    DeviceRequest,
    NumaPolicy,
)

Choice = tuple[tuple[PciAddress, ...], ...]
"""The addresses of each request, ascending."""
Values = frozenset[object] | None


@dataclass(frozen=True)
class Spec:
    """What a device spec says of the one function that it admits."""

    tags: Mapping[str, TagValue] = field(default_factory=dict)
    allow_in_use: bool = False


@dataclass(frozen=True)
class Held:
    """A device that is not free, with what it was when it was taken (rule D36)."""

    status: Status
    consumer: str | None
    function: PciFunction
    spec: Spec

    @property
    def one_time_use(self) -> bool:
        return self.spec.tags.get("one_time_use") is True


@dataclass
class Model:
    """One host: its functions, what its specs admit, who holds what, and what is cordoned."""

    functions: dict[PciAddress, PciFunction]
    specs: dict[PciAddress, Spec]
    nodes: Sequence[NumaNode]
    groups_count: bool
    held: dict[PciAddress, Held] = field(default_factory=dict)
    cordoned: set[PciAddress] = field(default_factory=set)
    last_groups: dict[PciAddress, int] = field(default_factory=dict)
    """The IOMMU group in which each function was seen last, since it was taken."""

    # what is there

    @property
    def admitted(self) -> set[PciAddress]:
        return {a for a, f in self.functions.items() if a in self.specs and not bridge(f)}

    @property
    def tracked(self) -> set[PciAddress]:
        return self.admitted | self.held.keys()

    def fact(self, address: PciAddress) -> PciFunction:
        """Of a held device the function as it was taken, of all others as it is."""
        return self.held[address].function if address in self.held else self.functions[address]

    # conflicts

    def partners(self, one: PciAddress, other: PciAddress) -> bool:
        """A PF and its VF."""
        return self.fact(one).parent_addr == other or self.fact(other).parent_addr == one

    def siblings(self, one: PciAddress, other: PciAddress) -> bool:
        """Endpoints of one IOMMU group, by the facts of today; what is held and gone is in its last one."""
        if not self.groups_count or one == other:
            return False
        return self.group(one) is not None and self.group(one) == self.group(other)

    def group(self, address: PciAddress) -> int | None:
        function = self.functions.get(address)
        if function is not None:
            return None if bridge(function) else function.iommu_group
        return self.last_groups.get(address) if address in self.held else None

    def see(self) -> None:
        """A report of the host as it is now."""
        for address in self.held.keys() & self.functions.keys():
            group = self.functions[address].iommu_group
            if group is not None:
                self.last_groups[address] = group

    def conflict(self, one: PciAddress, other: PciAddress) -> bool:
        return one != other and (self.partners(one, other) or self.siblings(one, other))

    def status(self, address: PciAddress) -> Status:
        if address in self.held:
            return self.held[address].status
        rivals = [held.status for other, held in self.held.items() if self.conflict(address, other)]
        if not rivals:
            return Status.AVAILABLE
        return Status.UNCLAIMABLE if all(rival is Status.CLAIMED for rival in rivals) else Status.UNAVAILABLE

    # blocks

    def host_needs(self, address: PciAddress) -> bool:
        spec = self.specs.get(address) if address in self.admitted else None
        return bool(self.functions[address].in_use_by) and not (spec and spec.allow_in_use)

    def hinders_its_group(self, address: PciAddress) -> bool:
        foreign = self.functions[address].driver not in (None, "vfio-pci")
        return self.host_needs(address) or (address not in self.admitted and foreign)

    def open_to_a_stranger(self, address: PciAddress) -> bool:
        return bool(self.functions[address].opened_by) and address not in self.held

    def blocks(self, address: PciAddress) -> Counter[str]:
        """The codes of what keeps a device from being offered, each as often as something causes it."""
        found: Counter[str] = Counter()
        if address in self.cordoned:
            found["cordoned"] += 1
        if address not in self.functions:
            return found
        if address in self.held and self.held[address].function.product_id != self.functions[address].product_id:
            found["wrong_device"] += 1
        for other, function in self.functions.items():
            is_vf_of_it = function.parent_addr == address
            if address in self.admitted and self.siblings(address, other) and self.hinders_its_group(other):
                found["group_not_viable"] += 1
            if address in self.held or not self.open_to_a_stranger(other):
                continue
            if other == address or is_vf_of_it or self.siblings(address, other):
                found["opened_by"] += 1
        if address in self.admitted:
            found.update(reason.code for reason in self.functions[address].not_assignable or ())
            if not self.specs[address].allow_in_use:
                used = [a for a, f in self.functions.items() if address in (a, f.parent_addr) and self.host_needs(a)]
                found["in_use_by"] += len(used)
        return +found

    def offered(self, address: PciAddress) -> bool:
        return address in self.admitted and self.status(address) is Status.AVAILABLE and not self.blocks(address)

    def pools(self) -> dict[tuple[object, ...], int]:
        """What is offered, by all that a pool is made by."""
        found: Counter[tuple[object, ...]] = Counter()
        for address in filter(self.offered, self.admitted):
            one, tags = self.functions[address], sorted(self.specs[address].tags.items())
            parent = address if one.parent_addr is None else one.parent_addr
            found[one.vendor_id, one.product_id, one.dev_type, one.numa_node, parent, tuple(tags)] += 1
        return found

    # claims

    def allowed(self, claim: ClaimRequest) -> Iterator[Choice]:
        """All choices that satisfy the claim."""
        return (one for one in self.choices(claim, claim.requests, frozenset()) if self.keeps(claim, one))

    def choices(
        self, claim: ClaimRequest, requests: Sequence[DeviceRequest], taken: frozenset[PciAddress]
    ) -> Iterator[Choice]:
        if not requests:
            yield ()
            return
        first, *rest = requests
        usable = sorted(address for address in self.admitted - taken if self.can_serve(address, first, claim))
        for chosen in combinations(usable, first.count):
            if any(self.partners(a, b) for a in chosen for b in taken.union(chosen) if a != b):
                continue
            for others in self.choices(claim, rest, taken.union(chosen)):
                yield (chosen, *others)

    def can_serve(self, address: PciAddress, request: DeviceRequest, claim: ClaimRequest) -> bool:
        if address in self.held:
            return False
        for other, held in self.held.items():
            if self.partners(address, other) or (self.siblings(address, other) and held.consumer != claim.consumer):
                return False
        hindrances = set(self.blocks(address))
        if request.attach is not Attach.VFIO:
            hindrances.discard("group_not_viable")
        return (
            not hindrances
            and self.on_a_good_node(address, request.numa_policy, claim.guest_numa_nodes)
            and self.unasked(address, request) is not None
        )

    def on_a_good_node(self, address: PciAddress, policy: NumaPolicy, guest: frozenset[int]) -> bool:
        node = self.functions[address].numa_node
        if not guest or node in guest or policy is NumaPolicy.PREFERRED:
            return True
        if node is None:
            return policy is NumaPolicy.LEGACY
        sockets = {self.socket(one) for one in guest} - {None}
        return policy is NumaPolicy.SOCKET and self.socket(node) in sockets

    def socket(self, node: int | None) -> int | None:
        return next((one.socket for one in self.nodes if one.id == node), None)

    def unasked(self, address: PciAddress, request: DeviceRequest) -> int | None:
        """The least number of tags that an alternative which fits does not name; None if none fits."""
        function, tags = self.functions[address], self.specs[address].tags
        asked_types = {alternative.dev_type for alternative in request.alternatives}
        if function.dev_type in (DevType.PF, DevType.VDPA) and function.dev_type not in asked_types:
            return None
        if request.attach is Attach.VDPA and function.dev_type is not DevType.VDPA:
            return None
        if request.attach is Attach.MACVTAP and function.dev_type is not DevType.VF:
            return None
        fitting = [one for one in request.alternatives if fits(function, tags, one)]
        return min((len(set(tags) - set(one.tags)) for one in fitting), default=None)

    def keeps(self, claim: ClaimRequest, choice: Choice) -> bool:
        names = [request.name for request in claim.requests]
        return all(
            self.keeps_constraint(one, [a for name in one.requests for a in choice[names.index(name)]])
            for one in claim.constraints
        )

    def keeps_constraint(self, constraint: Constraint, chosen: Sequence[PciAddress]) -> bool:
        values = [self.values(address, constraint.attribute) for address in chosen]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return False
        if constraint.kind is ConstraintKind.MATCH:
            return bool(frozenset.intersection(*known))
        return all(one.isdisjoint(other) for one, other in combinations(known, 2))

    def values(self, address: PciAddress, attribute: str) -> Values:
        function = self.functions[address]
        if attribute == "pcie_root":
            return frozenset(function.pcie_roots) if function.pcie_roots else None
        value: object = {
            "numa_node": function.numa_node,
            "socket": self.socket(function.numa_node),
            "parent": address if function.parent_addr is None else function.parent_addr,
            "iommu_group": function.iommu_group,
        }.get(attribute, self.specs[address].tags.get(attribute))
        return None if value is None else frozenset({value})

    def cost(self, claim: ClaimRequest, choice: Choice) -> tuple[int, int, int, int, Choice]:
        """The order of costs of DESIGN.md, "Assignment is exact"."""
        chosen = {address for addresses in choice for address in addresses}
        guest = claim.guest_numa_nodes
        nodes = [self.functions[address].numa_node for address in chosen]
        lost = [
            address
            for address in self.admitted - chosen
            if self.offered(address) and any(self.conflict(address, one) for one in chosen)
        ]
        unasked = [
            self.unasked(address, request) or 0
            for request, addresses in zip(claim.requests, choice, strict=True)
            for address in addresses
        ]
        return (
            sum(node not in guest for node in nodes) if guest else 0,
            sum(self.distance(node, guest) for node in nodes),
            len(lost),
            sum(unasked),
            choice,
        )

    def distance(self, node: int | None, guest: frozenset[int]) -> int:
        """To the nearest guest node; what is not known is the farthest that there is, 255."""
        if not guest:
            return 0
        known = next((one.distances or {} for one in self.nodes if one.id == node), {})
        return min(known.get(to, 255) for to in guest)

    # what happens

    def take(self, addresses: Sequence[PciAddress], consumer: str, status: Status) -> None:
        for address in addresses:
            self.held[address] = Held(status, consumer, self.functions[address], self.specs[address])
            self.last_groups.pop(address, None)
        self.see()

    def allocate(self, consumer: str) -> None:
        for address, held in self.held.items():
            if held.consumer == consumer:
                self.held[address] = Held(Status.ALLOCATED, consumer, held.function, held.spec)

    def free(self, address: PciAddress) -> None:
        """A device of one use, that a guest had, is dirty, also while it is gone."""
        held = self.held.pop(address)
        if held.one_time_use and held.status is Status.ALLOCATED:
            self.held[address] = Held(Status.DIRTY, None, held.function, held.spec)


def bridge(function: PciFunction) -> bool:
    return (function.class_code or "").startswith("06")


def fits(function: PciFunction, tags: Mapping[str, TagValue], alternative: Alternative) -> bool:
    return (
        alternative.product_id in (None, function.product_id)
        and alternative.dev_type in (None, function.dev_type)
        and all(tags.get(name) == value for name, value in alternative.tags.items())
    )
