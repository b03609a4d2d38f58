"""A service does what there is to do on its host between updates, and says so; what fails stops nothing."""

from collections.abc import Callable
from pathlib import Path

from compute.changing_host import HOST, ChangingHost, CleaningDriver
from compute.fakes import FakeParts, RecordingLog, RecordingSupervisor, ScriptedInbox, Step, config, process
from compute.fakes import host as seen_host
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY, PF
from laneway.compute.host_changer import HostChanger
from laneway.compute.inbox import Wish
from laneway.compute.manager import ComputeManager
from laneway.compute.preparing import prepare
from laneway.compute.supervisor import Supervisor
from laneway.compute.upkeep import longest_silence
from laneway.compute.vf_counts import set_vf_count
from laneway.config import Config
from laneway.contracts.agent_status import AgentStatus
from laneway.domain.device import Status
from laneway.hosts.linux.changes.doing import UNBIND_SECONDS, VF_COUNT_SECONDS
from laneway.hosts.linux.changes.reset import RESET_SECONDS
from laneway.interfaces.host_changes import HostChangeError, Prepare, Progress
from laneway.interfaces.host_driver import HostDriver


class ChangingParts(FakeParts):
    """A service on a host that it can change, over the store of the test."""

    def __init__(self, host: ChangingHost, folder: Path, written: Config) -> None:
        super().__init__(written, seen_host(), folder)
        self.host = host
        self.store = host.store  # type: ignore[assignment]

    def open_driver(self, config: Config) -> CleaningDriver:  # type: ignore[override]
        return self.host.driver

    def open_changer(self, config: Config, driver: HostDriver, progress: Progress) -> HostChanger | None:
        changer = self.host.process().changer
        return HostChanger(driver=changer.driver, journal=changer.journal, lock=changer.lock, progress=progress)

    def host_name(self, config: Config, inventory: object) -> str:
        return HOST


def serve(
    host: ChangingHost, folder: Path, *script: Step, written: Config | None = None
) -> tuple[RecordingLog, RecordingSupervisor, list[AgentStatus]]:
    """The life of a service, with this script; the status at the end of each wait."""
    parts = ChangingParts(host, folder, written or config({"address": "*"}))
    seen: list[AgentStatus] = []

    def look() -> None:
        status = parts.files.read()
        assert status is not None
        seen.append(status)

    on = process(parts, ScriptedInbox(parts.clock, [look, *(each for step in script for each in (step, look))]))
    ComputeManager.start(parts, on).run()
    assert isinstance(on.log, RecordingLog)
    assert isinstance(on.supervisor, RecordingSupervisor)
    return on.log, on.supervisor, seen


def freed(host: ChangingHost, *addresses: str) -> None:
    host.claim("vm", *addresses)
    prepare(host.managed, "vm")
    host.free("vm")


def test_what_was_freed_is_given_back_without_being_asked(host: ChangingHost, tmp_path: Path) -> None:
    freed(host, CARD)
    log, _, seen = serve(host, tmp_path)
    assert log.of("device_released") == [f"{CARD} was given back."]
    assert any("drivers_probe" in line for line in log.of("host_work"))
    assert host.status(CARD) is Status.AVAILABLE
    assert seen[0].devices.by_status.get("releasing") is None
    assert seen[0].is_well


def test_one_device_that_fails_stops_nothing_and_is_told_once(host: ChangingHost, tmp_path: Path) -> None:
    freed(host, CARD, DISPLAY)
    host.kernel.open(CARD)
    log, _, seen = serve(host, tmp_path, Wish.UPDATE, Wish.UPDATE)
    assert log.of("device_released") == [f"{DISPLAY} was given back."]
    assert len(log.of("upkeep_failed")) == 1
    assert not seen[-1].is_well
    assert seen[-1].upkeep_failing is not None
    assert [error["code"] for error in seen[-1].upkeep_failing.errors] == ["device_open"]


def test_what_failed_is_done_when_it_can_be(host: ChangingHost, tmp_path: Path) -> None:
    freed(host, CARD)
    host.kernel.open(CARD)
    _, _, seen = serve(host, tmp_path, host.kernel.close, Wish.UPDATE)
    assert seen[-1].is_well
    assert host.status(CARD) is Status.AVAILABLE


def test_a_command_that_changes_the_host_is_no_failure_of_the_service(host: ChangingHost, tmp_path: Path) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    command = host.process().changing()

    def is_busy() -> None:
        command.__enter__()
        host.free("vm")

    def is_done() -> None:
        command.__exit__(None, None, None)

    log, _, seen = serve(host, tmp_path, is_busy, Wish.UPDATE, is_done, Wish.UPDATE)
    assert len(log.of("host_busy")) == 1
    assert (log.of("upkeep_failed"), all(status.is_well for status in seen)) == ([], True)
    assert host.status(CARD) is Status.AVAILABLE


def test_vfs_are_made_before_the_first_look(host: ChangingHost, tmp_path: Path) -> None:
    set_vf_count(host.managed, at(PF), 2)
    host.kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "0")
    host.kernel.boot("two")
    log, _, seen = serve(host, tmp_path)
    assert log.of("vfs_restored") == [f"{PF} has its VFs again."]
    assert log.of("devices_appeared") == []
    assert sum(seen[0].devices.by_status.values()) == 6


def test_an_interrupted_change_is_ended_at_the_start(host: ChangingHost, tmp_path: Path) -> None:
    function = host.look().report.inventory.by_address[at(CARD)]
    host.managed.journal.begin(host.driver.plan(Prepare(recorded=function)))
    log, _, _ = serve(host, tmp_path)
    assert log.of("host_work") == [f"an interrupted change of {CARD} was ended: undone"]
    assert host.managed.journal.unfinished() is None


def test_all_that_is_dirty_is_cleaned_one_after_the_other(
    changing_host: Callable[..., ChangingHost], tmp_path: Path
) -> None:
    scrub = {"address": "*", "cleaning": {"command": "scrub {address}"}}
    host = changing_host(specs=[scrub])
    host.claim("vm", CARD, DISPLAY)
    host.free("vm")
    log, _, seen = serve(host, tmp_path, written=config(scrub))
    assert log.of("device_cleaned") == [f"{CARD} is clean.", f"{DISPLAY} is clean."]
    assert seen[0].is_well


def test_a_failed_cleaning_is_told_and_not_tried_again(
    changing_host: Callable[..., ChangingHost], tmp_path: Path
) -> None:
    scrub = {"address": "*", "cleaning": {"command": "scrub {address}"}}
    host = changing_host(specs=[scrub])
    host.claim("vm", CARD)
    host.free("vm")
    host.driver.fails = HostChangeError("scrub ended with 1", undone=True)
    log, _, _ = serve(host, tmp_path, Wish.UPDATE, written=config(scrub))
    assert log.of("upkeep_failed") == ["Work on the host failed: scrub ended with 1"]
    assert [reason.code for reason in host.look().blocked_by(at(CARD))] == ["cleaning_failed"]


def test_the_watchdog_waits_for_any_step(host: ChangingHost) -> None:
    """A reset, VFs that go, or udev take longer than the watchdog of the unit waits."""
    longest = max(RESET_SECONDS, UNBIND_SECONDS, VF_COUNT_SECONDS)
    assert longest < longest_silence(host.look())


def test_the_watchdog_is_told_how_long_a_cleaning_may_take() -> None:
    told: list[str] = []

    class Told(Supervisor):
        def _send(self, message: str) -> None:
            told.append(message)

    for environment in ({"WATCHDOG_USEC": "60000000"}, {}):
        supervisor = Told(environment)
        supervisor.expect_work(600)
        supervisor.expect_work(0)
    assert told == ["WATCHDOG_USEC=660000000", "WATCHDOG_USEC=60000000"]
