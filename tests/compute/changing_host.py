"""A host on a fake kernel that the use cases change, with the control plane and the journal that know of it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from compute.fakes import BEGIN
from domain.hosts import at
from hosts.linux.changes.kernels import any_kernel
from hosts.linux.fake_kernel import FakeKernel
from laneway.compute.host_changer import HostChanger
from laneway.compute.host_lock import HostLock, host_lock_path
from laneway.compute.managed_host import ManagedHost
from laneway.contracts.changes import Change, Changes
from laneway.domain.address import PciAddress
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import Findings, LanewayError
from laneway.domain.inventory import Inventory
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.specs.device_spec_parser import parse_device_specs
from laneway.domain.tracking.health import Health
from laneway.domain.tracking.host_view import HostView, IommuGroups
from laneway.fleet.control_plane import ControlPlane
from laneway.hosts.linux.changes.vf_messages import VfState
from laneway.interfaces.host_changes import (
    Action,
    Clean,
    Ending,
    HostChangeError,
    JournalStep,
    Outcome,
    Plan,
    Progress,
    Step,
    Unfinished,
)
from laneway.interfaces.host_driver import Ability, DriverCapabilities
from laneway.interfaces.journal import JournalState
from laneway.interfaces.store import Store
from laneway.store.journal import SqliteJournal, journal_path
from laneway.store.memory import MemoryStore

HOST = "gpu-1"
ALL: tuple[object, ...] = ({"address": "*"},)


class ObedientVfKernel:
    """Makes every setting of a VF, and tells none. ``made`` are those that it was asked for."""

    def __init__(self) -> None:
        self.made: list[bytes] = []

    def read(self, interface: int) -> Mapping[int, VfState]:
        return {}

    def set_one(self, interface: int, setting: bytes) -> None:
        self.made.append(setting)


def add_network_pf(kernel: FakeKernel, address: str) -> ObedientVfKernel:
    """A PF whose first VFs stand two slots behind it, with an interface that makes settings for them."""
    pf = kernel.sysfs.function(address, "8086", "10c9", driver="igb", iommu_group=12, total_vfs=8, vf_device="10ca")
    pf.attribute("sriov_offset", "17").attribute("sriov_stride", "1")
    pf.netdev("ens1").attribute("ifindex", "3")
    kernel.vf_kernel = obedient = ObedientVfKernel()
    return obedient


class CleaningDriver:
    """The driver of a kernel, with cleanings that end as the test says. ``cleaned`` are those that were done."""

    def __init__(self, kernel: FakeKernel) -> None:
        self._driver = kernel.host_driver()
        self.ill: dict[PciAddress, Health] = {}
        self.cleaned: list[Clean] = []
        self.fails: LanewayError | None = None

    def describe(self) -> DriverCapabilities:
        about = self._driver.describe()
        return replace(about, abilities=about.abilities | {Ability.CLEAN})

    def discover(self) -> Inventory:
        return self._driver.discover()

    def plan(self, action: Action) -> Plan:
        if not isinstance(action, Clean):
            return self._driver.plan(action)
        step = Step(kind="scrub", address=action.address, target="", summary=f"scrub {action.address}")
        return Plan(action=action, steps=(step,), boot_id=self.discover().boot_id)

    def apply(self, plan: Plan, journal: JournalStep, progress: Progress) -> Outcome:
        if not isinstance(plan.action, Clean):
            return self._driver.apply(plan, journal, progress)
        if self.fails is not None and not isinstance(self.fails, HostChangeError):
            raise self.fails
        journal(plan.steps[0])
        if self.fails is not None:
            raise self.fails
        self.cleaned.append(plan.action)
        return Outcome(ending=Ending.DONE)

    def recover(self, unfinished: Unfinished) -> Outcome:
        if isinstance(unfinished.plan.action, Clean):
            return Outcome(ending=Ending.UNDONE)
        return self._driver.recover(unfinished)

    def health(self, addresses: Sequence[PciAddress]) -> Mapping[PciAddress, Health]:
        return {address: self.ill.get(address, Health(reads_all_ones=False, fatal_errors=0)) for address in addresses}


class ChangingHost:
    """``kernel`` is the host, ``managed`` what use cases are given. Each ``process`` begins with nothing in memory."""

    def __init__(
        self,
        folder: Path,
        *,
        specs: Sequence[object] = ALL,
        kernel: FakeKernel | None = None,
        store: Store | None = None,
        iommu_groups: IommuGroups = IommuGroups.ENFORCE,
    ) -> None:
        self.kernel = kernel or any_kernel(folder / "root")
        self.specs = specs
        self.store = store or MemoryStore()
        self.driver = CleaningDriver(self.kernel)
        self.iommu_groups = iommu_groups
        self.told: list[str] = []
        self._database = folder / "state" / "laneway.db"
        self._opened: list[ManagedHost] = []
        self.managed = self.process()

    def start(self, kernel: FakeKernel) -> None:
        """The host is started anew, with this kernel."""
        self.kernel, self.driver = kernel, CleaningDriver(kernel)
        self.managed = self.process()

    def process(self) -> ManagedHost:
        """What a process is given that comes to this host."""
        managed = self._managed(patience=0)
        self._opened.append(managed)
        return managed

    @contextmanager
    def another_process(self, *, patience: float) -> Iterator[ManagedHost]:
        """One that runs in a thread beside this one, and waits for others that change the host."""
        managed = self._managed(patience=patience)
        try:
            yield managed
        finally:
            _close(managed)

    def _managed(self, *, patience: float) -> ManagedHost:
        findings = Findings()
        specs = parse_device_specs(list(self.specs), findings)
        findings.raise_errors()
        changer = HostChanger(
            driver=self.driver,
            journal=SqliteJournal(journal_path(self._database)),
            lock=HostLock(host_lock_path(self._database), patience=patience),
            progress=self.told.append,
        )
        return ManagedHost(
            name=HOST, specs=specs, plane=ControlPlane(self.store, self.clock, self.iommu_groups), changer=changer
        )

    def clock(self) -> datetime:
        return BEGIN

    def close(self) -> None:
        for managed in self._opened:
            _close(managed)

    # what others do

    def claim(self, consumer: str, *addresses: str, allocate: bool = True) -> None:
        """These devices for a consumer."""
        plane = self._plane()
        for address in addresses:
            function = self.look().report.inventory.by_address[at(address)]
            ids = Alternative(vendor_id=function.vendor_id, product_id=function.product_id, dev_type=function.dev_type)
            request = DeviceRequest(name=address, alternatives=(ids,))
            plane.claim(HOST, ClaimRequest(consumer=consumer, claim=f"{consumer} {address}", requests=(request,)))
        if allocate:
            plane.allocate(HOST, consumer=consumer)

    def free(self, consumer: str) -> None:
        self._plane().free(HOST, consumer=consumer)

    def cordon(self, address: str) -> None:
        self._plane().cordon(HOST, at(address))

    def _plane(self) -> ControlPlane:
        plane = self.managed.plane
        assert isinstance(plane, ControlPlane)
        self.managed.look()
        return plane

    # what is seen

    def look(self) -> HostView:
        return self.managed.look()

    def device(self, address: str) -> PciDevice:
        device = self.look().device(at(address))
        assert device is not None
        return device

    def status(self, address: str) -> Status:
        return self.look().status_of(at(address))

    def journal(self) -> JournalState:
        return self.managed.journal.state()

    def drivers(self, *addresses: str) -> list[str | None]:
        return [self.kernel.driver_of(address) for address in addresses]


def _close(managed: ManagedHost) -> None:
    assert isinstance(managed.journal, SqliteJournal)
    managed.journal.close()


def by_address(changes: Changes | Sequence[Change]) -> dict[str, Change]:
    """What was done about each device."""
    return {str(change.address): change for change in (changes.of if isinstance(changes, Changes) else changes)}
