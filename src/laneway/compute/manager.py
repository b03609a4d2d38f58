"""The service of one host: its life from the first update to the end."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Generic, Protocol

from laneway.compute.agent_files import AgentFiles
from laneway.compute.host_config import C
from laneway.compute.inbox import Inbox, Wish
from laneway.compute.log import EventLog
from laneway.compute.reporting import Beginning, Reporter
from laneway.compute.resource_tracker import HostParts, ResourceTracker, Updated
from laneway.compute.supervisor import Supervisor
from laneway.compute.upkeep import longest_silence
from laneway.compute.watching import Watcher
from laneway.domain.errors import LanewayError

POLL_SECONDS = 0.5
"""How often the service looks for requests to reload; where signals cannot interrupt a wait, for those, too."""


class ManagerParts(HostParts[C], Protocol[C]):
    """What the service needs, made by whoever puts it together."""

    def open_files(self, config: C) -> AgentFiles:
        """Where the service is found by those who ask for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What the service has of its process. ``interval`` is the time between updates, in seconds."""

    pid: int
    interval: float
    log: EventLog
    supervisor: Supervisor
    clock: Callable[[], datetime]
    inbox: Inbox = field(default_factory=Inbox)
    monotonic: Callable[[], float] = time.monotonic

    def told_of_host_work(self, message: str) -> None:
        """What is done to the host goes to the log, and is a sign of life."""
        self.log.say(logging.INFO, "host_work", message)
        self.supervisor.alive()


class ComputeManager(Generic[C]):
    """Keeps one host and its control plane in step, until it is told to stop.

    It knows no operating system and no config: what it is given does.
    """

    def __init__(self, process: Process, tracker: ResourceTracker[C], files: AgentFiles, reporter: Reporter) -> None:
        self._process = process
        self._tracker = tracker
        self._files = files
        self._reporter = reporter
        self._watcher = Watcher.start(tracker.driver, process.inbox)

    @classmethod
    def start(cls, parts: ManagerParts[C], process: Process) -> "ComputeManager[C]":
        """The service, started: the first update is done, and nothing else was started before it.

        Raises whatever keeps the service from working, as the tracker's first update does: ConfigError with
        all errors of the config, and LanewayError for the host or the control plane; and
        LanewayError(agent_running) where there is a service already.
        """
        tracker, first = ResourceTracker.start(parts, process.told_of_host_work)
        files = parts.open_files(first.config)
        files.enter()
        begun = Beginning(pid=process.pid, at=process.clock(), driver=tracker.driver.describe().name)
        reporter = Reporter(process.log, process.clock, begun, first)
        manager = cls(process, tracker, files, reporter)
        if tracker.begun is not None:
            reporter.kept_up(tracker.begun)
            process.inbox.put(Wish.UPDATE)
        manager._publish()
        reporter.started()
        process.supervisor.ready(str(reporter.status.devices))
        return manager

    def run(self) -> None:
        """Serves, and stops however that ends."""
        try:
            self.serve()
        finally:
            self.stop()

    def serve(self) -> None:
        """Works until there is a wish to stop: an update at each interval and each event, a reload when asked for."""
        inbox, monotonic = self._process.inbox, self._process.monotonic
        due = monotonic() + self._process.interval
        while Wish.STOP not in (wishes := inbox.take(min(POLL_SECONDS, due - monotonic()))):
            requests = self._files.requests()
            if requests or Wish.RELOAD in wishes:
                self.reload(requests)
            elif Wish.UPDATE in wishes:
                self.update()
            elif monotonic() >= due:
                self._watch_again()
                self.update()
            else:
                self._process.supervisor.alive()
                continue
            due = monotonic() + self._process.interval
            self._process.supervisor.alive()

    def update(self) -> bool:
        """Brings host and control plane into step. Whether the outcome could be told to those who ask.

        A failure is reported, and tried again at the next update.
        """
        try:
            updated = self._tracker.update()
        except LanewayError as error:
            self._reporter.failed(error)
        else:
            self._reporter.took(updated)
            self._keep_up(updated)
        self._process.supervisor.summary(str(self._reporter.status.devices))
        return self._publish()

    def reload(self, requests: Sequence[Path] = ()) -> None:
        """An update for the sake of the config, which answers these requests."""
        self._process.supervisor.reloading()
        if self.update():
            self._files.answered(requests)
        self._process.supervisor.ready(str(self._reporter.status.devices))

    def stop(self) -> None:
        """Ends the service."""
        self._process.supervisor.stopping()
        self._watcher.close()
        self._files.leave()
        self._reporter.stopped()

    def _keep_up(self, updated: Updated[C]) -> None:
        """Does what there is to do on the host, which may take long. What it changed is for the next update."""
        supervisor = self._process.supervisor
        supervisor.expect_work(longest_silence(updated.view))
        upkeep = self._tracker.keep_up(updated)
        supervisor.expect_work(0)
        self._reporter.kept_up(upkeep)
        if upkeep.has_changed_something or upkeep.more:
            self._process.inbox.put(Wish.UPDATE)

    def _watch_again(self) -> None:
        """Whoever told of events may have been restarted, such as a daemon: it is asked once in an interval."""
        if not self._watcher.is_watching:
            self._watcher.close()
            self._watcher = Watcher.start(self._tracker.driver, self._process.inbox)

    def _publish(self) -> bool:
        self._reporter.watches(watching=self._watcher.is_watching, error=self._watcher.error)
        try:
            self._files.publish(self._reporter.status)
        except OSError as error:
            self._reporter.unwritten(error)
            return False
        return True
