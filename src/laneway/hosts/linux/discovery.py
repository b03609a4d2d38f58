"""The Linux host driver: discovery from sysfs and /proc."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Inventory, PciFunction, Problem
from laneway.hosts.linux.exclusive_open import ExclusiveProbe
from laneway.hosts.linux.functions import Surroundings, read_functions
from laneway.hosts.linux.host_use import host_use, open_nodes
from laneway.hosts.linux.iommu_groups import ReservedMemory
from laneway.hosts.linux.listing import DEVICES, list_functions
from laneway.hosts.linux.netdevs import NetdevReader, interface_query
from laneway.hosts.linux.numa import read_numa_nodes
from laneway.hosts.linux.openers import Openers
from laneway.hosts.linux.readiness import readiness
from laneway.hosts.linux.system import read_boot_id, read_host_name, read_operating_system
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.vdpa import read_vdpa_devices
from laneway.interfaces.host_driver import Ability, DriverCapabilities

if TYPE_CHECKING:
    from laneway.domain.tracking.health import Health
    from laneway.hosts.linux.changes import LinuxChanger, Means
    from laneway.hosts.linux.watch import UeventBatches
    from laneway.interfaces.host_changes import Action, JournalStep, Outcome, Plan, Progress, Unfinished
    from laneway.interfaces.running_vms import RunningVms

NAME = "linux"
FACTS = frozenset(
    {
        *("subsystem_vendor_id", "subsystem_id", "class_code", "revision", "parent_addr", "vf_index", "numa_node"),
        *("iommu_group", "driver", "driver_override", "pcie_roots", "bridges", "path", "netdevs", "sriov", "vpd"),
        *("device_serial_number", "vdpa", "bars", "link", "reset_methods", "in_use_by", "opened_by", "not_assignable"),
    }
)
"""The facts of a function beyond those that the contract requires; only Windows has a ``location_path``."""


class LinuxHostDriver:
    """One Linux host by its files below ``root``.

    A root other than ``/`` is a captured tree: what is not in its files (what ioctls and open
    handles of the running system tell) is None, and so is the time of the capture. It cannot be changed,
    unless there are ``means`` for that. ``clock`` gives seconds since 1970, UTC; ``exclusive`` replaces
    the question to the kernel which disks are held.
    """

    def __init__(
        self,
        root: Path = Path("/"),
        clock: Callable[[], float] = time.time,
        *,
        means: "Means | None" = None,
        exclusive: ExclusiveProbe | None = None,
    ) -> None:
        self._root = root
        self._clock = clock
        self._means = means
        self._exclusive = exclusive

    @property
    def _is_live(self) -> bool:
        return self._root == Path("/")

    def describe(self) -> DriverCapabilities:
        watching = {Ability.WATCH} if self._is_live else set()
        changing = {Ability.PREPARE, Ability.SET_VF_COUNT, Ability.CLEAN} if self._can_change else set()
        return DriverCapabilities(name=NAME, os_family="linux", abilities=frozenset(watching | changing), facts=FACTS)

    def discover(self) -> Inventory:
        """See ``HostDriver``. Raises LanewayError(host_unreachable) where there is no PCI bus to read."""
        tree, problems = HostTree(self._root), list[Problem]()
        functions = self._functions(tree, problems)
        platform, notes = readiness(self._root, functions, live=self._is_live)
        return Inventory(
            host=read_host_name(tree),
            driver=NAME,
            os=read_operating_system(tree),
            boot_id=read_boot_id(tree),
            captured_at=self._now(),
            platform=platform,
            numa_nodes=read_numa_nodes(tree, problems),
            readiness=notes,
            functions=functions,
            problems=tuple(problems),
        )

    def running_vms(self, functions: Sequence[PciFunction]) -> "RunningVms":
        """See ``VmObservingHostDriver``."""
        from laneway.hosts.linux.running_vms import running_vms  # noqa: PLC0415 - only adoption asks

        return running_vms(self._root, functions)

    def watch(self) -> "UeventBatches":
        """See ``WatchingHostDriver``."""
        from laneway.hosts.linux.watch import UeventBatches, open_uevents  # noqa: PLC0415 - only a service watches

        return UeventBatches(open_uevents())

    def health(self, addresses: Sequence[PciAddress]) -> "dict[PciAddress, Health]":
        """See ``HealthReadingHostDriver``."""
        from laneway.hosts.linux.health import read_health  # noqa: PLC0415 - only a service asks

        return read_health(HostTree(self._root), addresses)

    def plan(self, action: "Action") -> "Plan":
        """See ``ChangingHostDriver``."""
        return self._changer().plan(action)

    def apply(self, plan: "Plan", journal: "JournalStep", progress: "Progress") -> "Outcome":
        """See ``ChangingHostDriver``."""
        return self._changer().apply(plan, journal, progress)

    def recover(self, unfinished: "Unfinished") -> "Outcome":
        """See ``ChangingHostDriver``."""
        return self._changer().recover(unfinished)

    @property
    def _can_change(self) -> bool:
        return self._is_live or self._means is not None

    def _changer(self) -> "LinuxChanger":
        if not self._can_change:
            raise LanewayError(
                ErrorCode.NOT_SUPPORTED,
                f"{self._root} is a captured host, which cannot be changed",
                {"root": str(self._root)},
            )
        from laneway.hosts.linux.changes import LinuxChanger, means_of  # noqa: PLC0415 - only changes need it

        return LinuxChanger(
            tree=HostTree(self._root), discover=self.discover, means=self._means or means_of(self._root)
        )

    def _functions(self, tree: HostTree, problems: list[Problem]) -> tuple[PciFunction, ...]:
        listed = list_functions(tree, problems)
        nodes = open_nodes(self._root, live=self._is_live)
        places = {function.address: function.directory.path for function in listed}
        entries = {function.address: function.directory.names for function in listed}
        in_use_by, unknown_use = host_use(
            self._root, places, live=self._is_live, nodes=nodes, entries=entries, exclusive=self._exclusive
        )
        problems += unknown_use
        with interface_query(live=self._is_live) as query:
            surroundings = Surroundings(
                netdevs=NetdevReader(query),
                reserved_memory=ReservedMemory(tree),
                vdpa=read_vdpa_devices(tree),
                in_use_by=in_use_by,
                openers=Openers(tree, nodes),
            )
            return read_functions(listed, surroundings, time.sleep if self._is_live else None)

    def _now(self) -> str | None:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock())) if self._is_live else None


class LinuxHostDriverFactory:
    """What the entry point names: the driver for the machine that this runs on."""

    def unavailable(self) -> str | None:
        if not sys.platform.startswith("linux"):
            return f"this machine runs {sys.platform}, not Linux"
        if not Path("/", DEVICES).is_dir():
            return f"there is no /{DEVICES}: the kernel shows no PCI bus here"
        return None

    def __call__(self) -> LinuxHostDriver:
        return LinuxHostDriver()

    def cannot_read(self, path: Path) -> str | None:
        return None if (path / DEVICES).is_dir() else f"there is no {path / DEVICES}"

    def reading(self, path: Path) -> LinuxHostDriver:
        return LinuxHostDriver(path)
