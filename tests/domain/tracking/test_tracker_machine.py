"""A state machine over the tracker: whatever is done in whatever order, the invariants hold."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from domain.hosts import at, function, pf, report, statuses, used, vf, wants
from laneway.domain.address import PciAddress
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, Opener, PciFunction
from laneway.domain.requests.request import ClaimRequest, Constraint, ConstraintKind, NumaPolicy
from laneway.domain.tracking.claim import HELD, Update
from laneway.domain.tracking.host_view import IommuGroups
from laneway.domain.tracking.tracker import PciDeviceTracker

PFS = ("0000:81:00.0", "0000:82:00.0")
VFS = {pf_address: [f"{pf_address[:8]}02.{index}" for index in range(3)] for pf_address in PFS}

FULL_HOST: tuple[PciFunction, ...] = (
    *(pf(address, numa_node=node) for node, address in enumerate(PFS)),
    *(vf(address, parent, numa_node=PFS.index(parent)) for parent, vfs in VFS.items() for address in vfs),
    function("0000:0a:00.0", product_id="1e07", iommu_group=20, driver="vfio-pci"),
    function("0000:0a:00.1", product_id="10f7", iommu_group=20, driver="snd_hda_intel"),
    function("0000:0b:00.0", product_id="1e07", iommu_group=21, driver="vfio-pci", numa_node=1),
    function("0000:0b:00.1", product_id="10f7", iommu_group=21, driver="vfio-pci", numa_node=1),
    function("0000:3b:00.0", numa_node=0),
    function("0000:3d:00.0"),
)
ADDRESSES = tuple(str(f.address) for f in FULL_HOST)
SPECS: tuple[list[object], ...] = (
    [{"address": "*"}],
    [{"product_id": "154c", "physical_network": "a"}, {"address": "*"}],
    [{"product_id": "1572"}, {"product_id": "1e07", "one_time_use": True}],
    [{"address": "0000:81:00.0"}, {"product_id": "37c8"}, {"product_id": "10f7"}],
    [],
)
CHANGES: tuple[dict[str, Any], ...] = (
    {"in_use_by": used()},
    {"opened_by": (Opener(pid=1, name="qemu"),)},
    {"numa_node": 1},
    {"iommu_group": 21},
    {"product_id": "beef"},
    {"driver": "e1000e"},
)
REQUESTS = (
    wants(dev_type=DevType.PF),
    wants(dev_type=DevType.VF),
    wants(dev_type=DevType.VF, count=2),
    wants(product_id="1e07"),
    wants(product_id="10f7"),
    wants(product_id="1e07", count=2),
    wants(product_id="37c8", numa_policy=NumaPolicy.REQUIRED),
    wants(numa_policy=NumaPolicy.PREFERRED),
    wants(tags={"physical_network": "a"}),
)


def attempt(action: Callable[[], Any]) -> tuple[Any, ErrorCode | None]:
    """What the action gives, or the code with which it is refused."""
    try:
        return action(), None
    except LanewayError as error:
        return None, error.code


CONSUMERS = st.sampled_from(["vm1", "vm2", "vm3"])


class TrackerMachine(RuleBasedStateMachine):
    """What an operator, guests and the hardware can do to one host."""

    @initialize(groups=st.sampled_from(IommuGroups))
    def start(self, groups: IommuGroups) -> None:
        self.present: dict[str, PciFunction] = dict(zip(ADDRESSES, FULL_HOST, strict=True))
        self.specs: list[object] = SPECS[0]
        self.tracker = PciDeviceTracker(report(*FULL_HOST), iommu_groups=groups)
        self.ids = count()
        self.boots = count(1)
        self.boot_id = "boot 0"
        self.last_groups = {str(f.address): f.iommu_group for f in FULL_HOST}
        self.were_regrouped = False
        self.sync()

    @rule(
        consumer=CONSUMERS,
        requests=st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=3),
        nodes=st.sampled_from([frozenset(), frozenset({0}), frozenset({1})]),
        constraint=st.sampled_from([None, "numa_node", "parent", "iommu_group"]),
        distinct=st.booleans(),
        undo=st.booleans(),
    )
    def claim(
        self,
        consumer: str,
        requests: list[Any],
        nodes: frozenset[int],
        constraint: str | None,
        distinct: bool,
        undo: bool,
    ) -> None:
        named = tuple(replace(request, name=f"r{number}") for number, request in enumerate(requests))
        kind = ConstraintKind.DISTINCT if distinct else ConstraintKind.MATCH
        names = tuple(request.name for request in named)
        claim = ClaimRequest(
            consumer=consumer,
            claim=f"c{next(self.ids)}",
            requests=named,
            constraints=(Constraint(kind=kind, attribute=constraint, requests=names),) if constraint else (),
            guest_numa_nodes=nodes,
        )
        before = self.picture()
        claimed, refusal = attempt(lambda: self.tracker.claim(claim))
        assert self.picture() == before, "an operation, and one that fails too, leaves the tracker as it was"
        if claimed is None:
            assert refusal is ErrorCode.DOES_NOT_FIT
            return
        chosen = [address for addresses in claimed.record.devices.values() for address in addresses]
        assert len(set(chosen)) == sum(request.count for request in named)
        self.tracker.apply(claimed.update)
        assert all(self.tracker.view.status_of(address) is Status.CLAIMED for address in chosen)
        if undo:
            self.tracker.apply(self.tracker.free(claim=claim.claim))
            assert self.picture() == before, "freeing is the inverse of claiming"

    @rule(consumer=CONSUMERS)
    def allocate(self, consumer: str) -> None:
        update, refusal = attempt(lambda: self.tracker.allocate(consumer=consumer))
        if update is None:
            assert refusal is ErrorCode.NO_CLAIM
        else:
            self.tracker.apply(update)
        assert all(device.status is Status.ALLOCATED for device in self.tracker.view.owned_by(consumer))

    @rule(consumer=CONSUMERS)
    def free(self, consumer: str) -> None:
        self.tracker.apply(self.tracker.free(consumer=consumer))
        assert self.tracker.view.owned_by(consumer) == []

    @rule(address=st.sampled_from(ADDRESSES))
    def free_one(self, address: str) -> None:
        self.tracker.apply(self.tracker.free(addresses=[at(address)]))
        device = self.tracker.view.device(at(address))
        assert device is None or not device.is_owned

    @rule(address=st.sampled_from(ADDRESSES), verb=st.sampled_from(["cordon", "uncordon", "cleaned"]))
    def mark(self, address: str, verb: str) -> None:
        self.told(lambda: getattr(self.tracker, verb)(at(address)))

    @rule(address=st.sampled_from(ADDRESSES))
    def block(self, address: str) -> None:
        before = self.tracker.view.held.get(at(address))
        self.told(lambda: self.tracker.block(at(address), "fatal_errors", "its fatal errors rose"))
        assert self.tracker.view.held.get(at(address)) == before, "who has it keeps it"

    @rule(address=st.sampled_from(ADDRESSES), again=st.booleans())
    def prepare(self, address: str, again: bool) -> None:
        """The VFs of a PF are gone while it is prepared."""
        vfs = [self.present[one] for one in VFS.get(address, ()) if one in self.present]
        if not self.told(lambda: self.tracker.prepared(at(address), vfs)):
            return
        assert self.tracker.view.held[at(address)].prepared
        if again:
            assert self.tracker.prepared(at(address)).is_empty
        for one in vfs:
            del self.present[str(one.address)]
        self.sync()

    @rule(address=st.sampled_from(ADDRESSES))
    def release(self, address: str) -> None:
        before = self.tracker.view.held.get(at(address))
        if not self.told(lambda: self.tracker.released(at(address))):
            return
        assert before is not None
        assert before.prepared or before.status is Status.RELEASING
        after = self.tracker.view.held.get(at(address))
        assert (after.consumer if after else None) == before.consumer, "a claim outlives that the host has it back"
        self.present |= {str(vf.address): vf for vf in before.placeholders if address in self.present}
        self.sync()

    @rule(lost=st.sets(st.sampled_from(ADDRESSES), max_size=3), known=st.booleans())
    def boot(self, lost: set[str], known: bool) -> None:
        """Groups are numbered anew; VFs may not be made again, cards may be gone."""
        self.present = {address: f for address, f in self.present.items() if address not in lost}
        if known:
            self.last_groups = {address: f.iommu_group for address, f in self.present.items()}
            self.boot_id = f"boot {next(self.boots)}"
        owned = {a: d.consumer for a, d in self.tracker.view.held.items() if d.is_owned}
        self.sync()
        assert not known or not any(device.prepared for device in self.tracker.view.held.values())
        assert {a: d.consumer for a, d in self.tracker.view.held.items() if d.is_owned} == owned

    def told(self, operation: Callable[[], Update]) -> bool:
        """Whether the operation is possible; it is applied then."""
        before = self.picture()
        update, refusal = attempt(operation)
        assert self.picture() == before
        if update is None:
            assert refusal in (ErrorCode.UNKNOWN_DEVICE, ErrorCode.INVALID_STATUS, ErrorCode.WRONG_DEVICE)
            return False
        self.tracker.apply(update)
        return True

    @rule(address=st.sampled_from(ADDRESSES), change=st.sampled_from(CHANGES))
    def change(self, address: str, change: dict[str, Any]) -> None:
        if address in self.present:
            self.present[address] = replace(self.present[address], **change)
            self.sync()

    @rule(address=st.sampled_from(ADDRESSES))
    def plug_or_unplug(self, address: str) -> None:
        if self.present.pop(address, None) is None:
            self.present[address] = FULL_HOST[ADDRESSES.index(address)]
        self.sync()

    @rule(specs=st.sampled_from(SPECS))
    def reload(self, specs: list[object]) -> None:
        self.specs = specs
        self.sync()

    @rule()
    def restart(self) -> None:
        before = self.picture()
        groups = self.tracker.view.iommu_groups
        self.tracker = PciDeviceTracker(self.report(), self.tracker.state, iommu_groups=groups)
        assert self.picture() == before, "nothing that counts lives outside the stored state"

    def sync(self) -> None:
        owned = {a: d.consumer for a, d in self.tracker.view.held.items() if d.is_owned}
        self.last_groups.update({address: f.iommu_group for address, f in self.present.items()})
        self.tracker = self.tracker.sync(self.report()).tracker
        self.were_regrouped |= self.regrouped()
        self.tracker.apply(self.tracker.settle())
        assert self.tracker.settle().is_empty
        still = {a: d.consumer for a, d in self.tracker.view.held.items() if d.is_owned}
        assert still == owned, "an owned device is never removed, and keeps its owner"

    def report(self) -> Any:
        told = report(*self.present.values(), specs=self.specs)
        return replace(told, inventory=replace(told.inventory, boot_id=self.boot_id))

    def picture(self) -> Any:
        view = self.tracker.view
        return (
            statuses(self.tracker),
            self.tracker.pools(),
            {str(a): view.blocked_by(a) for a in view.addresses()},
            self.tracker.state,
        )

    @invariant()
    def no_two_conflicting_devices_have_two_owners(self) -> None:
        held = [device for device in self.tracker.view.held.values() if device.status in HELD]
        for one in held:
            for other in held:
                if one.address < other.address:
                    assert not self.kin(one.address, other.address), "a PF and its own VF are never both held"
                    assert (
                        one.consumer == other.consumer
                        or not self.share_group(one.address, other.address)
                        or self.were_regrouped
                    )

    @invariant()
    def pools_are_the_available_and_unblocked_devices(self) -> None:
        view = self.tracker.view
        on_offer = [a for a in view.addresses() if view.status_of(a) is Status.AVAILABLE and not view.blocked_by(a)]
        assert sum(pool.count for pool in self.tracker.pools()) == len(on_offer)
        assert all(view.is_admitted(address) for address in on_offer)

    @invariant()
    def statuses_follow_from_who_holds_what(self) -> None:
        view = self.tracker.view
        for address in view.addresses():
            if address in view.held:
                continue
            rivals = [d for a, d in view.held.items() if self.kin(a, address) or self.share_group(a, address)]
            expected = Status.AVAILABLE
            if rivals:
                claimed_only = all(rival.status is Status.CLAIMED for rival in rivals)
                expected = Status.UNCLAIMABLE if claimed_only else Status.UNAVAILABLE
            assert view.status_of(address) is expected

    @invariant()
    def only_what_a_guest_has_or_had_is_prepared(self) -> None:
        view = self.tracker.view
        for device in view.held.values():
            assert not device.prepared or device.status in (Status.ALLOCATED, Status.RELEASING)
            assert device.prepared or not device.placeholders
        for address in view.placeholders:
            assert str(address) not in self.present
            assert view.status_of(address) is Status.UNAVAILABLE

    def kin(self, one: PciAddress, other: PciAddress) -> bool:
        return str(other) in VFS.get(str(one), ()) or str(one) in VFS.get(str(other), ())

    def share_group(self, one: PciAddress, other: PciAddress) -> bool:
        if self.tracker.view.iommu_groups is IommuGroups.IGNORE:
            return False
        mine = self.group(one)
        return mine is not None and mine == self.group(other)

    def group(self, address: PciAddress) -> int | None:
        """Today's IOMMU group; of a held device that is gone the last that was seen of it."""
        today = self.present.get(str(address))
        if today is not None:
            return today.iommu_group
        return self.last_groups.get(str(address)) if address in self.tracker.view.held else None

    def regrouped(self) -> bool:
        """The kernel may put devices that are taken already into one group."""
        return any(
            group != FULL_HOST[ADDRESSES.index(address)].iommu_group for address, group in self.last_groups.items()
        )


TrackerMachine.TestCase.settings = settings(max_examples=250, stateful_step_count=60, deadline=None)
TestTracker = TrackerMachine.TestCase
