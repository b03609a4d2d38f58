"""The tracker against a model that is written from the rules alone and tries every choice.

On small random hosts, whatever is done in whatever order: statuses, blocks and pools are those of
the model, and a claim gets exactly the devices that are best by the order of costs, or is refused
where there is no choice at all.
"""

from collections import Counter
from dataclasses import replace
from itertools import count
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from domain.hosts import at, function, inventory, opened, used
from domain.model import Model, Spec
from domain.test_tracker import refused
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Status
from laneway.domain.device_spec_parser import parse_device_specs
from laneway.domain.errors import ErrorCode, Findings
from laneway.domain.host_view import IommuGroups
from laneway.domain.inventory import DevType, NotAssignable, NumaNode, PciFunction
from laneway.domain.report import HostReport
from laneway.domain.request import Alternative, ClaimRequest, Constraint, ConstraintKind, DeviceRequest, NumaPolicy
from laneway.domain.tracker import PciDeviceTracker

NODES = (
    NumaNode(id=0, socket=0, distances={0: 10, 1: 12, 2: 31}),
    NumaNode(id=1, socket=0, distances={0: 12, 1: 10, 2: 32}),
    NumaNode(id=2, socket=1, distances={0: 31, 1: 32, 2: 10}),
)
PFS = ("0000:81:00.0", "0000:82:00.0")
VFS = {"0000:81:02.0": PFS[0], "0000:81:02.1": PFS[0], "0000:82:02.0": PFS[1]}
CARDS = ("0000:3b:00.0", "0000:3c:00.0", "0000:3d:00.0")
BRIDGE = "0000:00:01.0"
ADDRESSES = (*PFS, *VFS, *CARDS, BRIDGE)


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """One of these values, of which the usual one comes often: most devices of a host are alike."""
    return st.sampled_from([usual] * (3 + 2 * len(others)) + list(others))


FACTS: dict[str, st.SearchStrategy[Any]] = {
    "product_id": mostly("37c8", "37c9"),
    "numa_node": mostly(0, 1, 2, None),
    "iommu_group": st.sampled_from([None, None, None, 1, 1, 2]),
    "driver": mostly("vfio-pci", None, "ixgbe"),
    "pcie_roots": mostly(("0000:3a",), ("0000:80",), ("0000:3a", "0000:80"), None),
    "in_use_by": mostly((), None, used()),
    "opened_by": mostly((), None, opened()),
    "not_assignable": mostly(None, (NotAssignable(code="reserved_memory"),)),
}
TAGS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "physical_network": st.sampled_from(["p1", "p2"]),
        "rack": st.just("r1"),
        "one_time_use": st.just(True),
    },
)
SPECS = st.builds(Spec, tags=mostly({}) | TAGS, allow_in_use=mostly(False, True))


@st.composite
def functions(draw: st.DrawFn, address: str) -> PciFunction:
    """The function at an address: a PF, a VF, a card of its own or a bridge, with any facts."""
    facts = {name: draw(values) for name, values in FACTS.items()}
    if address in PFS:
        return function(address, DevType.PF, **facts)
    if address in VFS:
        kind = draw(st.sampled_from([DevType.VF, DevType.VF, DevType.VDPA]))
        parent = draw(mostly(VFS[address], PFS[1]))
        return function(address, kind, parent_addr=parent, **facts)
    return function(address, class_code="060400" if address == BRIDGE else "020000", **facts)


@st.composite
def hosts(draw: st.DrawFn) -> dict[PciAddress, PciFunction]:
    present = draw(st.sets(st.sampled_from(ADDRESSES), min_size=5))
    return {at(address): draw(functions(address)) for address in sorted(present)}


ALTERNATIVES = st.builds(
    Alternative,
    product_id=mostly(None, "37c8", "37c9"),
    dev_type=st.sampled_from([None, None, None, *DevType]),
    tags=mostly({}, {"physical_network": "p1"}, {"rack": None}, {"one_time_use": True}),
)
REQUESTS = st.builds(
    DeviceRequest,
    name=st.just("r"),
    alternatives=st.lists(ALTERNATIVES, min_size=1, max_size=2).map(tuple),
    count=st.sampled_from([1, 1, 1, 2]),
    numa_policy=st.sampled_from(NumaPolicy),
    attach=st.sampled_from([Attach.VFIO, Attach.VFIO, Attach.VFIO, Attach.VDPA, Attach.MACVTAP]),
)
CONSTRAINTS = st.tuples(
    st.sampled_from(ConstraintKind),
    st.sampled_from(["numa_node", "socket", "pcie_root", "parent", "iommu_group", "physical_network"]),
)
CONSUMERS = st.sampled_from(["vm1", "vm2"])
ADDRESS = st.sampled_from([at(address) for address in ADDRESSES])


class TrackerAndModel(RuleBasedStateMachine):
    """Whatever happens to a host happens to both."""

    @initialize(present=hosts(), specs=st.dictionaries(ADDRESS, SPECS, min_size=6), groups=st.sampled_from(IommuGroups))
    def start(self, present: dict[PciAddress, PciFunction], specs: dict[PciAddress, Spec], groups: IommuGroups) -> None:
        self.model = Model(present, specs, NODES, groups is IommuGroups.ENFORCE)
        self.tracker = PciDeviceTracker(self.report(), iommu_groups=groups)
        self.ids = count()

    @rule(
        consumer=CONSUMERS,
        wanted=st.lists(REQUESTS, min_size=1, max_size=3),
        constraint=st.none() | st.none() | CONSTRAINTS,
        nodes=st.sampled_from([frozenset(), frozenset({0}), frozenset({0, 2})]),
    )
    def claim(
        self,
        consumer: str,
        wanted: list[DeviceRequest],
        constraint: tuple[ConstraintKind, str] | None,
        nodes: frozenset[int],
    ) -> None:
        requests = tuple(replace(request, name=f"r{number}") for number, request in enumerate(wanted))
        names = tuple(request.name for request in requests)
        claim = ClaimRequest(
            consumer=consumer,
            claim=f"c{next(self.ids)}",
            requests=requests,
            constraints=(Constraint(kind=constraint[0], attribute=constraint[1], requests=names),)
            if constraint
            else (),
            guest_numa_nodes=nodes,
        )
        best = self.model.best(claim)
        if best is None:
            with refused(ErrorCode.DOES_NOT_FIT):
                self.tracker.claim(claim)
            return
        claimed = self.tracker.claim(claim)
        assert tuple(claimed.record.devices.values()) == best
        assert claimed.record.proven_best
        self.tracker.apply(claimed.update)
        self.model.take([address for addresses in best for address in addresses], consumer, Status.CLAIMED)

    @rule(consumer=CONSUMERS)
    def allocate(self, consumer: str) -> None:
        if any(h.consumer == consumer and h.status is Status.CLAIMED for h in self.model.held.values()):
            self.tracker.apply(self.tracker.allocate(consumer=consumer))
            self.model.allocate(consumer)

    @rule(address=ADDRESS)
    def free(self, address: PciAddress) -> None:
        self.tracker.apply(self.tracker.free(addresses=[address]))
        if address in self.model.held and self.model.held[address].consumer:
            self.model.free(address)

    @rule(address=ADDRESS)
    def clean(self, address: PciAddress) -> None:
        if address in self.model.held and self.model.held[address].status is Status.DIRTY:
            self.tracker.apply(self.tracker.clean(address))
            del self.model.held[address]

    @rule(address=ADDRESS, cordon=st.booleans())
    def cordon(self, address: PciAddress, cordon: bool) -> None:
        if address in self.model.tracked:
            self.tracker.apply(self.tracker.cordon(address) if cordon else self.tracker.uncordon(address))
            (self.model.cordoned.add if cordon else self.model.cordoned.discard)(address)

    @rule(data=st.data(), address=st.sampled_from(ADDRESSES))
    def plug_or_change(self, data: st.DataObject, address: str) -> None:
        self.model.functions[at(address)] = data.draw(functions(address))
        self.sync()

    @rule(address=ADDRESS)
    def unplug(self, address: PciAddress) -> None:
        self.model.functions.pop(address, None)
        self.sync()

    @rule(address=ADDRESS, spec=st.none() | SPECS)
    def reload(self, address: PciAddress, spec: Spec | None) -> None:
        self.model.specs.pop(address, None)
        if spec is not None:
            self.model.specs[address] = spec
        self.sync()

    def sync(self) -> None:
        self.tracker = self.tracker.sync(self.report()).tracker

    def report(self) -> HostReport:
        """The same host, with one spec for each address that is admitted."""
        entries = [
            {"address": by_fields(address), "allow_in_use": spec.allow_in_use, **spec.tags}
            for address, spec in self.model.specs.items()
        ]
        findings = Findings()
        specs = parse_device_specs(entries, findings)
        findings.raise_errors()
        return HostReport(inventory(*self.model.functions.values(), nodes=NODES), specs)

    @invariant()
    def statuses_are_those_of_the_model(self) -> None:
        view = self.tracker.view
        assert {a: view.status_of(a) for a in view.addresses()} == {
            address: self.model.status(address) for address in self.model.tracked
        }

    @invariant()
    def blocks_are_those_of_the_model(self) -> None:
        view = self.tracker.view
        found = {a: Counter(reason.code for reason in view.blocked_by(a)) for a in view.addresses()}
        assert found == {address: self.model.blocks(address) for address in self.model.tracked}

    @invariant()
    def pools_count_what_the_model_offers(self) -> None:
        expected: Counter[tuple[object, ...]] = Counter()
        for address in filter(self.model.offered, self.model.admitted):
            one, tags = self.model.functions[address], self.model.specs[address].tags
            parent = address if one.parent_addr is None else one.parent_addr
            key = (one.vendor_id, one.product_id, one.dev_type, one.numa_node, parent, tuple(sorted(tags.items())))
            expected[key] += 1
        assert {tuple(pool.key): pool.count for pool in self.tracker.pools()} == expected


def by_fields(address: PciAddress) -> dict[str, str]:
    """An address that means this function and, other than an exact one, not its VFs."""
    return {
        "domain": f"{address.domain:04x}",
        "bus": f"{address.bus:02x}",
        "slot": f"{address.slot:02x}",
        "function": f"{address.function:x}",
    }


TrackerAndModel.TestCase.settings = settings(max_examples=250, stateful_step_count=25, deadline=None)
TestTrackerAndModel = TrackerAndModel.TestCase
