"""The host driver for Windows with Hyper-V: a recording in, an inventory out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from laneway.domain.inventory import Inventory, OperatingSystem, PciFunction, Problem
from laneway.hosts.hyperv.functions import read_functions
from laneway.hosts.hyperv.readiness import readiness
from laneway.hosts.hyperv.recording import Recording
from laneway.interfaces.host_driver import DriverCapabilities

if TYPE_CHECKING:
    from laneway.interfaces.running_vms import RunningVms

NAME = "hyperv"
FACTS = frozenset(
    {
        *("subsystem_vendor_id", "subsystem_id", "class_code", "revision", "numa_node", "driver", "pcie_roots"),
        *("bridges", "path", "netdevs", "sriov", "device_serial_number", "bars", "link", "in_use_by", "opened_by"),
        *("not_assignable", "location_path"),
    }
)
"""The facts of a function beyond those that the contract requires. Windows has no groups, no VPD and no VFs to tell."""

RecordingSource = Callable[[], Recording]


class HyperVHostDriver:
    """One Windows host: ``source`` reads it, or what was recorded of one, each time it is called."""

    def __init__(self, source: RecordingSource) -> None:
        self._source = source

    def describe(self) -> DriverCapabilities:
        return DriverCapabilities(name=NAME, os_family="windows", facts=FACTS)

    def discover(self) -> Inventory:
        """See ``HostDriver``. Raises as the source does."""
        return inventory_of(self._source())

    def running_vms(self, functions: Sequence[PciFunction]) -> "RunningVms":
        """See ``VmObservingHostDriver``: what Hyper-V says that VMs have, whether they run or not."""
        from laneway.hosts.hyperv.virtual_machines import running_vms  # noqa: PLC0415 - only adoption asks

        return running_vms(self._source().answers, functions)


def inventory_of(recording: Recording) -> Inventory:
    """The inventory of a recorded host. Pure."""
    problems = list[Problem](recording.problems)
    functions = read_functions(recording, problems)
    platform, notes = readiness(recording, functions)
    return Inventory(
        host=recording.host or None,
        driver=NAME,
        os=OperatingSystem(family="windows", release=recording.release or None),
        captured_at=recording.captured_at or None,
        platform=platform,
        numa_nodes=recording.numa_nodes,
        readiness=notes,
        functions=functions,
        problems=tuple(problems),
    )
