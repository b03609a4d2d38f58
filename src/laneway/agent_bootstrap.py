"""Puts the service of one host together, as ``bootstrap`` does for commands.

The store and the use cases are imported when the config has turned out to be good.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from laneway.bootstrap import DATABASE, Source, host_changer, host_name, now, open_host
from laneway.compute.agent_files import AgentFiles
from laneway.compute.asking import ask_to_reload
from laneway.compute.device_counts import count_devices
from laneway.compute.host_lock import host_lock_path
from laneway.compute.log import LogStyle, open_log
from laneway.compute.manager import ComputeManager, Process
from laneway.compute.process_lock import ProcessLock
from laneway.compute.signals import signals_into
from laneway.compute.supervisor import Supervisor
from laneway.config import Config, check_reload, find_state_path, load_config, reporting_turned_off
from laneway.contracts.agent_status import AgentStatus
from laneway.contracts.status import HostChange, HostStatus
from laneway.domain.errors import ConfigProblem, Findings, LanewayError
from laneway.domain.inventory import Inventory
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.domain.specs.device_spec_parser import Dialect, parse_device_specs
from laneway.hosts.registry import open_driver
from laneway.interfaces.host_driver import Ability, HostDriver
from laneway.openstack.placement_client import open_placement
from laneway.openstack.provider_reporting import ReportingOff, ReportingOn
from laneway.openstack.service import Access

if TYPE_CHECKING:
    from laneway.compute.host_changer import HostChanger
    from laneway.domain.tracking.drift import Drift
    from laneway.fleet.control_plane import ControlPlane
    from laneway.interfaces.host_changes import Progress
    from laneway.interfaces.network import PortKeeper
    from laneway.interfaces.placement import ProviderReporter
    from laneway.store.sql import SqlStore

ACTOR = "laneway agent"
"""Whom the audit log names for what the service does."""


def run_agent(source: Source, *, interval: float, as_json: bool) -> None:
    """Runs the service in this process until it is told to stop; ``interval`` is in seconds.

    Raises as ``ComputeManager.start`` does, before anything has started.
    """
    log = open_log(sys.stdout if as_json else sys.stderr, _log_style(as_json=as_json))
    supervisor = Supervisor(os.environ)
    process = Process(pid=os.getpid(), interval=interval, log=log, supervisor=supervisor, clock=now)
    with signals_into(process.inbox), AgentParts(source) as parts:
        ComputeManager.start(parts, process).run()


def host_status(source: Source) -> HostStatus:
    """The agent of a host, if one runs, and the host's devices.

    Raises as ``open_host`` does where no agent runs, which could tell what it last saw of the host.
    """
    from laneway.store.sqlite_read import count_failing_ports  # noqa: PLC0415 - late, see the module

    files = find_agent(source)
    agent = files.read()
    drift: Sequence[Drift] = ()
    failing_ports = 0
    try:
        host = open_host(source)
        view = host.look()
        drift = host.drift(view)
        failing_ports = count_failing_ports(host.database, host.name)
        name, devices, readiness = host.name, count_devices(view, now()), host.inventory.readiness
    except LanewayError:
        if agent is None:
            raise
        name, devices, readiness = agent.host, agent.devices, agent.readiness
    return HostStatus(
        host=name,
        database=str(files.database),
        agent=agent,
        devices=devices,
        readiness=readiness,
        drift=drift,
        change=_change_of(files.database),
        failing_ports=failing_ports,
    )


def _change_of(database: Path) -> HostChange | None:
    """What is being changed on the host, or was when a process ended."""
    from laneway.contracts.journal import action_name  # noqa: PLC0415 - late, see the module
    from laneway.store.journal import SqliteJournal, journal_path  # noqa: PLC0415 - late, see the module

    with SqliteJournal(journal_path(database)) as journal:
        unfinished = journal.unfinished()
    if unfinished is None:
        return None
    action = unfinished.plan.action
    return HostChange(
        action=action_name(action),
        address=action.address,
        steps=len(unfinished.plan.steps),
        begun=len(unfinished.begun),
        going_on=ProcessLock(host_lock_path(database)).is_taken(),
    )


@dataclass(frozen=True, slots=True)
class ConfigInForce:
    """By what an agent works: its device specs (None of a version that does not tell), and what it does beside."""

    device_specs: DeviceSpecs | None
    reports_to_placement: bool

    def refuses(self, config: Config) -> list[ConfigProblem]:
        """What it would not take over of another config, not even when it is started anew."""
        turned_off = self.reports_to_placement and not config.report_in_placement
        return [reporting_turned_off(config)] if turned_off else []


def config_in_force(source: Source, host: str) -> ConfigInForce | None:
    """The config by which the agent of this host works; None where none runs.

    Raises LanewayError(no_permission), and LanewayError(not_supported) where another version runs.
    """
    agent = find_agent(source).read()
    if agent is None or agent.host != host:
        return None
    entries = agent.device_spec
    specs = None if entries is None else parse_device_specs(entries, Findings(), dialect=Dialect(agent.dialect))
    return ConfigInForce(specs, agent.report_in_placement is True)


def reload_agent(source: Source) -> AgentStatus:
    """Has the agent of a host read its config again. Raises as ``ask_to_reload`` does."""
    return ask_to_reload(find_agent(source))


def find_agent(source: Source) -> AgentFiles:
    """Where the agent over the state of this host is found, also if the config has errors by now."""
    return AgentFiles(source.state or find_state_path(source.config, nova_conf=source.nova_conf) / DATABASE)


class AgentParts:
    """What the service is made of, for the host, the config and the state that the options name."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._last: Config | None = None
        self._store: SqlStore | None = None
        self._open = ExitStack()

    def load_config(self) -> Config:
        """The config as it is written. Raises ConfigError, also for what only a restart can change."""
        config = load_config(self._source.config, nova_conf=self._source.nova_conf)
        if self._last is not None:
            check_reload(self._last, config)
        self._last = config
        return config

    def open_driver(self, config: Config) -> HostDriver:
        return open_driver(config.driver, uri=config.uri, root=self._source.root, snapshot=self._source.snapshot)

    def connect(self, config: Config) -> "ControlPlane":
        """The use cases in this process; the database is opened when they are first needed."""
        from laneway.fleet.control_plane import ControlPlane  # noqa: PLC0415 - late, see the module
        from laneway.store.sqlite import open_store  # noqa: PLC0415 - late, see the module

        if self._store is None:
            self._store = self._open.enter_context(open_store(self._database(config), actor=ACTOR))
        return ControlPlane(self._store, now, config.iommu_groups)

    def open_changer(self, config: Config, driver: HostDriver, progress: "Progress") -> "HostChanger | None":
        """What changes this host, with its journal; None where the driver only looks at it."""
        if Ability.PREPARE not in driver.describe().abilities:
            return None
        return self._open.enter_context(host_changer(self._database(config), driver, progress, patience=0))

    def host_name(self, config: Config, inventory: Inventory) -> str:
        return host_name(config, inventory, self._source)

    def provider_reporter(self, config: Config) -> "ProviderReporter | None":
        """Who reports to Placement; with reporting off, who makes sure that it was never on, if Placement is known."""
        access = Access(nova_conf=tuple(self._source.nova_conf), cloud=config.cloud)
        if config.report_in_placement:
            return ReportingOn(partial(open_placement, access), config.root_provider)
        if access.nova_conf or access.cloud is not None:
            return ReportingOff(partial(open_placement, access), config.root_provider)
        return None

    def port_keeper(self, config: Config) -> "PortKeeper | None":
        """Who keeps Neutron's ports bound; what is said of waiting for a command that does so is of no interest."""
        from laneway.port_bootstrap import port_keeper  # noqa: PLC0415 - late, see the module

        assert self._store is not None
        return port_keeper(config, self._source.nova_conf, self._store, self._database(config), lambda _: None)

    def open_files(self, config: Config) -> AgentFiles:
        return AgentFiles(self._database(config))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, traceback)

    def _database(self, config: Config) -> Path:
        return self._source.state or config.state_path / DATABASE


def _log_style(*, as_json: bool) -> LogStyle:
    """JSON on demand. Under systemd, which sets JOURNAL_STREAM (systemd.exec(5)), journald notes the times."""
    if as_json:
        return LogStyle.JSON
    return LogStyle.JOURNAL if "JOURNAL_STREAM" in os.environ else LogStyle.PLAIN
