"""From the config and the facts of a host to what its control plane knows of it, as one update."""

from dataclasses import dataclass, field, replace
from typing import Generic, Protocol

from laneway.compute.host_changer import HostChanger
from laneway.compute.host_config import C, check_on_host
from laneway.compute.managed_host import ManagedHost
from laneway.compute.upkeep import Upkeep, begin, keep_up
from laneway.domain.address import PciAddress
from laneway.domain.errors import ConfigError, ConfigProblem, Findings, LanewayError
from laneway.domain.inventory import Inventory
from laneway.domain.report import HostReport
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.control_plane import ControlPlane
from laneway.interfaces.host_changes import Progress
from laneway.interfaces.host_driver import HostDriver
from laneway.interfaces.network import KeptPorts, PortKeeper
from laneway.interfaces.placement import ProviderReporter


class HostParts(Protocol[C]):
    """What an update needs, made by whoever puts the service together."""

    def load_config(self) -> C:
        """The config as it is written now. Raises ConfigError with all that is wrong in it."""

    def open_driver(self, config: C) -> HostDriver:
        """The driver of this host. Raises LanewayError(host_unreachable)."""

    def connect(self, config: C) -> ControlPlane:
        """The control plane, deciding by this config. Raises as its store does."""

    def open_changer(self, config: C, driver: HostDriver, progress: Progress) -> HostChanger | None:
        """What changes this host; None where the driver only looks at it."""

    def host_name(self, config: C, inventory: Inventory) -> str:
        """What the control plane knows the host as."""

    def provider_reporter(self, config: C) -> ProviderReporter | None:
        """Who tells Placement how the devices stand; None where nobody is to."""

    def port_keeper(self, config: C) -> PortKeeper | None:
        """Who keeps Neutron's ports bound as claims say; None where nobody is to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated(Generic[C]):
    """How the host stands after an update.

    ``config`` is the one in force, ``adopted``: since this update; ``refused`` is why the one that
    is written now is not.
    ``contradictions`` are entries in force that facts of today speak against; ``expired`` are the
    devices of claims whose time was over. ``placement_error`` is why Placement does not know how they stand,
    ``ports`` what came of the ports that the devices serve.
    """

    host: str
    config: C
    inventory: Inventory
    view: HostView
    warnings: tuple[ConfigProblem, ...]
    contradictions: tuple[ConfigProblem, ...] = ()
    adopted: bool = False
    refused: LanewayError | None = None
    expired: tuple[PciAddress, ...] = ()
    placement_error: LanewayError | None = None
    ports: KeptPorts = field(default=KeptPorts())


class ResourceTracker(Generic[C]):
    """Keeps the control plane informed of one host. One update at a time: callers take turns."""

    def __init__(self, parts: HostParts[C], config: C, driver: HostDriver, changer: HostChanger | None) -> None:
        self._parts = parts
        self._config = config
        self._plane = parts.connect(config)
        self._reporter = parts.provider_reporter(config)
        self._ports = parts.port_keeper(config)
        self._changer = changer
        self.driver = driver
        self.begun: Upkeep | None = None
        """What was done on the host before the first update; None where the driver only looks at it."""

    @classmethod
    def start(cls, parts: HostParts[C], progress: Progress = lambda _: None) -> tuple["ResourceTracker[C]", Updated[C]]:
        """The tracker with its first update done; what was interrupted on the host is brought to an end before that.

        Nothing is caught here: whatever is wrong with the config, in its text or against the
        facts, is raised with all its problems, and so is what keeps the host from being read.
        The control plane is not touched before all of that is known to be right.
        """
        config = parts.load_config()
        driver = parts.open_driver(config)
        changer = parts.open_changer(config, driver, progress)
        begun = None if changer is None else begin(changer)
        inventory = driver.discover()
        findings = check_on_host(config, inventory)
        findings.raise_errors()
        tracker = cls(parts, config, driver, changer)
        tracker.begun = begun
        first = tracker._sync(inventory, findings)
        if isinstance(first.placement_error, ConfigError):
            raise first.placement_error
        return tracker, first

    def update(self) -> Updated[C]:
        """Reads the config and the host anew. A config that is wrong is refused, and the last good one stays in force.

        Raises LanewayError where the host cannot be read, or the control plane not be reached.
        """
        inventory = self.driver.discover()
        before, refused = self._config, None
        try:
            self._reload(inventory)
        except LanewayError as error:
            refused = error
        updated = self._sync(inventory, check_on_host(self._config, inventory))
        return replace(updated, adopted=self._config is not before, refused=refused)

    def keep_up(self, updated: Updated[C]) -> Upkeep:
        """What there is to do on the host as the last update found it. A failure stands in the answer."""
        if self._changer is None:
            return Upkeep()
        host = ManagedHost(name=updated.host, specs=self._config.device_specs, plane=self._plane, changer=self._changer)
        return keep_up(host, updated.view)

    def _reload(self, inventory: Inventory) -> None:
        """Puts the config in force that is written now, if it is another one. Raises what speaks against it."""
        config = self._parts.load_config()
        if config != self._config:
            check_on_host(config, inventory).raise_errors()
            self._plane = self._parts.connect(config)
            self._reporter = self._parts.provider_reporter(config)
            self._ports = self._parts.port_keeper(config)
            self._config = config

    def _sync(self, inventory: Inventory, findings: Findings) -> Updated[C]:
        host = self._parts.host_name(self._config, inventory)
        outcome = self._plane.sync(host, HostReport(inventory, self._config.device_specs))
        view = outcome.tracker.view
        return Updated(
            host=host,
            config=self._config,
            inventory=inventory,
            view=view,
            warnings=tuple(findings.warnings),
            contradictions=tuple(findings.errors),
            expired=outcome.changed,
            placement_error=self._report(host, view),
            ports=KeptPorts() if self._ports is None else self._ports.keep(host),
        )

    def _report(self, host: str, view: HostView) -> LanewayError | None:
        """What keeps Placement from knowing how the devices stand: it is told again at the next update."""
        if self._reporter is not None:
            try:
                self._reporter.report(host, view)
            except LanewayError as error:
                return error
        return None
