"""Steps are journalled, told, waited for, and taken back where one fails."""

import errno
import os
from pathlib import Path

import pytest

from hosts.linux.changes.kernels import (
    CARD,
    DISPLAY,
    FIRST_VF,
    PF,
    SOUND,
    at,
    do,
    prepare,
    release,
    with_card,
    with_display,
    with_pf,
)
from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.linux import LinuxHostDriver
from laneway.interfaces.host_changes import (
    Action,
    Ending,
    HostChangeError,
    Plan,
    SetVfCount,
    Step,
    Unfinished,
)


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    return with_pf(with_display(with_card(FakeKernel(tmp_path))))


@pytest.fixture
def driver(kernel: FakeKernel) -> LinuxHostDriver:
    return kernel.host_driver()


def failure(driver: LinuxHostDriver, action: Action) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        do(driver, action)
    return caught.value


def interrupted(driver: LinuxHostDriver, action: Action) -> Unfinished:
    """A plan that failed and could not be taken back, with the steps that had begun."""
    plan, begun = driver.plan(action), list[Step]()
    with pytest.raises(HostChangeError) as caught:
        driver.apply(plan, begun.append, lambda _words: None)
    assert not caught.value.undone
    assert "and the next start tries again" in caught.value.message
    return Unfinished(plan=plan, begun=tuple(begun))


def test_each_step_is_journalled_before_it_is_done(kernel: FakeKernel, driver: LinuxHostDriver) -> None:
    written = list[int]()
    plan = driver.plan(prepare(driver, CARD))
    driver.apply(plan, lambda _step: written.append(len(kernel.writes)), lambda _words: None)
    assert written == [0, 1, 2]


def test_what_is_done_is_told(driver: LinuxHostDriver) -> None:
    told = list[str]()
    plan = driver.plan(prepare(driver, CARD))
    driver.apply(plan, lambda _step: None, told.append)
    assert told == [step.summary for step in plan.steps]


def test_a_journal_that_cannot_be_written_ends_the_plan(kernel: FakeKernel, driver: LinuxHostDriver) -> None:
    before, steps = kernel.tree(), list[Step]()

    def journal(step: Step) -> None:
        if len(steps) == 2:
            raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, "the disk is full")
        steps.append(step)

    with pytest.raises(LanewayError, match="the disk is full"):
        driver.apply(driver.plan(prepare(driver, CARD)), journal, lambda _words: None)
    assert kernel.tree() == before


def test_what_somebody_else_has_just_done_is_not_done_again(kernel: FakeKernel, driver: LinuxHostDriver) -> None:
    kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "1")
    before, writes = kernel.tree(), list[tuple[str, str]]()

    def quicker(step: Step) -> None:
        address = step.target.split("/")[4]
        match step.kind:
            case "unbind":
                kernel.write(f"sys/bus/pci/drivers/{step.found}/unbind", address)
            case "bind":
                kernel.write("sys/bus/pci/drivers_probe", address)
            case _:
                kernel.write(step.target, step.value or "\n")
        writes.append(kernel.writes[-1])

    kernel.writes.clear()
    taken = driver.apply(driver.plan(prepare(driver, PF)), quicker, lambda _words: None).taken
    assert kernel.writes == writes
    do(driver, release(PF, taken))
    assert kernel.tree() == before


class TestWaiting:
    """For what is about to close a device, and for a driver that takes its time: bounded, and told."""

    def test_a_handle_that_goes_away_is_waited_for(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        plan = driver.plan(release(CARD, do(driver, prepare(driver, CARD)).taken))
        kernel.open(CARD)
        kernel.at_pause = [lambda: None, kernel.close]
        told = list[str]()
        driver.apply(plan, lambda _step: None, told.append)
        assert kernel.driver_of(CARD) == "e1000e"
        assert told[0].startswith("waiting up to 10 s: 0000:22:00.0 is open in qemu-system-x86 (4711)")

    def test_planning_waits_a_little_too(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        action = release(CARD, do(driver, prepare(driver, CARD)).taken)
        kernel.open(CARD)
        kernel.at_pause = [kernel.close]
        assert driver.plan(action).steps

    def test_one_that_stays_is_not_waited_for_for_ever(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        plan = driver.plan(release(CARD, do(driver, prepare(driver, CARD)).taken))
        kernel.open(CARD)
        with pytest.raises(LanewayError) as caught:
            driver.apply(plan, lambda _step: None, lambda _words: None)
        assert caught.value.code is ErrorCode.DEVICE_OPEN
        assert 10 <= kernel.seconds < 11
        assert kernel.driver_of(CARD) == "vfio-pci"

    def test_a_driver_that_takes_its_time_is_waited_for(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        kernel.unwilling = {"vfio-pci"}

        def take() -> None:
            kernel.unwilling = set()
            kernel.write("sys/bus/pci/drivers_probe", CARD)

        kernel.at_pause = [lambda: None, take]
        told = list[str]()
        driver.apply(driver.plan(prepare(driver, CARD)), lambda _step: None, told.append)
        assert told[-1] == "waiting up to 10 s for vfio-pci to take 0000:22:00.0"


class TestFailures:
    """Named, with what would help; and all is as before."""

    def test_no_driver_takes_it(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        """The write to drivers_probe is good all the same."""
        kernel.unwilling = {"vfio-pci"}
        before = kernel.tree()
        error = failure(driver, prepare(driver, CARD))
        assert isinstance(error, HostChangeError)
        assert error.undone
        assert f"vfio-pci did not take {CARD}; the kernel says why: dmesg; all is as it was before" in error.message
        assert error.detail["step"] == "bind"
        assert kernel.tree() == before

    def test_the_module_cannot_be_loaded(self, tmp_path: Path) -> None:
        kernel = with_card(FakeKernel(tmp_path / "other", loaded=()))
        kernel.refused_modules = {"vfio_pci"}
        before, driver = kernel.tree(), kernel.host_driver()
        error = failure(driver, prepare(driver, CARD))
        assert "modprobe ended with status 1: modprobe: FATAL: Module vfio_pci not found" in error.message
        assert kernel.tree() == before

    def test_the_driver_that_it_had_is_not_loaded_any_more(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        taken = do(driver, prepare(driver, CARD)).taken
        (kernel.root / "sys/bus/pci/drivers/e1000e").rmdir()
        before = kernel.tree()
        error = failure(driver, release(CARD, taken))
        assert "the kernel has no driver e1000e loaded that could take 0000:22:00.0: load its module" in error.message
        assert kernel.tree() == before

    def test_another_driver_was_quicker(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        before = kernel.tree()

        def race(path: str, done: bool) -> None:
            if path.endswith("unbind") and done:
                kernel.disturb = lambda _path, _done: None
                kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "pcieport")
                kernel.write("sys/bus/pci/drivers_probe", CARD)

        kernel.disturb = race
        error = failure(driver, prepare(driver, CARD))
        assert "pcieport took 0000:22:00.0, and not vfio-pci" in error.message
        assert kernel.driver_of(CARD) == "pcieport"
        assert kernel.text(CARD, "driver_override") == before[f"sys/devices/pci0000:22/{CARD}/driver_override"].strip()

    def test_another_driver_has_it_by_then(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        def race(path: str, done: bool) -> None:
            if path.endswith("driver_override") and done:
                kernel.disturb = lambda _path, _done: None
                kernel.write("sys/bus/pci/drivers/e1000e/unbind", CARD)
                kernel.write("sys/bus/pci/drivers/vfio-pci/bind", CARD)

        kernel.disturb = race
        assert "is on vfio-pci by now, and no more on e1000e" in failure(driver, prepare(driver, CARD)).message
        assert kernel.driver_of(CARD) == "e1000e"

    def test_a_driver_does_not_let_it_go(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        def cling(path: str, done: bool) -> None:
            if path.endswith("e1000e/unbind") and done:
                kernel.write("sys/bus/pci/devices/0000:22:00.0/driver_override", "e1000e")
                kernel.write("sys/bus/pci/drivers_probe", CARD)

        kernel.disturb = cling
        error = failure(driver, prepare(driver, CARD))
        assert f"e1000e has not let {CARD} go within 10 s" in error.message
        assert kernel.driver_of(CARD) == "e1000e"

    @pytest.mark.parametrize(
        ("number", "code"),
        [(errno.EACCES, ErrorCode.NO_PERMISSION), (errno.EIO, ErrorCode.HOST_CHANGE_FAILED)],
        ids=["root only", "broken"],
    )
    def test_what_cannot_be_read_is_not_changed(
        self, driver: LinuxHostDriver, number: int, code: ErrorCode, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(path: str) -> bytes:
            raise OSError(number, os.strerror(number), path)

        action = prepare(driver, CARD)
        monkeypatch.setattr("laneway.hosts.linux.changes.function_files.read_attribute", refuse)
        error = failure(driver, action)
        assert error.code is code
        assert f"{CARD}/driver_override" in error.message

    @pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS], ids=errno.errorcode.get)
    def test_who_may_not_write_is_told_who_may(self, kernel: FakeKernel, driver: LinuxHostDriver, number: int) -> None:
        def refuse(path: str, _done: bool) -> None:
            raise OSError(number, os.strerror(number), path)

        kernel.disturb = refuse
        before = kernel.tree()
        error = failure(driver, prepare(driver, CARD))
        assert error.code is ErrorCode.NO_PERMISSION
        assert os.strerror(number) in error.message
        assert "root may write it; a systemd unit must not have ProtectKernelTunables" in error.message
        assert kernel.tree() == before

    def test_a_reset_that_fails_leaves_the_device_taken(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        """Nobody gets it as it is: neither the next guest nor the host."""
        taken = do(driver, prepare(driver, DISPLAY, SOUND)).taken
        kernel.broken_resets = {DISPLAY}
        before = kernel.tree()
        error = failure(driver, release(DISPLAY, taken))
        assert isinstance(error, HostChangeError)
        assert (error.undone, error.detail["reset_failed"], error.detail["step"]) == (True, True, "reset")
        assert error.detail["address"] == DISPLAY
        assert kernel.tree() == before

    def test_a_function_that_no_method_resets_is_given_back_as_it_is(
        self, kernel: FakeKernel, driver: LinuxHostDriver
    ) -> None:
        """Seen on a real kernel: of two functions in a slot a bus reset resets none alone (ENOTTY)."""
        before = kernel.tree()
        taken = do(driver, prepare(driver, DISPLAY, SOUND)).taken
        kernel.impossible_resets = {DISPLAY}
        said: list[str] = []
        outcome = driver.apply(driver.plan(release(DISPLAY, taken)), lambda _step: None, said.append)
        assert outcome.ending is Ending.DONE
        assert kernel.tree() == before
        assert [line for line in said if "it is given back as it is" in line]

    def test_a_number_of_vfs_that_the_device_cannot_have_after_all(
        self, kernel: FakeKernel, driver: LinuxHostDriver
    ) -> None:
        def shrink(path: str, done: bool) -> None:
            if path.endswith("sriov_numvfs") and not done:
                kernel.host.write(f"sys/bus/pci/devices/{PF}/sriov_totalvfs", "2\n")

        kernel.disturb = shrink
        error = failure(driver, SetVfCount(address=at(PF), count=3, autoprobe=True))
        assert "the device cannot have so many VFs" in error.message

    def test_a_number_of_vfs_that_the_driver_takes_for_another(
        self, kernel: FakeKernel, driver: LinuxHostDriver
    ) -> None:
        def lose(path: str, done: bool) -> None:
            if path.endswith("sriov_numvfs") and done and kernel.text(PF, "sriov_numvfs") == "3":
                kernel.host.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "2\n")

        kernel.disturb = lose
        error = failure(driver, SetVfCount(address=at(PF), count=3, autoprobe=True))
        assert f"{PF} has 2 VFs after 3 was written to" in error.message
        assert kernel.text(PF, "sriov_numvfs") == "0"

    def test_an_override_that_the_kernel_does_not_keep(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        file = f"sys/bus/pci/devices/{CARD}/driver_override"
        kernel.disturb = lambda path, done: kernel.host.write(file, "(null)\n") if path == file and done else None
        assert "is empty after vfio-pci was written to it" in failure(driver, prepare(driver, CARD)).message


class TestBlockedWrites:
    """A device is opened at the wrong moment: the kernel holds whoever writes until it is closed."""

    def test_an_unbind_that_does_not_end_is_left_for_recovery(
        self, kernel: FakeKernel, driver: LinuxHostDriver
    ) -> None:
        before = kernel.tree()
        taken = do(driver, prepare(driver, CARD)).taken
        kernel.disturb = lambda path, done: kernel.open(CARD) if path.endswith("reset") and done else None
        error = failure(driver, release(CARD, taken))
        assert "the kernel did not end the write in time" in error.message
        assert kernel.driver_of(CARD) == "vfio-pci"
        kernel.close()
        kernel.disturb = lambda _path, _done: None
        do(driver, release(CARD, taken))
        assert kernel.tree() == before

    def test_vfs_that_do_not_go_are_left_for_recovery(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "1")
        before = kernel.tree()

        def grab(path: str, done: bool) -> None:
            if path.endswith("sriov_numvfs") and not done:
                kernel.host.process(4711, "qemu-system-x86", f"/dev/vfio/{group}")

        group = (kernel.root / f"sys/bus/pci/devices/{FIRST_VF}/iommu_group").readlink().name
        kernel.disturb = grab
        error = failure(driver, SetVfCount(address=at(PF), count=0, autoprobe=True))
        assert "the kernel did not end the write in time" in error.message
        assert kernel.tree() == before


class TestRecovery:
    def test_what_could_not_be_taken_back_is_taken_back_later(
        self, kernel: FakeKernel, driver: LinuxHostDriver
    ) -> None:
        before = kernel.tree()

        def fail(path: str, _done: bool) -> None:
            if path.endswith("drivers_probe"):
                raise OSError(errno.EIO, "Input/output error", path)

        kernel.disturb = fail
        unfinished = interrupted(driver, prepare(driver, CARD))
        with pytest.raises(HostChangeError, match="cannot be taken back: Input/output error") as caught:
            driver.recover(unfinished)
        assert not caught.value.undone
        kernel.disturb = lambda _path, _done: None
        assert driver.recover(unfinished).ending is Ending.UNDONE
        assert kernel.tree() == before

    def test_a_release_that_cannot_be_finished_is_taken_back(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        """The device is as prepared again, and its release may be tried again."""
        taken = do(driver, prepare(driver, CARD)).taken
        plan = driver.plan(release(CARD, taken))
        before = kernel.tree()
        kernel.broken_resets = {CARD}
        outcome = driver.recover(Unfinished(plan=plan, begun=plan.steps[:1]))
        assert (outcome.ending, outcome.taken) == (Ending.UNDONE, taken)
        assert kernel.tree() == before

    def test_so_is_one_whose_device_was_opened_meanwhile(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        taken = do(driver, prepare(driver, CARD)).taken
        plan = driver.plan(release(CARD, taken))
        kernel.open(CARD)
        assert driver.recover(Unfinished(plan=plan, begun=plan.steps[:1])).ending is Ending.UNDONE
        assert kernel.driver_of(CARD) == "vfio-pci"

    def test_one_that_can_be_neither_finished_nor_taken_back_is_tried_again(
        self, kernel: FakeKernel, driver: LinuxHostDriver
    ) -> None:
        before = kernel.tree()
        plan = driver.plan(release(CARD, do(driver, prepare(driver, CARD)).taken))
        kernel.write("sys/bus/pci/drivers/vfio-pci/unbind", CARD)
        kernel.unwilling = {"vfio-pci", "e1000e"}
        unfinished = Unfinished(plan=plan, begun=plan.steps[:2])
        with pytest.raises(HostChangeError) as caught:
            driver.recover(unfinished)
        assert not caught.value.undone
        kernel.unwilling = set()
        assert driver.recover(unfinished).ending is Ending.DONE
        assert kernel.tree() == before

    def test_who_may_not_write_cannot_recover(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        plan = driver.plan(release(CARD, do(driver, prepare(driver, CARD)).taken))

        def refuse(path: str, _done: bool) -> None:
            raise PermissionError(errno.EACCES, "Permission denied", path)

        kernel.disturb = refuse
        with pytest.raises(LanewayError) as caught:
            driver.recover(Unfinished(plan=plan, begun=plan.steps[:1]))
        assert caught.value.code is ErrorCode.NO_PERMISSION

    def test_without_a_boot_id_nothing_is_touched(self, kernel: FakeKernel, driver: LinuxHostDriver) -> None:
        plan = driver.plan(prepare(driver, CARD))
        (kernel.root / "proc/sys/kernel/random/boot_id").unlink()
        with pytest.raises(HostChangeError, match="the id of this boot cannot be read") as caught:
            driver.recover(Unfinished(plan=plan, begun=plan.steps))
        assert not caught.value.undone
        assert kernel.writes == []


def test_a_plan_that_was_done_in_part_is_done_to_the_end(kernel: FakeKernel, driver: LinuxHostDriver) -> None:
    """All steps of it are taken, also those of the first try."""
    before = kernel.tree()
    plan = driver.plan(prepare(driver, CARD))
    kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "vfio-pci")
    taken = driver.apply(plan, lambda _step: None, lambda _words: None).taken
    assert [step.kind for step in taken] == [step.kind for step in plan.steps]
    do(driver, release(CARD, taken))
    assert kernel.tree() == before


def test_the_steps_of_a_plan_of_another_boot_do_not_count(kernel: FakeKernel, driver: LinuxHostDriver) -> None:
    old = driver.plan(prepare(driver, CARD))
    kernel.boot("another")
    do(driver, old.action)
    assert driver.apply(Plan(action=old.action, steps=old.steps, boot_id="old"), print, print).taken == ()


def test_facts_that_refuse_a_plan_by_now_keep_it_from_beginning(kernel: FakeKernel, driver: LinuxHostDriver) -> None:
    plan = driver.plan(prepare(driver, CARD))
    kernel.host.interface("ens1", f"pci0000:22/{CARD}")
    kernel.host.address("ens1", "192.0.2.7")
    journal = list[Step]()
    with pytest.raises(LanewayError) as caught:
        driver.apply(plan, journal.append, lambda _words: None)
    assert caught.value.code is ErrorCode.DEVICE_IN_USE
    assert (journal, kernel.writes) == ([], [])
