"""A host on a fake kernel that the use cases change, with the control plane and the journal that know of it."""

from collections.abc import Sequence
from pathlib import Path

from compute.fakes import BEGIN
from domain.hosts import at
from hosts.linux.changes.kernels import any_kernel
from hosts.linux.fake_kernel import FakeKernel
from laneway.compute.host_changer import HostChanger
from laneway.compute.host_lock import HostLock, host_lock_path
from laneway.compute.managed_host import ManagedHost
from laneway.contracts.changes import Change, Changes
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import Findings
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.specs.device_spec_parser import parse_device_specs
from laneway.domain.tracking.host_view import HostView
from laneway.fleet.control_plane import ControlPlane
from laneway.interfaces.journal import JournalState
from laneway.interfaces.store import Store
from laneway.store.journal import SqliteJournal, journal_path
from laneway.store.memory import MemoryStore

HOST = "gpu-1"
ALL: tuple[object, ...] = ({"address": "*"},)


class ChangingHost:
    """``kernel`` is the host, ``managed`` what use cases are given. Each ``process`` begins with nothing in memory."""

    def __init__(
        self,
        folder: Path,
        *,
        specs: Sequence[object] = ALL,
        kernel: FakeKernel | None = None,
        store: Store | None = None,
    ) -> None:
        self.kernel = kernel or any_kernel(folder / "root")
        self.specs = specs
        self.store = store or MemoryStore()
        self.told: list[str] = []
        self._database = folder / "state" / "laneway.db"
        self._journals: list[SqliteJournal] = []
        self.managed = self.process()

    def process(self, *, patience: float = 0) -> ManagedHost:
        """What a process is given that comes to this host."""
        findings = Findings()
        specs = parse_device_specs(list(self.specs), findings)
        findings.raise_errors()
        journal = SqliteJournal(journal_path(self._database))
        self._journals.append(journal)
        changer = HostChanger(
            driver=self.kernel.host_driver(),
            journal=journal,
            lock=HostLock(host_lock_path(self._database), patience=patience),
            progress=self.told.append,
        )
        return ManagedHost(name=HOST, specs=specs, plane=ControlPlane(self.store, lambda: BEGIN), changer=changer)

    def close(self) -> None:
        for journal in self._journals:
            journal.close()

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


def by_address(changes: Changes | Sequence[Change]) -> dict[str, Change]:
    """What was done about each device."""
    return {str(change.address): change for change in (changes.of if isinstance(changes, Changes) else changes)}
