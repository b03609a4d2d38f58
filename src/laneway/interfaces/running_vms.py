"""The interface to the virtual machines that run on a host already."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from laneway.domain.inventory import PciFunction
from laneway.domain.running_vms import RunningVm, RunningVms

__all__ = ["RunningVm", "RunningVms", "VmObservingHostDriver"]


@runtime_checkable
class VmObservingHostDriver(Protocol):
    """A driver that can tell which VMs run already."""

    def running_vms(self, functions: Sequence[PciFunction]) -> RunningVms:
        """The VMs that hold some of these functions. Reads only."""
