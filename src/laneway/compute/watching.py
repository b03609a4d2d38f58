"""Events of the host, as wishes for an update."""

from threading import Thread
from typing import Self, cast

from laneway.compute.inbox import Inbox, Wish
from laneway.domain.errors import LanewayError
from laneway.interfaces.host_driver import Ability, HostDriver, HotplugEvents, WatchingHostDriver

_JOIN_SECONDS = 0.5


class Watcher:
    """Waits for events in a thread of its own, and wishes for an update at each batch.

    It does so until it is closed or the driver can no longer tell; ``error`` is why.
    """

    def __init__(self, inbox: Inbox, events: HotplugEvents | None = None, error: LanewayError | None = None) -> None:
        self.error = error
        self._inbox = inbox
        self._events = events
        self._thread = Thread(target=self._watch, name="hot plug", daemon=True)
        if events is not None:
            self._thread.start()

    @classmethod
    def start(cls, driver: HostDriver, inbox: Inbox) -> Self:
        """Watches the host if its driver can. The first wish is for what happened before it was watched."""
        if Ability.WATCH not in driver.describe().abilities:
            return cls(inbox)
        try:
            events = cast("WatchingHostDriver", driver).watch()
        except LanewayError as error:
            return cls(inbox, error=error)
        inbox.put(Wish.UPDATE)
        return cls(inbox, events)

    @property
    def is_watching(self) -> bool:
        """Whether events bring updates now."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Ends the watch."""
        if self._events is not None:
            self._events.close()
            self.wait(_JOIN_SECONDS)

    def wait(self, seconds: float) -> None:
        """Waits until it watches no longer, at most so long."""
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def _watch(self) -> None:
        try:
            for _ in self._events or ():
                self._inbox.put(Wish.UPDATE)
        except LanewayError as error:
            self.error = error
