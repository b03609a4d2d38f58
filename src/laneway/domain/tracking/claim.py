"""What is kept of a claim, and what an operation on the tracker changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, PciDevice, Status
from laneway.domain.requests.request import ClaimRequest


class MoveKind(StrEnum):
    """Why devices of a consumer change host, or set.

    A resize may stay on its host. Of an evacuation the source is down; to unshelve there is no source.
    """

    COLD = "cold"
    RESIZE = "resize"
    EVACUATION = "evacuation"
    UNSHELVE = "unshelve"
    LIVE = "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveOrigin:
    """What the devices of a claim take the place of, once the move is confirmed.

    ``host`` is where ``devices`` are (None: there are none), which are in the hands of the same consumer.
    """

    kind: MoveKind
    host: str | None = None
    devices: tuple[PciAddress, ...] = ()
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """A claim with its answer, so that the same claim id is answered the same.

    ``devices`` are the addresses chosen for each request, ascending. ``expires_at`` counts only
    until the claim is allocated; None never expires. ``move``: it is the destination of a move.
    """

    request: ClaimRequest
    devices: Mapping[str, tuple[PciAddress, ...]]
    proven_best: bool = True
    expires_at: datetime | None = None

    def is_overdue(self, now: datetime) -> bool:
        """Whether its time is over and it is still there: a process has a device of it open, or its host is silent."""
        return self.expires_at is not None and self.expires_at <= now

    move: MoveOrigin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What one operation changes, as values: nothing is changed until the tracker applies it.

    ``held`` are devices whose own status is not available (claimed, allocated, releasing, dirty):
    what a store has to keep. A value of None removes the record. ``blocks`` likewise (all
    cordons of an address, those of Laneway itself too), ``claims`` by claim id. ``boot_id`` is the boot that the
    host is in from now on; None leaves what is known of that.
    """

    held: Mapping[PciAddress, PciDevice | None] = field(default_factory=dict)
    claims: Mapping[str, ClaimRecord | None] = field(default_factory=dict)
    blocks: Mapping[PciAddress, tuple[BlockReason, ...] | None] = field(default_factory=dict)
    boot_id: str | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.held or self.claims or self.blocks or self.boot_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostState:
    """What a store keeps of one host: everything else follows from its inventory and its specs."""

    held: Mapping[PciAddress, PciDevice] = field(default_factory=dict)
    claims: Mapping[str, ClaimRecord] = field(default_factory=dict)
    blocks: Mapping[PciAddress, tuple[BlockReason, ...]] = field(default_factory=dict)
    boot_id: str | None = None


HELD = frozenset({Status.CLAIMED, Status.ALLOCATED, Status.RELEASING, Status.DIRTY})
"""The statuses in which a device conflicts with its relatives."""
