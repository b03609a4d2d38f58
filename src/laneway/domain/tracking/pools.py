"""What is on offer: the pool key, and the index of devices by what makes them interchangeable.

Devices are grouped into *cohorts*: all that a request, a NUMA policy, a constraint or a conflict
can look at is the same for the members of one. So a change of one device is a change of a few
numbers of its cohort and its related cohorts, however many devices there are.
"""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, TagValue
from laneway.domain.inventory import DevType

_NOT_IN_POOLS = frozenset({"resource_class", "traits"})


class PoolKey(NamedTuple):
    """What a pool is made by (rule C49). ``parent`` is the PF of a VF, else the own address."""

    vendor_id: str
    product_id: str
    dev_type: DevType
    numa_node: int | None
    parent: PciAddress
    tags: tuple[tuple[str, TagValue], ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Available devices with the same key."""

    key: PoolKey
    count: int


def pool_tags(tags: Mapping[str, TagValue]) -> tuple[tuple[str, TagValue], ...]:
    """The tags that tell pools apart: all but those that only Placement looks at."""
    return tuple(sorted(((key, value) for key, value in tags.items() if key not in _NOT_IN_POOLS), key=_by_name))


def pool_key(device: PciDevice) -> PoolKey:
    """The key of the pool that the device is counted in. The one place where it is made."""
    function = device.function
    parent = function.address if function.parent_addr is None else function.parent_addr
    return PoolKey(
        function.vendor_id,
        function.product_id,
        function.dev_type,
        function.numa_node,
        parent,
        pool_tags(device.extra_info.tags),
    )


class Shape:
    """Cohorts that no request without constraints can tell apart, whatever their parent.

    ``heads`` holds, for each number of devices that become unclaimable when one of a cohort is
    taken, the lowest free address of every such cohort, ascending.
    """

    __slots__ = ("heads", "sample")

    def __init__(self, sample: PciDevice) -> None:
        self.sample = sample
        self.heads: dict[int, list[PciAddress]] = {}

    def add(self, losses: int, head: PciAddress) -> None:
        insort(self.heads.setdefault(losses, []), head)

    def remove(self, losses: int, head: PciAddress) -> None:
        heads = self.heads[losses]
        del heads[bisect_left(heads, head)]
        if not heads:
            del self.heads[losses]


class Cohort:
    """Interchangeable devices of one host.

    ``free`` are the members that are neither held nor blocked, ascending; ``group_blocked`` those
    whose only hindrance is an IOMMU group that is not viable, which matters to VFIO alone.
    ``partners`` may never be held together with a member, not even by one consumer (a PF and its
    VFs); ``siblings`` share an IOMMU group with the members and may only be held by the same
    consumer; with ``self_related`` the members are siblings of each other.
    """

    __slots__ = (
        "_placed",
        "free",
        "group_blocked",
        "held",
        "key",
        "members",
        "partner_holds",
        "partners",
        "sample",
        "self_related",
        "shape",
        "sibling_holds",
        "siblings",
    )

    def __init__(self, key: PoolKey, shape: Shape, sample: PciDevice) -> None:
        self.key = key
        self.shape = shape
        self.sample = sample
        self.members: list[PciAddress] = []
        self.free: list[PciAddress] = []
        self.group_blocked: list[PciAddress] = []
        self.held: dict[PciAddress, PciDevice] = {}
        self.partners: tuple[Cohort, ...] = ()
        self.siblings: tuple[Cohort, ...] = ()
        self.self_related = False
        self.partner_holds = 0
        self.sibling_holds: Counter[str | None] = Counter()
        self._placed: tuple[int, PciAddress] | None = None

    @property
    def is_open(self) -> bool:
        """No relative is held: the free members are on offer to everyone."""
        return not self.partner_holds and not self.sibling_holds

    def is_open_to(self, consumer: str) -> bool:
        """No relative is held but siblings by this consumer."""
        return not self.partner_holds and all(holder == consumer for holder in self.sibling_holds)

    @property
    def offered(self) -> int:
        """How many members are on offer to everyone."""
        return len(self.free) if self.is_open else 0

    @property
    def losses(self) -> int:
        """How many other devices on offer become unclaimable for others when one member is taken."""
        lost = len(self.free) - 1 if self.self_related else 0
        for related in self.partners:
            lost += related.offered
        for related in self.siblings:
            lost += related.offered
        return lost

    def holders_beside(self, address: PciAddress) -> Iterator[PciDevice]:
        """The held devices in conflict with this member."""
        for related in (*self.partners, *self.siblings):
            yield from related.held.values()
        if self.self_related:
            yield from (device for device in self.held.values() if device.address != address)

    def place(self) -> bool:
        """Puts the cohort where its shape offers it; tells whether that is a change."""
        where = (self.losses, self.free[0]) if self.free and self.is_open else None
        if where == self._placed:
            return False
        if self._placed is not None:
            self.shape.remove(*self._placed)
        if where is not None:
            self.shape.add(*where)
        self._placed = where
        return True


class PoolIndex:
    """All tracked devices of one host by cohort."""

    def __init__(
        self,
        devices: Iterable[PciDevice],
        shared_groups: Mapping[PciAddress, int],
        *,
        held: Mapping[PciAddress, PciDevice],
        blocked: Container[PciAddress],
        group_blocked: Container[PciAddress],
    ) -> None:
        """``shared_groups`` names the IOMMU group of each device that shares its group.

        It is empty where groups are ignored. ``blocked`` devices have a reason of their own,
        ``group_blocked`` ones only that of their group.
        """
        self.shapes: list[Shape] = []
        self.cohorts: list[Cohort] = []
        self.cohort_of: dict[PciAddress, Cohort] = {}
        self._group(sorted(devices, key=_by_address), shared_groups)
        self._relate(shared_groups)
        for address, cohort in self.cohort_of.items():
            if address in held or address in blocked:
                continue
            (cohort.group_blocked if address in group_blocked else cohort.free).append(address)
        for device in held.values():
            self.hold(device)
        for cohort in self.cohorts:
            cohort.place()

    def pools(self) -> list[Pool]:
        """The pools with something in them, sorted by their keys."""
        counts: Counter[PoolKey] = Counter()
        for cohort in self.cohorts:
            if cohort.offered:
                counts[cohort.key] += cohort.offered
        return [Pool(key, counts[key]) for key in sorted(counts, key=_sortable)]

    def set_free(self, address: PciAddress, *, free: bool, group_blocked: bool = False) -> None:
        """Says whether the device is neither held nor blocked, and whether only its group blocks it."""
        cohort = self.cohort_of[address]
        _set_member(cohort.free, address, free)
        _set_member(cohort.group_blocked, address, group_blocked)

    def hold(self, device: PciDevice) -> None:
        """Says that the device is held, or held in another way than before."""
        cohort = self.cohort_of[device.address]
        before = cohort.held.get(device.address)
        if before is not None and before.consumer != device.consumer:
            self.unhold(device.address)
            before = None
        cohort.held[device.address] = device
        if before is None:
            self._count(cohort, device.consumer, 1)

    def unhold(self, address: PciAddress) -> None:
        """Says that the device is no longer held."""
        cohort = self.cohort_of[address]
        device = cohort.held.pop(address)
        self._count(cohort, device.consumer, -1)

    def place(self, cohort: Cohort) -> None:
        """Brings the offers up to date after a change of this cohort.

        It may open or close its relatives, and that changes what theirs would lose, whichever of the
        devices of one claim is looked at first.
        """
        pending = [cohort, *cohort.partners, *cohort.siblings]
        while pending:
            near = pending.pop()
            if near.place():
                pending += near.partners
                pending += near.siblings

    def _count(self, cohort: Cohort, consumer: str | None, by: int) -> None:
        for partner in cohort.partners:
            partner.partner_holds += by
        for sibling in (*cohort.siblings, cohort) if cohort.self_related else cohort.siblings:
            sibling.sibling_holds[consumer] += by
            if not sibling.sibling_holds[consumer]:
                del sibling.sibling_holds[consumer]

    def _group(self, devices: list[PciDevice], shared_groups: Mapping[PciAddress, int]) -> None:
        shapes: dict[tuple[object, ...], Shape] = {}
        cohorts: dict[tuple[object, ...], Cohort] = {}
        tags_of: dict[int, tuple[tuple[str, TagValue], ...]] = {}
        parents = {device.function.parent_addr for device in devices}
        for device in devices:
            function, extra = device.function, device.extra_info
            tags = tags_of.get(id(extra.tags))
            if tags is None:
                tags = tags_of[id(extra.tags)] = tuple(sorted(extra.tags.items(), key=_by_name))
            address = function.address
            kind = (
                function.vendor_id,
                function.product_id,
                function.dev_type,
                function.numa_node,
                tags,
                function.class_code,
            )
            alone = address if function.parent_addr is None or address in parents else None
            place = (alone, function.parent_addr, shared_groups.get(address), function.pcie_roots)
            same = (kind, place, extra.parent_ifname)
            cohort = cohorts.get(same)
            if cohort is None:
                shape = shapes.get(kind)
                if shape is None:
                    shape = shapes[kind] = Shape(device)
                cohort = cohorts[same] = Cohort(pool_key(device), shape, device)
            cohort.members.append(address)
            self.cohort_of[address] = cohort
        self.shapes = list(shapes.values())
        self.cohorts = list(cohorts.values())

    def _relate(self, shared_groups: Mapping[PciAddress, int]) -> None:
        by_group: dict[int, list[Cohort]] = defaultdict(list)
        partners: dict[int, list[Cohort]] = defaultdict(list)
        for cohort in self.cohorts:
            first = cohort.members[0]
            pf = self.cohort_of.get(cohort.key.parent)
            if pf is not None and pf is not cohort:
                partners[id(cohort)].append(pf)
                partners[id(pf)].append(cohort)
            if first in shared_groups:
                by_group[shared_groups[first]].append(cohort)
        for cohort in self.cohorts:
            cohort.partners = tuple(partners.get(id(cohort), ()))
        for cohorts in by_group.values():
            for cohort in cohorts:
                cohort.siblings = tuple(c for c in cohorts if c is not cohort and c not in cohort.partners)
                cohort.self_related = len(cohort.members) > 1


def _by_address(device: PciDevice) -> PciAddress:
    return device.function.address


def _by_name(item: tuple[str, TagValue]) -> str:
    return item[0]


def _set_member(addresses: list[PciAddress], address: PciAddress, wanted: bool) -> None:
    at = bisect_left(addresses, address)
    present = at < len(addresses) and addresses[at] == address
    if wanted and not present:
        addresses.insert(at, address)
    elif present and not wanted:
        del addresses[at]


def _sortable(key: PoolKey) -> tuple[object, ...]:
    node = (key.numa_node is not None, key.numa_node or 0)
    tags = tuple((name, repr(value)) for name, value in key.tags)
    return (key.vendor_id, key.product_id, key.dev_type, node, key.parent, tags)
