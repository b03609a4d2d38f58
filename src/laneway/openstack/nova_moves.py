"""Moves of instances that nova has begun and not ended: migrations, resizes, live migrations and evacuations."""

from dataclasses import dataclass
from typing import Final

from laneway.openstack.nova_rows import RowReader

ENDED: Final = frozenset({"confirmed", "reverted", "completed", "done", "cancelled", "failed", "error"})
"""The statuses of a migration that is over, as nova's own tracker counts them. ``finished`` is none of them: the guest
runs on the destination, and its owner has yet to confirm or to revert that."""

LIVE: Final = "live-migration"
EVACUATION: Final = "evacuation"


@dataclass(frozen=True, slots=True)
class Place:
    """A compute node, by its service's host and its own name."""

    host: str | None
    node: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaMove:
    """A row of ``migrations``. ``kind`` is nova's ``migration_type``. A resize may have both places on one node."""

    id: int
    instance: str
    kind: str | None
    status: str
    source: Place
    destination: Place


def read_move(row: RowReader) -> NovaMove:
    """Raises ValueError that names the column."""
    return NovaMove(
        id=row.number("id"),
        instance=row.text("instance_uuid"),
        kind=row.maybe_text("migration_type"),
        status=row.text("status"),
        source=Place(row.maybe_text("source_compute"), row.maybe_text("source_node")),
        destination=Place(row.maybe_text("dest_compute"), row.maybe_text("dest_node")),
    )
