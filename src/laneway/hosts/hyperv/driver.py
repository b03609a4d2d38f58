"""The host driver for Windows with Hyper-V: a recording in, an inventory out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Inventory, OperatingSystem, PciFunction, Problem
from laneway.hosts.hyperv.functions import read_functions
from laneway.hosts.hyperv.readiness import readiness
from laneway.hosts.hyperv.recording import Recording
from laneway.interfaces.host_driver import Ability, DriverCapabilities

if TYPE_CHECKING:
    from laneway.hosts.hyperv.changes.changer import HyperVChanger, RunCmdlet
    from laneway.interfaces.host_changes import Action, JournalStep, Outcome, Plan, Progress, Unfinished
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

    def __init__(self, source: RecordingSource, run: "RunCmdlet | None" = None) -> None:
        """``run`` changes the host; None for a recording, which cannot be changed."""
        self._source = source
        self._run = run

    def describe(self) -> DriverCapabilities:
        abilities = frozenset[Ability]() if self._run is None else frozenset({Ability.PREPARE})
        return DriverCapabilities(name=NAME, os_family="windows", abilities=abilities, facts=FACTS)

    def discover(self) -> Inventory:
        """See ``HostDriver``. Raises as the source does."""
        return inventory_of(self._source())

    def plan(self, action: "Action") -> "Plan":
        """See ``ChangingHostDriver``; what would be done can be told of a recording, too."""
        from laneway.hosts.hyperv.changes.facts import facts_of  # noqa: PLC0415 - few calls change a host
        from laneway.hosts.hyperv.changes.planning import plan_steps  # noqa: PLC0415 - likewise
        from laneway.interfaces.host_changes import Plan  # noqa: PLC0415 - likewise

        return Plan(action=action, steps=plan_steps(action, facts_of(self._source())))

    def apply(self, plan: "Plan", journal: "JournalStep", progress: "Progress") -> "Outcome":
        """See ``ChangingHostDriver``."""
        return self._changer().apply(plan, journal, progress)

    def recover(self, unfinished: "Unfinished") -> "Outcome":
        """See ``ChangingHostDriver``."""
        return self._changer().recover(unfinished)

    def _changer(self) -> "HyperVChanger":
        from laneway.hosts.hyperv.changes.changer import HyperVChanger  # noqa: PLC0415 - few calls change a host

        if self._run is None:
            raise LanewayError(
                ErrorCode.NOT_SUPPORTED, "a recording of a Windows host cannot be changed; run this on the host itself"
            )
        return HyperVChanger(self._source, self._run)

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
