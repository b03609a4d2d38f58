"""Where a service and the commands that ask for it meet: files beside the database.

Files work alike on every operating system, for whoever may use the database and for no one else.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from laneway.compute.process_lock import ProcessLock
from laneway.contracts.agent_status import AgentStatus, decode_agent_status, encode_agent_status
from laneway.domain.errors import ErrorCode, LanewayError


class AgentFiles:
    """The status that the service publishes, the requests that it answers, and the lock that says it is there."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self._folder = database.parent
        self._prefix = f"{database.stem}.agent"
        self._status = self._folder / f"{self._prefix}.json"
        self._lock = ProcessLock(self._folder / f"{self._prefix}.lock")

    # the service's side

    def enter(self) -> None:
        """Makes this process the service over the database; requests of the past are forgotten.

        Raises LanewayError: agent_running, no_permission or database_unreachable.
        """
        with self._reported():
            if not self._lock.take():
                raise self._second_agent()
            self.answered(self.requests())

    def publish(self, status: AgentStatus) -> None:
        """Puts the status in the place of the last one, whole: no reader ever sees a part. Raises OSError."""
        new = self._status.with_suffix(".new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(encode_agent_status(status))
        new.replace(self._status)

    def requests(self) -> Sequence[Path]:
        """The requests to reload that wait for an answer."""
        return tuple(self._folder.glob(f"{self._prefix}.reload.*"))

    def answered(self, requests: Sequence[Path]) -> None:
        """Says that the published status is the answer to these."""
        for request in requests:
            request.unlink(missing_ok=True)

    def leave(self) -> None:
        """The service ends: what it said is no longer so."""
        self._status.unlink(missing_ok=True)
        self._lock.free()

    # the side of those who ask

    def read(self) -> AgentStatus | None:
        """What the service says, or None if none runs (or has only just begun to).

        Raises LanewayError(no_permission), and LanewayError(not_supported) where another version runs.
        """
        with self._reported():
            try:
                said = self._status.read_bytes() if self._lock.is_taken() else None
            except FileNotFoundError:
                return None
        try:
            return None if said is None else decode_agent_status(said)
        except LanewayError as error:
            message = f"the agent over {self.database} is of another version of Laneway; restart it"
            raise LanewayError(ErrorCode.NOT_SUPPORTED, message, {"database": str(self.database)}) from error

    def request_reload(self) -> Path:
        """Asks the service to reload. Raises LanewayError(no_permission) or LanewayError(database_unreachable)."""
        with self._reported():
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=f"{self._prefix}.reload.")
            os.close(handle)
            return Path(name)

    def _second_agent(self) -> LanewayError:
        other = self.read()
        process = "" if other is None else f" (process {other.pid})"
        return LanewayError(
            ErrorCode.AGENT_RUNNING,
            f"an agent{process} runs over {self.database} already; stop it first, or give this one another state.path",
            {"database": str(self.database), "pid": None if other is None else other.pid},
        )

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except PermissionError as error:
            message = f"this user may not use the files of the agent in {self._folder}; run it as their owner"
            raise LanewayError(ErrorCode.NO_PERMISSION, message, {"folder": str(self._folder)}) from error
        except OSError as error:
            message = f"the files of the agent in {self._folder} cannot be used: {error.strerror or error}"
            raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, message, {"folder": str(self._folder)}) from error
