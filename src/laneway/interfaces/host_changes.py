"""Changing a host: what is wanted, the steps that it takes, and what a host driver promises about them.

A driver plans, applies and recovers. Who may have what is decided before it is asked; what the
facts of the host speak against, it refuses itself.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.cleaning import Cleaning
from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.domain.tracking.health import Health


class LinkState(StrEnum):
    """What a VF is told of its link: its PF's, always up, or always down (``ip link set dev PF vf N state``)."""

    AUTO = "auto"
    ENABLE = "enable"
    DISABLE = "disable"


@dataclass(frozen=True, slots=True, kw_only=True)
class VfSettings:
    """What the PF enforces for one of its network VFs. None leaves it as it is; ``vlan`` 0 is no VLAN."""

    mac: str | None = None
    vlan: int | None = None
    trust: bool | None = None
    spoof_check: bool | None = None
    link_state: LinkState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change of a host, as text that a journal can keep and a person can read.

    ``kind`` is a word of the driver that made it (``write``, ``vf_settings``, ``detach``, ...),
    ``target`` what it is done to (a path below the root of the host, an interface, a device),
    ``value`` what is set, ``found`` what was there before (None: nothing, or not known), ``undo``
    what is set to take it back (None: there is nothing to take back). ``address`` is the function
    that it is about: what is kept of a function until it is given back are its steps.
    """

    kind: str
    address: PciAddress
    target: str
    value: str | None = None
    found: str | None = None
    undo: str | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare:
    """Take a function from the host for a guest.

    ``recorded`` is the function as it was when it was claimed: what is found at its address has to
    be the same device. ``siblings`` are the admitted functions that may be taken along where they
    share its IOMMU group. ``may_be_in_use``: host use does not refuse it (``allow_in_use``).
    """

    recorded: PciFunction
    attach: Attach = Attach.VFIO
    binding: Binding = Binding.LANEWAY
    siblings: frozenset[PciAddress] = frozenset()
    live_migratable: bool = False
    may_be_in_use: bool = False
    vf_settings: VfSettings | None = None

    @property
    def address(self) -> PciAddress:
        return self.recorded.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Give functions back to the host as they were.

    ``taken`` are the steps, in the order in which they were done, that took them and are to be
    undone. ``keep``: they stay with the driver for guests until the host wants them (the rest is
    undone at a later release); they are reset all the same.
    """

    address: PciAddress
    taken: tuple[Step, ...]
    keep: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetVfCount:
    """Give a PF so many VFs. ``autoprobe``: the host's driver takes them as they appear."""

    address: PciAddress
    count: int
    autoprobe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Clean:
    """Make a function that a guest had fit for the next."""

    address: PciAddress
    cleaning: Cleaning


Action = Prepare | Release | SetVfCount | Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps that an action takes on the host as it stands; none where nothing is to be done."""

    action: Action
    steps: tuple[Step, ...] = ()
    boot_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A plan that was under way when its process ended, and the steps that had begun, in order."""

    plan: Plan
    begun: tuple[Step, ...]


class Ending(StrEnum):
    """How a plan ended: as it was meant, taken back whole, or made void by a new boot."""

    DONE = "done"
    UNDONE = "undone"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the host stands after a plan. ``taken`` are the steps of it that stand, to be kept until the release."""

    ending: Ending
    taken: tuple[Step, ...] = ()


class HostChangeError(LanewayError):
    """A step failed. ``undone``: the host is as before; otherwise ``recover`` has to be tried again."""

    def __init__(self, message: str, detail: Mapping[str, object] | None = None, *, undone: bool) -> None:
        super().__init__(ErrorCode.HOST_CHANGE_FAILED, message, {**(detail or {}), "undone": undone})
        self.undone = undone


JournalStep = Callable[[Step], None]
"""Keeps a step durably before it is done. What it raises ends the plan, which is undone."""

Progress = Callable[[str], None]
"""Is told in words what is being waited for, or done."""


class ChangingHostDriver(Protocol):
    """A driver with the abilities ``prepare``, ``set_vf_count`` and ``clean``.

    Errors of all methods: LanewayError with device_in_use, device_open, group_not_viable,
    wrong_device, not_bound, not_assignable, vfs_in_the_way or unknown_device where the facts of the host refuse
    the action, not_supported where the driver cannot do it, no_permission, host_unreachable.
    """

    def plan(self, action: Action) -> Plan:
        """The steps, without doing any: reads only. What is done already needs no step."""

    def apply(self, plan: Plan, journal: JournalStep, progress: Progress) -> Outcome:
        """Does what the plan is for: facts are looked at anew, and a plan that they refuse by now is not begun.

        ``journal`` is called before each step. Waiting (for a driver, for an open handle) is bounded
        and told. On a failure all begun steps are undone and HostChangeError is raised. Applying a plan
        twice does nothing the second time. The caller keeps others from changing the host meanwhile.
        """

    def recover(self, unfinished: Unfinished) -> Outcome:
        """Brings a plan that was interrupted to an end: a release is finished, all else is undone.

        Idempotent. A plan of another boot is void: nothing of it is touched. Raises HostChangeError
        where that fails; nothing is lost then, and it may be tried again.
        """


class HealthReadingHostDriver(Protocol):
    """A driver that can tell how functions do."""

    def health(self, addresses: Sequence[PciAddress]) -> Mapping[PciAddress, Health]:
        """The health of those of the functions that are there. Reads only."""
