"""Virtual machines that run on a host, with the functions that they hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.inventory import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningVm:
    """One VM. ``consumer`` is the name to record as the owner, ``source`` who told of it (``libvirt``, ``qemu``).

    ``devices`` are the functions that it holds, and how.
    """

    consumer: str
    uuid: str | None
    pid: int | None
    devices: Mapping[PciAddress, Attach]
    source: str

    @property
    def addresses(self) -> tuple[PciAddress, ...]:
        return tuple(sorted(self.devices))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningVms:
    """The VMs that hold functions, and what could not be told: nobody may own what stands in ``problems``."""

    vms: tuple[RunningVm, ...]
    problems: tuple[Problem, ...] = ()
