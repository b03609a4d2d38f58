"""The JSON contracts of commands that change a host, such as ``laneway.prepare/1``: what was done, device by device."""

from dataclasses import dataclass

from laneway.contracts.answer import Json, error_json
from laneway.contracts.codec import to_plain
from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.interfaces.host_changes import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was done about one device, or on a dry run would be. ``error``: why it could not be.

    ``note`` is what a person should know beside that.
    """

    address: PciAddress
    steps: tuple[Step, ...] = ()
    error: LanewayError | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """All of it, in the order in which it was done. ``consumer``: for whom, where it is for one."""

    host: str
    of: tuple[Change, ...]
    consumer: str | None = None
    dry_run: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether all of it could be done."""
        return not any(change.error for change in self.of)


def changes_document(command: str, changes: Changes) -> Json:
    """The answer of ``laneway prepare``, ``release``, ``restore`` and ``clean``."""
    return {
        "schema": f"laneway.{command}/1",
        "ok": changes.is_complete,
        "host": changes.host,
        "consumer": changes.consumer,
        "dry_run": changes.dry_run,
        "devices": [change_json(change) for change in changes.of],
    }


def change_json(change: Change) -> Json:
    """One device: the steps in the order in which they were done."""
    return {
        "address": str(change.address),
        "ok": change.error is None,
        "steps": to_plain(change.steps),
        "error": None if change.error is None else error_json(change.error),
        "note": change.note,
    }
