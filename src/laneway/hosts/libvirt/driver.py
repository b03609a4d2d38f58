"""The libvirt host driver: a host by its node devices, on this machine or another."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from laneway.domain.inventory import Inventory, OperatingSystem, PciFunction, Problem
from laneway.hosts.domain_xml import parse_domain
from laneway.hosts.holdings import assign_functions
from laneway.hosts.libvirt.capabilities import HostFacts, parse_capabilities
from laneway.hosts.libvirt.connection import (
    ChangingLibvirtHost,
    Described,
    LibvirtHost,
    connected,
    connected_to_change,
)
from laneway.hosts.libvirt.functions import build_functions
from laneway.hosts.libvirt.node_device import parse_node_device
from laneway.hosts.observed_vm import ObservedVm
from laneway.interfaces.host_driver import Ability, DriverCapabilities
from laneway.interfaces.running_vms import RunningVms

if TYPE_CHECKING:
    from laneway.hosts.libvirt.changes.changer import LibvirtChanger
    from laneway.hosts.libvirt.events import NodeDeviceEvents
    from laneway.interfaces.host_changes import Action, JournalStep, Outcome, Plan, Progress, Unfinished

NAME = "libvirt"
FACTS = frozenset(
    {
        *("class_code", "parent_addr", "vf_index", "numa_node", "iommu_group", "driver", "pcie_roots", "bridges"),
        *("path", "netdevs", "sriov", "vpd", "vdpa", "link"),
    }
)
"""The facts of a function, beyond those that the contract requires, that node devices tell."""

ABILITIES = frozenset({Ability.WATCH, Ability.PREPARE, Ability.CLEAN})

SYSTEM = "qemu:///system"
"""libvirt itself would choose a session of the user's own, without privileges, for anyone but root."""


class LibvirtHostDriver:
    """The host of the libvirt at ``uri``, such as ``qemu+ssh://root@node-1/system``; 6.9 or newer.

    Each discovery connects anew, for reading only. ``clock`` gives seconds since 1970, UTC.
    """

    def __init__(
        self,
        uri: str = SYSTEM,
        clock: Callable[[], float] = time.time,
        connect: Callable[[str], AbstractContextManager[LibvirtHost]] = connected,
        connect_to_change: Callable[[str], AbstractContextManager[ChangingLibvirtHost]] = connected_to_change,
    ) -> None:
        self._uri = uri
        self._clock = clock
        self._connect = connect
        self._connect_to_change = connect_to_change

    def describe(self) -> DriverCapabilities:
        """Node devices need udev, so the host runs Linux, whatever this machine runs."""
        return DriverCapabilities(name=NAME, os_family="linux", abilities=ABILITIES, facts=FACTS)

    def discover(self) -> Inventory:
        """See ``HostDriver``."""
        with self._connect(self._uri) as host:
            name, capabilities, described = host.host_name(), host.capabilities(), host.node_devices()
        problems: list[Problem] = []
        facts = _host_facts(capabilities, problems)
        return Inventory(
            host=name,
            driver=NAME,
            os=OperatingSystem(family="linux"),
            captured_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock())),
            platform=facts.platform,
            numa_nodes=facts.numa_nodes,
            readiness=facts.readiness,
            functions=_functions(described, problems),
            problems=tuple(problems),
        )

    def watch(self) -> "NodeDeviceEvents":
        """See ``WatchingHostDriver``."""
        from laneway.hosts.libvirt.events import NodeDeviceEvents  # noqa: PLC0415 - only a service watches

        return NodeDeviceEvents(self._uri)

    def plan(self, action: "Action") -> "Plan":
        """See ``ChangingHostDriver``. Over a connection that can only read."""
        from laneway.hosts.libvirt.changes.facts import read_facts  # noqa: PLC0415 - few calls change a host
        from laneway.hosts.libvirt.changes.planning import plan_steps  # noqa: PLC0415 - likewise
        from laneway.interfaces.host_changes import Plan  # noqa: PLC0415 - likewise

        with self._connect(self._uri) as host:
            return Plan(action=action, steps=plan_steps(action, read_facts(host)))

    def apply(self, plan: "Plan", journal: "JournalStep", progress: "Progress") -> "Outcome":
        """See ``ChangingHostDriver``."""
        return self._changer().apply(plan, journal, progress)

    def recover(self, unfinished: "Unfinished") -> "Outcome":
        """See ``ChangingHostDriver``."""
        return self._changer().recover(unfinished)

    def _changer(self) -> "LibvirtChanger":
        from laneway.hosts.libvirt.changes.changer import LibvirtChanger  # noqa: PLC0415 - few calls change a host

        return LibvirtChanger(self._uri, self._connect_to_change)

    def running_vms(self, functions: Sequence[PciFunction]) -> RunningVms:
        """See ``VmObservingHostDriver``. libvirt does not tell the processes of its domains."""
        with self._connect(self._uri) as host:
            described = host.running_domains()
        problems: list[Problem] = []
        domains = [vm for one in described if (vm := _domain(one, problems)) is not None]
        return assign_functions(domains, functions, problems)


def _host_facts(capabilities: Described, problems: list[Problem]) -> HostFacts:
    if capabilities.xml is None:
        message = f"libvirt does not tell its capabilities: {capabilities.fault}"
        problems.append(Problem(attribute="numa_nodes", message=message))
        return HostFacts()
    return parse_capabilities(capabilities.xml, problems)


def _functions(described: Iterable[Described], problems: list[Problem]) -> tuple[PciFunction, ...]:
    devices = []
    for one in described:
        if one.xml is None:
            problems.append(Problem(address=one.name, message=f"libvirt does not tell its XML: {one.fault}"))
        elif (device := parse_node_device(one.name, one.xml, problems)) is not None:
            devices.append(device)
    return build_functions(devices, problems)


def _domain(one: Described, problems: list[Problem]) -> ObservedVm | None:
    try:
        if one.xml is None:
            raise ValueError(one.fault)
        return parse_domain(one.xml)
    except ValueError as error:
        problems.append(Problem(message=f"the libvirt domain {one.name} cannot be understood: {error}"))
        return None
