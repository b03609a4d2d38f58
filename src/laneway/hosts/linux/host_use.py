"""What the host itself needs of its PCI functions: the facts ``in_use_by`` and ``opened_by``.

Everything is read once, by listing what is in use and tracing it down, never function by function.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from laneway.domain.address import PciAddress
from laneway.domain.inventory import HostUse, Opener, Problem
from laneway.hosts.linux.block_devices import BlockDevices, read_block_devices
from laneway.hosts.linux.block_use import BlockUse
from laneway.hosts.linux.console import find_boot_console
from laneway.hosts.linux.exclusive_open import ExclusiveProbe, ask_the_kernel, nobody_can_be_asked
from laneway.hosts.linux.function_paths import FunctionPaths
from laneway.hosts.linux.network_use import find_moved_interfaces, find_network_use, read_network_devices
from laneway.hosts.linux.openers import (
    OpenableFunction,
    Openers,
    OpenNodes,
    find_node_use,
    read_open_nodes,
)
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.use_findings import UseFindings


def open_nodes(root: Path, *, live: bool) -> OpenNodes:
    """The device nodes that processes hold, for ``host_use`` and ``opened_by``: they share one pass over /proc."""
    return read_open_nodes(HostTree(root), live=live)


def host_use(
    root: Path,
    functions: Mapping[PciAddress, str],
    *,
    live: bool,
    entries: Mapping[PciAddress, Collection[str]] | None = None,
    nodes: OpenNodes | None = None,
    exclusive: ExclusiveProbe | None = None,
) -> tuple[Mapping[PciAddress, tuple[HostUse, ...] | None], list[Problem]]:
    """Why the host needs each function, by the function's real directory in sysfs.

    Every function is in the answer: () where it is known that the host does not need it, None where
    some kind of use could not be looked at, with a note in the problems. ``live`` tells that ``root``
    is the running system, so that the kernel may be asked too. Where the directories have been
    listed already, ``entries`` saves looking into each again; ``exclusive`` replaces the question
    which disks are held by open(O_EXCL). Nothing is written and nothing raised.
    """
    tree = HostTree(root)
    findings = UseFindings()
    paths = FunctionPaths(functions, entries)
    findings.not_known(paths.unplaced, "the tree does not show where the functions stand below sys/devices")
    ask = exclusive or (partial(ask_the_kernel, tree=tree) if live else nobody_can_be_asked)
    blocks = _find_block_use(tree, paths, findings, functions, ask)
    _find_network_use(tree, paths, findings, functions, live=live)
    find_boot_console(tree, paths, findings)
    find_node_use(tree, nodes or read_open_nodes(tree, live=live), blocks, paths, findings)
    return dict(findings.conclude(functions)), findings.problems


def opened_by(
    root: Path, functions: Iterable[OpenableFunction], *, live: bool, nodes: OpenNodes | None = None
) -> Mapping[PciAddress, tuple[Opener, ...] | None]:
    """The processes that hold each function's vfio or vhost-vdpa node; None where that is not known.

    ``Openers`` tells the same of one function at a time.
    """
    tree = HostTree(root)
    openers = Openers(tree, nodes or read_open_nodes(tree, live=live))
    return {
        function.address: openers.of(
            function.address,
            iommu_group=function.iommu_group,
            driver=function.driver,
            vdpa=function.vdpa,
            is_bridge=function.is_bridge,
        )
        for function in functions
    }


def _find_block_use(
    tree: HostTree,
    paths: FunctionPaths,
    findings: UseFindings,
    functions: Iterable[PciAddress],
    exclusive: ExclusiveProbe,
) -> BlockDevices | None:
    blocks = read_block_devices(tree, paths)
    if blocks is None:
        findings.not_known(functions, "no sys/class/block tells which functions have disks")
    else:
        BlockUse(tree, blocks, findings).find(exclusive)
    return blocks


def _find_network_use(
    tree: HostTree, paths: FunctionPaths, findings: UseFindings, functions: Iterable[PciAddress], *, live: bool
) -> None:
    devices = read_network_devices(tree, paths)
    if devices is None:
        findings.not_known(functions, "no sys/class/net tells which functions have network interfaces")
        return
    find_network_use(tree, devices, findings, live=live)
    find_moved_interfaces(tree, paths, devices, findings)
