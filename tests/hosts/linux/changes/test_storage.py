"""Disks that a guest had, given back and cleaned on a fake kernel: the host does not read them meanwhile."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hosts.linux.changes.kernels import DISK, at, do, prepare, release, with_disk
from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.linux.changes.doing import DOING, Workbench
from laneway.hosts.linux.changes.function_files import FunctionFiles
from laneway.hosts.linux.changes.programs import Ended
from laneway.hosts.linux.tree import HostTree
from laneway.interfaces.host_changes import Clean, Ending, Outcome, Step, Unfinished
from laneway.interfaces.host_driver import Ability

RULE_FILE = f"run/udev/rules.d/00-laneway-storage-{DISK}.rules"
PARTITION = "sys/class/block/nvme0n1p1"
FORMAT = Clean(address=at(DISK), cleaning=Cleaning(kind=CleaningKind.NVME_FORMAT))


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    return with_disk(FakeKernel(tmp_path))


def taken(kernel: FakeKernel) -> tuple[Step, ...]:
    driver = kernel.host_driver()
    return do(driver, prepare(driver, DISK)).taken


def guard_at(kernel: FakeKernel, moments: list[tuple[str, bool]]) -> None:
    """Notes for each write and program whether the guard stood as it was done."""
    kernel.disturb = lambda what, done: None if done else moments.append((what, (kernel.root / RULE_FILE).exists()))


def test_the_driver_can_clean(kernel: FakeKernel) -> None:
    assert Ability.CLEAN in kernel.host_driver().describe().abilities


def test_a_disk_that_is_prepared_was_the_hosts_own_and_needs_no_guard(kernel: FakeKernel) -> None:
    taken(kernel)
    assert kernel.ran == []


def test_a_disk_is_given_back_under_the_guard_and_without_its_partitions(kernel: FakeKernel) -> None:
    steps = taken(kernel)
    moments: list[tuple[str, bool]] = []
    guard_at(kernel, moments)
    do(kernel.host_driver(), release(DISK, steps))
    assert kernel.driver_of(DISK) == "nvme"
    assert dict(moments)["sys/bus/pci/drivers_probe"]
    assert dict(moments)["forget nvme0n1p1"]
    assert dict(moments)["forget nvme0n1p2"]
    assert not (kernel.root / PARTITION).exists()
    assert not (kernel.root / RULE_FILE).exists()


def test_a_disk_that_stays_with_the_driver_for_guests_needs_no_guard(kernel: FakeKernel) -> None:
    steps = taken(kernel)
    do(kernel.host_driver(), release(DISK, steps, keep=True))
    assert (kernel.driver_of(DISK), kernel.ran) == ("vfio-pci", [])


def test_a_disk_is_formatted_under_the_guard_and_goes_back_to_the_driver_for_guests(kernel: FakeKernel) -> None:
    taken(kernel)
    before, moments = kernel.tree(), list[tuple[str, bool]]()
    guard_at(kernel, moments)
    assert do(kernel.host_driver(), FORMAT) == Outcome(ending=Ending.DONE)
    assert kernel.tree() == before
    assert {what.split(" --")[0]: stood for what, stood in moments if "/dev/nvme0" in what} == {
        "nvme id-ctrl /dev/nvme0": True,
        "nvme list-ns /dev/nvme0": True,
        "nvme format /dev/nvme0": True,
    }
    assert not (kernel.root / RULE_FILE).exists()


def test_a_format_that_fails_leaves_all_as_before(kernel: FakeKernel) -> None:
    taken(kernel)
    kernel.answers["nvme format"] = Ended(status=1, output="Access Denied")
    before = kernel.tree()
    with pytest.raises(LanewayError) as failed:
        do(kernel.host_driver(), FORMAT)
    assert failed.value.code is ErrorCode.CLEANING_FAILED
    assert failed.value.message.endswith("nvme format of nvme0 ended with status 1: Access Denied")
    assert kernel.tree() == before
    assert not (kernel.root / RULE_FILE).exists()


def test_a_reset_that_fails_is_a_failed_cleaning(kernel: FakeKernel) -> None:
    taken(kernel)
    kernel.broken_resets.add(DISK)
    with pytest.raises(LanewayError) as failed:
        do(kernel.host_driver(), Clean(address=at(DISK), cleaning=Cleaning(kind=CleaningKind.RESET)))
    assert failed.value.code is ErrorCode.CLEANING_FAILED


def test_without_the_guard_the_storage_driver_gets_no_disk(kernel: FakeKernel) -> None:
    steps = taken(kernel)
    kernel.answers["udevadm"] = Ended(status=1, output="Failed to send reload request")
    with pytest.raises(LanewayError, match="Failed to send reload request"):
        do(kernel.host_driver(), release(DISK, steps))
    assert kernel.driver_of(DISK) == "vfio-pci"
    assert not (kernel.root / RULE_FILE).exists()


class _EndsError(BaseException):
    """The process ends."""


def crash(kernel: FakeKernel, action: Clean, begun: list[Step], at_step: tuple[str, str | None]) -> Unfinished:
    """Applies the action in a process that ends right after a step was journalled and done."""
    driver = kernel.host_driver()
    plan = driver.plan(action)

    def journal(step: Step) -> None:
        if begun and (begun[-1].kind, begun[-1].value) == at_step:
            kernel.disturb = end
            raise _EndsError
        begun.append(step)

    def end(_what: str, _done: bool) -> None:
        raise _EndsError

    with pytest.raises(_EndsError):
        driver.apply(plan, journal, lambda _words: None)
    kernel.disturb = lambda _what, _done: None
    return Unfinished(plan=plan, begun=tuple(begun))


@pytest.mark.parametrize(
    "at_step",
    [("storage_guard", "raised"), ("unbind", None), ("bind", "nvme"), ("clean", None), ("bind", "vfio-pci")],
    ids=lambda step: f"{step[0]} {step[1]}",
)
def test_a_cleaning_whose_process_ended_is_taken_back(kernel: FakeKernel, at_step: tuple[str, str | None]) -> None:
    taken(kernel)
    before, begun = kernel.tree(), list[Step]()
    if at_step[0] == "clean":
        at_step = (
            "clean",
            next(step.value for step in kernel.host_driver().plan(FORMAT).steps if step.kind == "clean"),
        )
    unfinished = crash(kernel, FORMAT, begun, at_step)
    assert (kernel.root / RULE_FILE).exists()
    assert kernel.host_driver().recover(unfinished).ending is Ending.UNDONE
    assert kernel.tree() == before
    assert not (kernel.root / RULE_FILE).exists()


def test_a_release_whose_process_ended_once_the_disk_was_bound_is_finished(kernel: FakeKernel) -> None:
    steps = taken(kernel)
    action = release(DISK, steps)
    plan = kernel.host_driver().plan(action)
    begun = until(plan.steps, "bind")
    for step in begun:
        redo(kernel, step)
    outcome = kernel.host_driver().recover(Unfinished(plan=plan, begun=begun))
    assert outcome.ending is Ending.DONE
    assert kernel.driver_of(DISK) == "nvme"
    assert not (kernel.root / PARTITION).exists()
    assert not (kernel.root / RULE_FILE).exists()


def until(steps: Sequence[Step], kind: str) -> tuple[Step, ...]:
    last = next(number for number, step in enumerate(steps) if step.kind == kind)
    return tuple(steps[: last + 1])


def redo(kernel: FakeKernel, step: Step) -> None:
    files = FunctionFiles(HostTree(kernel.root))
    DOING[step.kind](step, Workbench(files=files, means=kernel.means, progress=lambda _words: None))
