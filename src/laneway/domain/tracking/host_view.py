"""Everything that follows from one host's report and its stored state, kept up to date as both change."""

from collections.abc import Container, Iterable, Mapping, Set
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, ExtraInfo, PciDevice, Status
from laneway.domain.identity import Census
from laneway.domain.inventory import PciFunction
from laneway.domain.report import HostReport
from laneway.domain.requests.numa import NumaTopology
from laneway.domain.specs.admission import admit, admit_function
from laneway.domain.tracking.blocking import group_blocks, host_blocks, opened_blocks, shared_groups
from laneway.domain.tracking.claim import ClaimRecord, HostState, Update
from laneway.domain.tracking.displacement import Displacement, displaced_blocks, displacement, displacements
from laneway.domain.tracking.pools import PoolIndex
from laneway.domain.tracking.transitions import shadow

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class IommuGroups(StrEnum):
    """Whether IOMMU groups bind claims; nova does not look at them."""

    ENFORCE = "enforce"
    IGNORE = "ignore"


class HostView:
    """One host's tracked devices: those that a spec admits and those that are held.

    It is built from values and changes only through ``apply``. Unclaimable and unavailable,
    blocks and pools are derived here and nowhere stored.
    """

    def __init__(
        self,
        report: HostReport,
        state: HostState,
        iommu_groups: IommuGroups,
        admitted: dict[PciAddress, PciDevice] | None = None,
    ) -> None:
        """``admitted`` spares the admission where the caller has it. Raises LanewayError(invalid_inventory)."""
        self.report = report
        self.iommu_groups = iommu_groups
        self.topology = NumaTopology.of(report.inventory)
        self._admitted = admit(report.inventory, report.specs).devices if admitted is None else admitted
        self.admitted = self._admitted
        self._functions = report.inventory.by_address
        self._census = Census(self._functions)
        self._placeholders: dict[PciAddress, PciDevice] = {}
        groups = shared_groups(report.inventory.functions) if iommu_groups is IommuGroups.ENFORCE else {}
        self._groups = groups
        self._host_blocks = host_blocks(report.inventory, self.admitted)
        self._group_blocks = group_blocks(groups, self.admitted)
        self._opened = {f.address: f for f in report.inventory.functions if f.opened_by}
        self._siblings: dict[PciAddress, list[PciFunction]] = {
            member.address: endpoints for endpoints in groups.values() for member in endpoints
        }
        self._stored = dict(state.held)
        self._claims = dict(state.claims)
        self._marks = dict(state.blocks)
        self._boot_id = state.boot_id
        self._rebuild()

    def with_report(self, report: HostReport) -> "HostView":
        """The view with newer facts or specs; this one where nothing that it is made of changed."""
        now, before = report.inventory, self.report.inventory
        changed = _changed(before.by_address, now.by_address)
        if (
            not changed
            and now.numa_nodes == before.numa_nodes
            and now.boot_id == before.boot_id
            and report.specs == self.report.specs
        ):
            return self
        return HostView(report, self.state, self.iommu_groups, self._readmit(report, changed))

    @property
    def state(self) -> HostState:
        """What a store has to keep, as it is now."""
        return HostState(
            held=dict(self._stored), claims=dict(self._claims), blocks=dict(self._marks), boot_id=self._boot_id
        )

    @property
    def is_another_boot(self) -> bool:
        """Whether the host was started anew since the state was stored; False where a boot is not known."""
        now = self.report.inventory.boot_id
        return None not in (now, self._boot_id) and now != self._boot_id

    @property
    def displaced(self) -> Mapping[PciAddress, Displacement]:
        """The held devices that are not what stands at their addresses."""
        return self._displaced

    def displaced_at(self, address: PciAddress) -> list[PciDevice]:
        """The displaced devices that may stand at an address which is not their own."""
        return [
            self._held[own]
            for own, displaced in self._displaced.items()
            if own != address and any(found.address == address for found in displaced.found)
        ]

    def displacement_of(self, recorded: PciFunction) -> Displacement | None:
        """Why a function that was recorded is not what stands at its address; None where it is, or is only gone."""
        return displacement(recorded, self._census)

    @property
    def placeholders(self) -> Mapping[PciAddress, PciDevice]:
        """Devices that are gone while their PF is prepared, as they were."""
        return self._placeholders

    @property
    def claims(self) -> Mapping[str, ClaimRecord]:
        """The claims by their ids."""
        return self._claims

    @property
    def marks(self) -> Mapping[PciAddress, tuple[BlockReason, ...]]:
        """What an operator or a failed cleaning blocks, whatever the facts say."""
        return self._marks

    def device(self, address: PciAddress) -> PciDevice | None:
        """The tracked device with its own status, or None."""
        return self._held.get(address) or self.admitted.get(address)

    def addresses(self) -> Iterable[PciAddress]:
        """All tracked addresses, in no order."""
        return self.index.cohort_of

    def stored(self, address: PciAddress) -> PciDevice:
        """A held device as it was stored: with the facts of the time when it was claimed."""
        return self._stored[address]

    @property
    def held(self) -> Mapping[PciAddress, PciDevice]:
        """The held devices, with today's facts where those are not deferred (rule D36)."""
        return self._held

    def owned_by(self, consumer: str) -> list[PciDevice]:
        """The devices of a consumer, by address."""
        return [self._held[address] for address in sorted(self._owned.get(consumer, ()))]

    def status_of(self, address: PciAddress) -> Status:
        """The status of a tracked device, relatives looked at."""
        device = self._held.get(address)
        if device is not None:
            return device.status
        return shadow(self.index.cohort_of[address].holders_beside(address))

    def is_admitted(self, address: PciAddress) -> bool:
        """Whether a spec of today admits a function that is there today."""
        return address in self.admitted

    def blocked_by(self, address: PciAddress) -> tuple[BlockReason, ...]:
        """Why the device is not offered, or would not be if it were free."""
        return (*self._own_blocks(address), *self._group_blocks.get(address, ()))

    def apply(self, update: Update) -> None:
        """Takes over what an operation decided."""
        rebuild = update.boot_id is not None or any(
            self._changes_cohort(address, device) for address, device in update.held.items()
        )
        _take_over(self._stored, update.held)
        _take_over(self._claims, update.claims)
        _take_over(self._marks, update.blocks)
        self._boot_id = update.boot_id or self._boot_id
        if rebuild:
            self._rebuild()
            return
        for address, device in update.held.items():
            self._set_held(address, device)
        for address in (*update.held, *update.blocks):
            self._refresh(address)

    def _rebuild(self) -> None:
        self._displaced = displacements(self._stored, self._census)
        self._displaced_blocks = displaced_blocks(
            self._displaced, self._stored, self._functions.values(), self._siblings
        )
        self._held = {address: self._with_facts_of_today(device) for address, device in self._stored.items()}
        self._owned: dict[str, set[PciAddress]] = {}
        for address, device in self._held.items():
            if device.consumer is not None:
                self._owned.setdefault(device.consumer, set()).add(address)
        self._admit_placeholders()
        tracked = {**self.admitted, **self._held}
        self.index = PoolIndex(
            tracked.values(),
            self._binding_groups(tracked),
            held=self._held,
            blocked={address for address in self._suspects() if self._own_blocks(address)},
            group_blocked=self._group_blocks,
        )

    def _admit_placeholders(self) -> None:
        """Tracks the VFs that are gone while their PF is prepared: a VF is back by its PF and index, or its address."""
        gone = [(vf, pf.function) for pf in self._stored.values() for vf in pf.placeholders]
        back = {(f.parent_addr, f.vf_index) for f in self._functions.values() if f.vf_index is not None} if gone else ()
        found = {
            vf.address: admit_function(vf, pf, self.report.specs)
            for vf, pf in gone
            if vf.address not in self._functions and (vf.parent_addr, vf.vf_index) not in back
        }
        self._placeholders = {address: device for address, device in found.items() if device is not None}
        self.admitted = {**self._admitted, **self._placeholders} if self._placeholders else self._admitted

    def _binding_groups(self, tracked: Container[PciAddress]) -> dict[PciAddress, int]:
        """The IOMMU group of each tracked device that shares it: a held one that is gone is in its last group.

        Groups are numbered anew by each boot.
        """
        gone = [device.function for address, device in self._stored.items() if address not in self._functions]
        groups = self._groups
        if gone and self.iommu_groups is IommuGroups.ENFORCE and not self.is_another_boot:
            groups = shared_groups((*self._functions.values(), *gone))
        return {
            member.address: group
            for group, endpoints in groups.items()
            for member in endpoints
            if member.address in tracked
        }

    def _suspects(self) -> set[PciAddress]:
        near_opened = {near for address in self._opened for near in self._within_reach(address)}
        suspects = (*self._host_blocks, *self._marks, *near_opened, *self._displaced_blocks)
        return {address for address in suspects if address in self.admitted}

    def _changes_cohort(self, address: PciAddress, device: PciDevice | None) -> bool:
        """Whether the change needs more than counting: what matching looks at is another then."""
        today = self.admitted.get(address)
        if address not in self.index.cohort_of or today is None or address in self._displaced:
            return True
        before = self._held.get(address)
        if (before.placeholders if before else ()) != (device.placeholders if device else ()):
            return True
        if device is not None and displacement(device.function, self._census):
            return True
        return any(held is not None and not _alike(held, today) for held in (before, device))

    def _set_held(self, address: PciAddress, device: PciDevice | None) -> None:
        before = self._held.pop(address, None)
        if before is not None and before.consumer is not None:
            owned = self._owned[before.consumer]
            owned.discard(address)
            if not owned:
                del self._owned[before.consumer]
        if device is None:
            if before is not None:
                self.index.unhold(address)
            return
        self._held[address] = device = self._with_facts_of_today(device)
        if device.consumer is not None:
            self._owned.setdefault(device.consumer, set()).add(address)
        self.index.hold(device)

    def _refresh(self, address: PciAddress) -> None:
        """Brings the offer of a device, and of those that its openness concerns, up to date."""
        concerned = (address,) if not self._opened else (address, *self._within_reach(address))
        for near in concerned:
            cohort = self.index.cohort_of.get(near)
            if cohort is None:
                continue
            free = near not in self._held and near in self.admitted and not self._own_blocks(near)
            by_group = near in self._group_blocks
            self.index.set_free(near, free=free and not by_group, group_blocked=free and by_group)
            self.index.place(cohort)

    def _own_blocks(self, address: PciAddress) -> tuple[BlockReason, ...]:
        reasons = (
            *self._host_blocks.get(address, ()),
            *self._displaced_blocks.get(address, ()),
            *self._marks.get(address, ()),
        )
        if self._opened and address not in self._held:
            reasons = (*reasons, *opened_blocks(address, self._opened, self._held, self._taken_along(address)))
        return reasons

    def _within_reach(self, address: PciAddress) -> set[PciAddress]:
        """The device, its PF and the members of its IOMMU group: whom it concerns that it is open."""
        near = {address, *(member.address for member in self._siblings.get(address, ()))}
        function = self._functions.get(address)
        if function is not None and function.parent_addr is not None:
            near.add(function.parent_addr)
        return near

    def _taken_along(self, address: PciAddress) -> list[PciAddress]:
        """The opened functions that whoever takes this device would take away from their process."""
        siblings = {member.address for member in self._siblings.get(address, ())}
        return [
            other
            for other, function in self._opened.items()
            if other != address and (other in siblings or function.parent_addr == address)
        ]

    def _readmit(self, report: HostReport, changed: Set[PciAddress]) -> dict[PciAddress, PciDevice] | None:
        """The devices that the specs admit now, taken over where neither facts nor specs changed."""
        if report.specs != self.report.specs:
            return None
        functions = report.inventory.by_address
        admitted: dict[PciAddress, PciDevice] = {}
        for address, function in functions.items():
            parent = function.parent_addr
            if address in changed or parent in changed:
                device = admit_function(function, functions.get(parent) if parent is not None else None, report.specs)
            else:
                device = self.admitted.get(address)
            if device is not None:
                admitted[address] = device
        return admitted

    def _with_facts_of_today(self, device: PciDevice) -> PciDevice:
        """A held device as it was claimed, but with today's IOMMU group, driver, netdevs and use (D36).

        Of one that is displaced nothing is of today: that would be another device's.
        """
        displaced = self._displaced.get(device.address)
        message = None if displaced is None else displaced.message
        if device.displaced != message:
            device = replace(device, displaced=message)
        today = self._functions.get(device.address)
        if today is None or message is not None or today == device.function:
            return device
        kept = device.function
        function = replace(
            today,
            vendor_id=kept.vendor_id,
            product_id=kept.product_id,
            dev_type=kept.dev_type,
            class_code=kept.class_code,
            parent_addr=kept.parent_addr,
            numa_node=kept.numa_node,
            pcie_roots=kept.pcie_roots,
        )
        now = self.admitted.get(device.address)
        extra = device.extra_info if now is None else _with_known(device.extra_info, now.extra_info)
        return replace(device, function=function, extra_info=extra)


def _changed(before: Mapping[PciAddress, PciFunction], after: Mapping[PciAddress, PciFunction]) -> set[PciAddress]:
    """Where functions appeared, vanished or are not what they were."""
    found = {address for address, function in after.items() if before.get(address) != function}
    return found | (before.keys() - after.keys())


def _with_known(kept: ExtraInfo, today: ExtraInfo) -> ExtraInfo:
    """Today's facts for the network side; what is unknown while a guest has the PF stays (rule C31)."""
    return replace(
        kept,
        network_capabilities=today.network_capabilities or kept.network_capabilities,
        pf_mac_address=today.pf_mac_address or kept.pf_mac_address,
        vf_num=kept.vf_num if today.vf_num is None else today.vf_num,
        card_serial_number=today.card_serial_number or kept.card_serial_number,
        mac_address=today.mac_address or kept.mac_address,
    )


def _take_over(kept: dict[_Key, _Value], changes: Mapping[_Key, _Value | None]) -> None:
    for key, value in changes.items():
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = value


def _alike(held: PciDevice, today: PciDevice) -> bool:
    """Whether matching, policies, constraints and conflicts see no difference (the cohort is the same)."""
    if held.function is today.function and held.extra_info is today.extra_info:
        return True
    return _matched_facts(held) == _matched_facts(today)


def _matched_facts(device: PciDevice) -> tuple[object, ...]:
    function, extra = device.function, device.extra_info
    return (
        function.vendor_id,
        function.product_id,
        function.dev_type,
        function.class_code,
        function.parent_addr,
        function.numa_node,
        function.pcie_roots,
        extra.tags,
        extra.parent_ifname,
    )
