"""What every host driver has to do that changes its host, as tests that its author runs with pytest.

The contract is in ``laneway.interfaces.host_changes``. It is used as ``conformance`` is, and changes
the host that its fixtures are for.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.interfaces.host_changes import (
    Action,
    ChangingHostDriver,
    Ending,
    Outcome,
    Plan,
    Prepare,
    Release,
    Step,
    Unfinished,
)
from laneway.interfaces.host_driver import HostDriver


class ChangingDriver(HostDriver, ChangingHostDriver, Protocol):
    """A driver that sees a host and changes it."""


class ChangingHostDriverConformance:
    """For a driver with the ability ``prepare``: it takes a function from its host and gives it back.

    Fixtures ``changing_driver``; ``preparation``: a Prepare that changes something of the host;
    ``open_device``: to be called with the address of the function when it is prepared, after which
    a process, or a VM, has it. Each test has a host of its own.
    """

    # plan()

    def test_planning_changes_nothing(self, changing_driver: ChangingDriver, preparation: Prepare) -> None:
        before = _functions(changing_driver)
        changing_driver.plan(preparation)
        assert _functions(changing_driver) == before, "plan() only reads"

    def test_a_plan_is_the_same_as_long_as_the_host_is(
        self, changing_driver: ChangingDriver, preparation: Prepare
    ) -> None:
        first, second = (changing_driver.plan(preparation) for _ in range(2))
        assert first == second, "two plans of one action on an unchanged host must agree: a dry run shows what is done"

    def test_a_plan_is_of_the_action_and_says_in_words_what_is_done(
        self, changing_driver: ChangingDriver, preparation: Prepare
    ) -> None:
        plan = changing_driver.plan(preparation)
        assert plan.action == preparation, "a plan keeps its action"
        assert plan.steps, "the preparation of this suite must change something"
        assert all(step.summary for step in plan.steps), "the summary of a step is for people"

    def test_another_device_at_the_address_is_refused(
        self, changing_driver: ChangingDriver, preparation: Prepare
    ) -> None:
        product = "ffff" if preparation.recorded.product_id != "ffff" else "0000"
        other = replace(preparation, recorded=replace(preparation.recorded, product_id=product))
        assert _refused(changing_driver, other) is ErrorCode.WRONG_DEVICE, "an address is no identity"

    # apply()

    def test_it_does_what_is_planned(self, changing_driver: ChangingDriver, preparation: Prepare) -> None:
        before = _functions(changing_driver)
        outcome = _applied(changing_driver, preparation)
        assert outcome.ending is Ending.DONE, "what was done is done"
        assert outcome.taken, "what was taken is told, to be given back"
        assert _functions(changing_driver) != before, "the preparation of this suite must change something"
        assert not changing_driver.plan(preparation).steps, "what is done already needs no step"

    def test_every_step_is_journalled_before_it_is_done(
        self, changing_driver: ChangingDriver, preparation: Prepare
    ) -> None:
        before, journal = _functions(changing_driver), list[Step]()

        def keep(step: Step) -> None:
            if not journal:
                assert _functions(changing_driver) == before, "a step is journalled before it is done"
            journal.append(step)

        outcome = changing_driver.apply(changing_driver.plan(preparation), keep, _tell_nobody)
        assert set(outcome.taken) <= set(journal), "no step is done without the journal"

    def test_the_second_time_nothing_is_done(self, changing_driver: ChangingDriver, preparation: Prepare) -> None:
        plan = changing_driver.plan(preparation)
        changing_driver.apply(plan, _keep_nothing, _tell_nobody)
        after, journal = _functions(changing_driver), list[Step]()
        assert changing_driver.apply(plan, journal.append, _tell_nobody).ending is Ending.DONE, "it is done already"
        assert not journal, "what is done already needs no step"
        assert _functions(changing_driver) == after, "applying a plan twice does nothing the second time"

    def test_a_release_gives_back_what_was_taken(self, changing_driver: ChangingDriver, preparation: Prepare) -> None:
        before = _functions(changing_driver)
        taken = _applied(changing_driver, preparation).taken
        released = _applied(changing_driver, Release(address=preparation.address, taken=taken))
        assert not released.taken, "after a release nothing is taken any more"
        assert _functions(changing_driver) == before, "a release leaves the host as it was before"

    def test_what_cannot_be_journalled_is_not_done(self, changing_driver: ChangingDriver, preparation: Prepare) -> None:
        before, plan = _functions(changing_driver), changing_driver.plan(preparation)
        for most in range(len(plan.steps)):
            assert _failed(changing_driver, plan, most), "a journal that fails ends the plan"
            assert _functions(changing_driver) == before, f"a failure after {most} steps leaves the host as before"

    def test_an_open_device_is_not_given_back(
        self, changing_driver: ChangingDriver, preparation: Prepare, open_device: Callable[[PciAddress], object]
    ) -> None:
        taken = _applied(changing_driver, preparation).taken
        open_device(preparation.address)
        after = _functions(changing_driver)
        code = _refused(changing_driver, Release(address=preparation.address, taken=taken))
        assert code is ErrorCode.DEVICE_OPEN, "an open device is never given back"
        assert _functions(changing_driver) == after, "what is refused is not begun"

    # recover()

    def test_an_interrupted_preparation_is_taken_back(
        self, changing_driver: ChangingDriver, preparation: Prepare
    ) -> None:
        before, plan, journal = _functions(changing_driver), changing_driver.plan(preparation), list[Step]()
        changing_driver.apply(plan, journal.append, _tell_nobody)
        for _ in range(2):
            outcome = changing_driver.recover(Unfinished(plan=plan, begun=tuple(journal)))
            assert outcome == Outcome(ending=Ending.UNDONE), "a preparation that was interrupted is taken back"
            assert _functions(changing_driver) == before, "after recovery the host is as before, and stays so"

    def test_an_interrupted_release_is_finished(self, changing_driver: ChangingDriver, preparation: Prepare) -> None:
        before = _functions(changing_driver)
        taken = _applied(changing_driver, preparation).taken
        plan = changing_driver.plan(Release(address=preparation.address, taken=taken))
        for _ in range(2):
            outcome = changing_driver.recover(Unfinished(plan=plan, begun=plan.steps[:1]))
            assert outcome == Outcome(ending=Ending.DONE), "a release that was interrupted is finished"
            assert _functions(changing_driver) == before, "after recovery the host is as before, and stays so"

    def test_a_plan_of_another_boot_is_void(self, changing_driver: ChangingDriver, preparation: Prepare) -> None:
        plan, journal = changing_driver.plan(preparation), list[Step]()
        if plan.boot_id is not None:
            changing_driver.apply(plan, journal.append, _tell_nobody)
            after, old = _functions(changing_driver), replace(plan, boot_id="no boot of this host")
            outcome = changing_driver.recover(Unfinished(plan=old, begun=tuple(journal)))
            assert outcome == Outcome(ending=Ending.VOID), "what another boot began is not there any more"
            assert _functions(changing_driver) == after, "nothing of a void plan is touched"


def _functions(driver: HostDriver) -> tuple[PciFunction, ...]:
    return driver.discover().functions


def _keep_nothing(_step: Step) -> None:
    """A journal that forgets."""


def _tell_nobody(_words: str) -> None:
    """Nobody is told."""


def _applied(driver: ChangingDriver, action: Action) -> Outcome:
    return driver.apply(driver.plan(action), _keep_nothing, _tell_nobody)


def _refused(driver: ChangingDriver, action: Action) -> ErrorCode | None:
    """The code with which it is refused, when it is planned or at the last moment."""
    try:
        _applied(driver, action)
    except LanewayError as error:
        return error.code
    return None


def _failed(driver: ChangingDriver, plan: Plan, most: int) -> bool:
    """Whether the plan ends with an error where no more than so many steps can be journalled."""
    journal = list[Step]()

    def keep(step: Step) -> None:
        if len(journal) == most:
            raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, "the journal cannot be written")
        journal.append(step)

    try:
        driver.apply(plan, keep, _tell_nobody)
    except LanewayError:
        return True
    return False
