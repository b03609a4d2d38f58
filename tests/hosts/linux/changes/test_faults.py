"""Whatever fails, and whenever the process ends: the host is as before, or as it was to be."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hosts.linux.changes.faults import Faults, ProcessEndsError
from hosts.linux.changes.kernels import (
    CARD,
    DISK,
    DISPLAY,
    FIRST_VF,
    PF,
    SECOND_VF,
    SOUND,
    at,
    do,
    prepare,
    release,
    with_card,
    with_disk,
    with_display,
    with_pf,
)
from hosts.linux.changes.saved_tree import SavedTree
from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import Inventory
from laneway.hosts.linux import LinuxHostDriver
from laneway.hosts.linux.changes import LinuxChanger
from laneway.hosts.linux.tree import HostTree
from laneway.interfaces.host_changes import (
    Action,
    Clean,
    Ending,
    HostChangeError,
    Plan,
    Prepare,
    Release,
    SetVfCount,
    Step,
    Unfinished,
)

Actions = Callable[[LinuxHostDriver], Action]


@dataclass(frozen=True)
class Scenario:
    """A host, and what is done to it: ``first`` without, ``then`` with faults."""

    host: Callable[[Path], FakeKernel]
    then: Actions


def _odd_vfs(root: Path) -> FakeKernel:
    """A PF with VFs of which one is with no driver, and has an override, against what autoprobe does."""
    kernel = with_pf(FakeKernel(root), vfs=2)
    kernel.write(f"sys/bus/pci/devices/{SECOND_VF}/driver_override", "nobody")
    kernel.write("sys/bus/pci/drivers/igbvf/unbind", SECOND_VF)
    return kernel


def _odd_card(root: Path) -> FakeKernel:
    """A card whose override is for another driver than the one that has it, and vfio-pci is not loaded."""
    kernel = with_card(FakeKernel(root, loaded=()))
    kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "nobody")
    return kernel


def _released(address: str, *siblings: str) -> Actions:
    return lambda driver: release(address, do(driver, prepare(driver, address, *siblings)).taken)


def _counted(count: int, *, autoprobe: bool) -> Actions:
    return lambda _driver: SetVfCount(address=at(PF), count=count, autoprobe=autoprobe)


def _formatted(driver: LinuxHostDriver) -> Action:
    do(driver, prepare(driver, DISK))
    return Clean(address=at(DISK), cleaning=Cleaning(kind=CleaningKind.NVME_FORMAT))


SCENARIOS = {
    "a card is prepared": Scenario(lambda root: with_card(FakeKernel(root)), lambda d: prepare(d, CARD)),
    "a card is released": Scenario(lambda root: with_card(FakeKernel(root)), _released(CARD)),
    "a card with an override is prepared, vfio-pci is loaded": Scenario(_odd_card, lambda d: prepare(d, CARD)),
    "a card with an override is released": Scenario(_odd_card, _released(CARD)),
    "a group is prepared": Scenario(lambda root: with_display(FakeKernel(root)), lambda d: prepare(d, DISPLAY, SOUND)),
    "a group is released": Scenario(lambda root: with_display(FakeKernel(root)), _released(DISPLAY, SOUND)),
    "a PF with VFs is prepared": Scenario(_odd_vfs, lambda d: prepare(d, PF)),
    "a PF that had VFs is released": Scenario(_odd_vfs, _released(PF)),
    "a VF without autoprobe is prepared": Scenario(
        lambda root: _without_autoprobe(with_pf(FakeKernel(root), vfs=1)), lambda d: prepare(d, FIRST_VF)
    ),
    "VFs are made": Scenario(lambda root: with_pf(FakeKernel(root)), _counted(3, autoprobe=False)),
    "VFs are made in place of others": Scenario(_odd_vfs, _counted(3, autoprobe=True)),
    "a disk is released": Scenario(lambda root: with_disk(FakeKernel(root)), _released(DISK)),
    "a disk is formatted": Scenario(lambda root: with_disk(FakeKernel(root)), _formatted),
    "VFs are removed": Scenario(_odd_vfs, _counted(0, autoprobe=False)),
}


def _without_autoprobe(kernel: FakeKernel) -> FakeKernel:
    kernel.write(f"sys/bus/pci/devices/{PF}/sriov_drivers_autoprobe", "0")
    return kernel


class Trial:
    """A scenario, tried again and again on a host that is put back in between."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.kernel = scenario.host(folder)
        self.action = scenario.then(self.kernel.host_driver())
        self.plan = self.kernel.host_driver().plan(self.action)
        self.found = self.kernel.host_driver().discover()
        self.before = self.kernel.tree()
        self._saved = SavedTree(self.kernel.root)
        do(self.kernel.host_driver(), self.action)
        self.after = self.kernel.tree()
        self.put_back()

    def put_back(self) -> None:
        self._saved.put_back()
        self._now, self._writes = self.before, len(self.kernel.writes)

    def changer(self, inventory: Inventory) -> LinuxChanger:
        """What changes the host; what discovery finds it has been told, so that only its own reads can fail."""
        return LinuxChanger(tree=HostTree(self.kernel.root), discover=lambda: inventory, means=self.kernel.means)

    def is_as(self, tree: Mapping[str, str]) -> bool:
        """Whether the host is so. Where nothing was written since the last look it need not be looked at."""
        if len(self.kernel.writes) != self._writes:
            self._now, self._writes = self.kernel.tree(), len(self.kernel.writes)
        return self._now == tree

    def put_back_unless_as_before(self) -> None:
        if not self.is_as(self.before):
            self.put_back()

    @contextmanager
    def faults(self) -> Iterator[Faults]:
        with pytest.MonkeyPatch.context() as patch:
            yield Faults(self.kernel, patch)


@pytest.fixture(params=list(SCENARIOS))
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Trial:
    return Trial(SCENARIOS[request.param], tmp_path)


def test_every_read_and_write_may_fail_once(trial: Trial, record_property: Callable[[str, object], None]) -> None:
    point, hit = 0, True
    while hit:
        changer = trial.changer(trial.found)
        with trial.faults() as faults:
            faults.failing = point
            error = _failure(changer.apply, trial.plan, faults.journal, _nobody)
            hit = faults.count > point
        assert not isinstance(error, LanewayError) or error.detail.get("undone", True) is True
        assert trial.is_as(trial.after if error is None else trial.before), f"the failure of {point} leaves it half-way"
        trial.put_back_unless_as_before()
        point += 1
    assert point > 15
    record_property("reads and writes of changes that failed once", point - 1)


def _nobody(_words: str) -> None:
    """Nobody is told."""


def test_a_plan_on_what_cannot_be_read_is_the_same_or_none(
    trial: Trial, record_property: Callable[[str, object], None]
) -> None:
    """Discovery too; so a plan that is applied is the same, or not begun."""
    driver = trial.kernel.host_driver()
    plan, point, hit = driver.plan(trial.action), 0, True
    while hit:
        with trial.faults() as faults:
            faults.failing = point
            error = _failure(_plan_again, driver, plan)
            hit = faults.count > point
        assert error is None or isinstance(error, LanewayError)
        point += 1
    assert point > 40
    record_property("reads of planning that failed once", point - 1)


def _plan_again(driver: LinuxHostDriver, plan: Plan) -> None:
    assert driver.plan(plan.action).steps == plan.steps


def _failure(what: Callable[..., object], *arguments: object) -> Exception | None:
    """What it is told with: an error of Laneway, or what the journal raised."""
    try:
        what(*arguments)
    except (LanewayError, OSError) as error:
        return error
    return None


def test_the_process_may_end_at_every_write_and_step(
    trial: Trial, record_property: Callable[[str, object], None]
) -> None:
    point, ended = 0, True
    while ended:
        with trial.faults() as faults:
            faults.kill_at(point)
            plan, begun, ended = _killed(trial, faults)
            faults.end()
        if ended:
            _recovered_from_anything(trial, Unfinished(plan=plan, begun=tuple(begun)))
            point += 1
        trial.put_back_unless_as_before()
    assert point >= 4
    record_property("points of changes at which the process ended", point)


def _killed(trial: Trial, faults: Faults) -> tuple[Plan, list[Step], bool]:
    changer, plan, begun = trial.changer(trial.found), trial.plan, list[Step]()

    def journal(step: Step) -> None:
        begun.append(step)
        faults.journal(step)

    try:
        changer.apply(plan, journal, _nobody)
    except ProcessEndsError:
        return plan, begun, True
    return plan, begun, False


def _recovered_from_anything(trial: Trial, unfinished: Unfinished) -> None:
    """Recovery may be killed at each write, and fail at each; in the end all is well, and stays so."""
    driver, is_release = trial.kernel.host_driver(), isinstance(trial.action, Release)
    changer, point, ended = trial.changer(driver.discover()), 0, True
    while ended:
        with trial.faults() as faults:
            faults.kill_at(point)
            try:
                changer.recover(unfinished)
                ended = False
            except ProcessEndsError:
                point += 1
            faults.end()
    for _ in range(2):
        outcome = driver.recover(unfinished)
        assert outcome.ending is (Ending.DONE if is_release else Ending.UNDONE)
        assert outcome.taken == ()
        assert trial.is_as(trial.after if is_release else trial.before)


def test_recovery_may_fail_at_every_read_and_write(trial: Trial) -> None:
    """It is tried again until nothing fails. What it cannot finish it takes back, and says so."""
    with trial.faults() as faults:
        faults.kill_at(LAST_BUT_ONE[type(trial.action)])
        plan, begun, ended = _killed(trial, faults)
        faults.end()
    assert ended
    unfinished = Unfinished(plan=plan, begun=tuple(begun))
    changer = trial.changer(trial.kernel.host_driver().discover())
    endings, point, hit = list[Ending](), 0, True
    while hit:
        with trial.faults() as faults:
            faults.failing = point
            error = _failure(_recover, changer, unfinished, endings)
            hit = faults.count > point
        assert error is None or (isinstance(error, HostChangeError) and not error.undone)
        point += 1
    assert trial.kernel.tree() == (trial.after if endings[-1] is Ending.DONE else trial.before)


def _recover(changer: LinuxChanger, unfinished: Unfinished, endings: list[Ending]) -> None:
    endings.append(changer.recover(unfinished).ending)


LAST_BUT_ONE: dict[type[Action], int] = {Prepare: 6, Release: 6, SetVfCount: 4, Clean: 9}
"""A point at which something is half done."""


def test_a_plan_of_another_boot_is_void(trial: Trial) -> None:
    with trial.faults() as faults:
        faults.kill_at(LAST_BUT_ONE[type(trial.action)])
        plan, begun, _ = _killed(trial, faults)
        faults.end()
    trial.kernel.boot("another")
    before, writes = trial.kernel.tree(), len(trial.kernel.writes)
    outcome = trial.kernel.host_driver().recover(Unfinished(plan=plan, begun=tuple(begun)))
    assert outcome.ending is Ending.VOID
    assert (trial.kernel.tree(), len(trial.kernel.writes)) == (before, writes)
