"""Changes of a host that survive whatever happens to the process: each is in the journal before it is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from laneway.compute.host_lock import HostLock
from laneway.compute.taken import remembered
from laneway.domain.errors import LanewayError
from laneway.interfaces.host_changes import Action, ChangingHostDriver, Progress, Step
from laneway.interfaces.host_driver import HostDriver
from laneway.interfaces.journal import Journal, JournalState


class HostDriverThatChanges(HostDriver, ChangingHostDriver, Protocol):
    """A driver that sees a host and changes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChanger:
    """Applies actions to a host, one at a time, for whoever holds the right to change it."""

    driver: HostDriverThatChanges
    journal: Journal
    lock: HostLock
    progress: Progress

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Holds the right to change the host; what was interrupted has been brought to an end.

        Raises LanewayError: host_busy, and as ``recover``.
        """
        with self.lock.held(self.progress):
            self.recover()
            yield

    def planned(self, action: Action) -> tuple[Step, ...]:
        """The steps that it would take now. Raises as ``ChangingHostDriver.plan``."""
        return self.driver.plan(action).steps

    def apply(
        self, action: Action, and_then: Callable[[JournalState], JournalState] = lambda state: state
    ) -> tuple[Step, ...]:
        """Does it and remembers what stands of it, changed by ``and_then``. The steps that were done.

        Raises as ``ChangingHostDriver.apply``; the detail has the kind of the ``step`` that failed. Where a step
        had begun and the detail does not say that it was ``undone``, the next ``recover`` has to bring it to an end:
        nothing else is begun before that.
        """
        self.recover()
        plan = self.driver.plan(action)
        done: list[Step] = []

        def journalled(step: Step) -> None:
            self.journal.step(step)
            done.append(step)

        self.journal.begin(plan)
        try:
            outcome = self.driver.apply(plan, journalled, self.progress)
        except LanewayError as error:
            if done:
                error.detail.setdefault("step", done[-1].kind)
            if not done or error.detail.get("undone"):
                self._ended()
            raise
        except BaseException:
            # Such as Ctrl-C. What cannot be undone now is undone by whoever comes next.
            with suppress(LanewayError):
                self.recover()
            raise
        self.journal.keep(and_then(remembered(self.journal.state(), action, outcome)))
        return tuple(done)

    def recover(self) -> None:
        """Brings what was interrupted to an end. Raises as ``ChangingHostDriver.recover``; nothing is lost then."""
        unfinished = self.journal.unfinished()
        if unfinished is None:
            return
        address = unfinished.plan.action.address
        try:
            outcome = self.driver.recover(unfinished)
        except LanewayError as error:
            message = f"an interrupted change of {address} has to be ended before any other: {error.message}"
            raise LanewayError(error.code, message, {"address": str(address)}) from error
        self.journal.keep(remembered(self.journal.state(), unfinished.plan.action, outcome))
        self.progress(f"an interrupted change of {address} was ended: {outcome.ending}")

    def remember(self, state: JournalState) -> None:
        """Keeps what is remembered where that is another than before."""
        if state != self.journal.state():
            self.journal.keep(state)

    def _ended(self) -> None:
        self.journal.keep(self.journal.state())
