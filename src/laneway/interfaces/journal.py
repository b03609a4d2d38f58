"""What a host remembers of the changes that were made to it, so that they can be undone or made again.

It decides what this host undoes or restores, never who owns a device: that the control plane does.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.inventory import PciFunction
from laneway.interfaces.host_changes import Plan, Step, Unfinished, VfSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDevice:
    """A device that was prepared for a consumer in a boot, and how: what a later boot needs to do it again.

    ``placeholders`` are the VFs that a PF had when it was taken; they are gone until it is given back.
    """

    recorded: PciFunction
    consumer: str
    boot_id: str | None = None
    vf_settings: VfSettings | None = None
    placeholders: tuple[PciFunction, ...] = ()

    @property
    def address(self) -> PciAddress:
        return self.recorded.address


@dataclass(frozen=True, slots=True, kw_only=True)
class VfCount:
    """How many VFs an operator gave a PF, to be made again after a boot. ``recorded`` is the PF as it was then.

    ``boot_id`` is the last boot in which they were made.
    """

    recorded: PciFunction
    count: int
    autoprobe: bool
    boot_id: str | None = None

    @property
    def address(self) -> PciAddress:
        return self.recorded.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A function that is taken from the host: for which devices, on which driver."""

    holders: frozenset[PciAddress] = frozenset()
    driver: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalState:
    """All that is remembered between changes.

    ``boot_id`` is the boot in which the functions of ``taken`` were taken by ``steps`` (in the
    order in which they were done) and in which ``fatal_errors`` were counted. ``prepared`` may be
    of an earlier boot: those are to be prepared again. ``kept`` are devices that no guest has any
    more and that stay taken until the host wants them.
    """

    boot_id: str | None = None
    steps: tuple[Step, ...] = ()
    taken: Mapping[PciAddress, Hold] = field(default_factory=dict)
    prepared: Mapping[PciAddress, PreparedDevice] = field(default_factory=dict)
    kept: frozenset[PciAddress] = frozenset()
    vf_counts: Mapping[PciAddress, VfCount] = field(default_factory=dict)
    fatal_errors: Mapping[PciAddress, int] = field(default_factory=dict)

    def steps_of(self, addresses: Collection[PciAddress]) -> tuple[Step, ...]:
        """The steps by which these functions were taken, in the order in which they were done."""
        return tuple(step for step in self.steps if step.address in addresses)


class Journal(Protocol):
    """Every method that writes has it on the disk when it returns.

    Errors: LanewayError with no_permission or database_unreachable.
    """

    def state(self) -> JournalState:
        """What is remembered."""

    def unfinished(self) -> Unfinished | None:
        """The plan under way, or None."""

    def begin(self, plan: Plan) -> None:
        """A plan is about to be applied. The one before it has ended."""

    def step(self, step: Step) -> None:
        """A step of the plan under way is about to be done."""

    def keep(self, state: JournalState) -> None:
        """Remembers this from now on, in the place of all before. A plan that is under way has ended by it."""
