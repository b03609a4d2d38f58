"""A service on a host of values: its config, its driver, its time and its log are the test's."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from domain.hosts import inventory
from laneway.compute.agent_files import AgentFiles
from laneway.compute.host_changer import HostChanger
from laneway.compute.inbox import Inbox, Wish
from laneway.compute.log import EventLog
from laneway.compute.manager import Process
from laneway.compute.supervisor import Supervisor
from laneway.config import Config
from laneway.domain.errors import Findings, LanewayError
from laneway.domain.inventory import Inventory, PciFunction
from laneway.domain.specs.device_spec_parser import parse_device_specs
from laneway.domain.tracking.host_view import IommuGroups
from laneway.fleet.control_plane import ControlPlane
from laneway.interfaces.host_changes import Progress
from laneway.interfaces.host_driver import Ability, DriverCapabilities, HostDriver, HotplugEvents
from laneway.interfaces.network import PortKeeper
from laneway.interfaces.placement import ProviderReporter
from laneway.store.memory import MemoryStore, MemoryTransaction

BOOT = "3f0c"
BEGIN = datetime(2026, 12, 1, 9, tzinfo=UTC)


def config(*entries: object, **more: Any) -> Config:
    """A config of these device specs."""
    findings = Findings()
    specs = parse_device_specs(list(entries), findings)
    findings.raise_errors()
    defaults: dict[str, Any] = {"state_path": Path("/state"), "sources": (Path("/etc/laneway/laneway.toml"),)}
    return Config(device_specs=specs, warnings=tuple(findings.warnings), **(defaults | more))


def host(*functions: PciFunction) -> Inventory:
    return replace(inventory(*functions, boot_id=BOOT), host="gpu-1", driver="fake")


class CountingStore(MemoryStore):
    """Counts what is written."""

    writes = 0

    @contextmanager
    def transaction(self, host: str) -> Iterator[MemoryTransaction]:
        self.writes += 1
        with super().transaction(host) as transaction:
            yield transaction


class FakeDriver:
    """Finds what the test says; ``events`` make it a driver that can watch."""

    def __init__(self, found: Inventory | LanewayError) -> None:
        self.found = found
        self.discoveries = 0
        self.during: Callable[[], None] = lambda: None
        self.events: HotplugEvents | LanewayError | None = None

    def describe(self) -> DriverCapabilities:
        abilities = frozenset({Ability.WATCH} if self.events is not None else ())
        return DriverCapabilities(name="fake", os_family="any", abilities=abilities)

    def discover(self) -> Inventory:
        self.discoveries += 1
        self.during()
        if isinstance(self.found, LanewayError):
            raise self.found
        return self.found

    def watch(self) -> HotplugEvents:
        assert self.events is not None
        if isinstance(self.events, LanewayError):
            raise self.events
        return self.events


class FakeParts:
    """What the service is made of; ``opened`` are the parts in the order in which they were asked for."""

    def __init__(self, written: Config | LanewayError, found: Inventory | LanewayError, folder: Path) -> None:
        self.written = written
        self.driver = FakeDriver(found)
        self.store = CountingStore()
        self.clock = FakeClock()
        self.no_driver: LanewayError | None = None
        self.no_store: LanewayError | None = None
        self.changer: HostChanger | None = None
        self.opened: list[str] = []
        self.rules: list[IommuGroups] = []
        self.files = AgentFiles(folder / "laneway.db")
        self.reporter: ProviderReporter | None = None
        self.reported_for: list[bool] = []
        self.ports: PortKeeper | None = None

    def load_config(self) -> Config:
        if isinstance(self.written, LanewayError):
            raise self.written
        return self.written

    def open_driver(self, config: Config) -> FakeDriver:
        self.opened.append("driver")
        if self.no_driver is not None:
            raise self.no_driver
        return self.driver

    def connect(self, config: Config) -> ControlPlane:
        self.opened.append("control plane")
        if self.no_store is not None:
            raise self.no_store
        self.rules.append(config.iommu_groups)
        return ControlPlane(self.store, self.clock.now, config.iommu_groups)

    def open_changer(self, config: Config, driver: HostDriver, progress: Progress) -> HostChanger | None:
        return self.changer

    def host_name(self, config: Config, inventory: Inventory) -> str:
        return config.host or inventory.host or "here"

    def provider_reporter(self, config: Config) -> ProviderReporter | None:
        self.reported_for.append(config.report_in_placement)
        return self.reporter

    def port_keeper(self, config: Config) -> PortKeeper | None:
        return self.ports

    def open_files(self, config: Config) -> AgentFiles:
        self.opened.append("files")
        return self.files


class FakeClock:
    """A time of day and a monotonic one that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return BEGIN + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class RecordingLog(EventLog):
    """Keeps the events, by name and sentence."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def say(self, level: int, event: str, message: str, **facts: object) -> None:
        self.said.append((event, message))

    def of(self, event: str) -> list[str]:
        return [message for name, message in self.said if name == event]


class RecordingSupervisor(Supervisor):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__({})
        self.told: list[str] = []

    def _send(self, message: str) -> None:
        self.told.append(message.partition("\n")[0])


Step = Callable[[], None] | Wish | None
"""What happens while the service waits: a wish comes, something is done, or the time passes (None)."""


class ScriptedInbox(Inbox):
    """Plays a script while the service waits, and then wishes for the end."""

    def __init__(self, clock: FakeClock, script: Sequence[Step]) -> None:
        super().__init__()
        self._clock = clock
        self._script = list(script)

    def take(self, seconds: float) -> frozenset[Wish]:
        wishes = super().take(0)
        if wishes:
            return wishes
        if not self._script:
            return frozenset({Wish.STOP})
        step = self._script.pop(0)
        if isinstance(step, Wish):
            return frozenset({step})
        if step is None:
            self._clock.seconds += seconds
        else:
            step()
        return super().take(0)


def process(parts: FakeParts, inbox: Inbox | None = None, *, interval: float = 60) -> Process:
    return Process(
        pid=4711,
        interval=interval,
        log=RecordingLog(),
        supervisor=RecordingSupervisor(),
        clock=parts.clock.now,
        monotonic=parts.clock.monotonic,
        inbox=inbox or Inbox(),
    )
