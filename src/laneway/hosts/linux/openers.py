"""Which processes hold device nodes open, and which PCI functions those nodes belong to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.inventory import Opener, Vdpa
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.hosts.linux.block_devices import BlockDevices
from laneway.hosts.linux.function_paths import FunctionPaths, device_path
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.udev import is_of_udev
from laneway.hosts.linux.use_findings import UseCode, UseFindings

_NODE_CLASSES = {
    "nvme": "",
    "nvme-generic": "",
    "drm": "dri/",
    "accel": "accel/",
    "infiniband_verbs": "infiniband/",
    "infiniband_mad": "infiniband/",
    "uio": "",
}
"""The classes of sysfs whose devices are character nodes, with the folder of /dev that they are in."""

_OF_EVERYBODY = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts/", "shm/", "console", "kmsg")
"""How the nodes begin that many processes hold and that nobody asks about here."""


@dataclass(frozen=True, slots=True)
class OpenNodes:
    """The device nodes that processes hold: ``holders`` by path below /dev, but of terminals and the like.

    udev holds none: it looks at every new device, and at every disk that was written to, for a moment.
    ``complete`` tells whether every process could be looked at: only root may, and only where the
    tree has /proc/PID/fd.
    """

    holders: Mapping[str, frozenset[int]]
    complete: bool


def read_open_nodes(tree: HostTree, *, live: bool) -> OpenNodes:
    """One pass over /proc/PID/fd."""
    holders: dict[str, set[int]] = {}
    seen = 0
    denied = False
    for pid in tree.names("proc") or ():
        if not pid.isdigit():
            continue
        descriptors = tree.names(f"proc/{pid}/fd")
        if descriptors is None:
            denied = denied or tree.exists(f"proc/{pid}/fd")
            continue
        seen += 1
        for node in _nodes_held(tree, pid, descriptors):
            holders.setdefault(node, set()).add(int(pid))
    visible = tree.exists("proc/1") if live else seen > 0
    return OpenNodes({node: frozenset(pids) for node, pids in holders.items()}, complete=visible and not denied)


def _nodes_held(tree: HostTree, pid: str, descriptors: Iterable[str]) -> set[str]:
    """The nodes that a process keeps open; none where it has ended meanwhile."""
    targets = (tree.link(f"proc/{pid}/fd/{descriptor}") for descriptor in descriptors)
    nodes = {target[5:].removesuffix(" (deleted)") for target in targets if target and target.startswith("/dev/")}
    nodes = {node for node in nodes if not node.startswith(_OF_EVERYBODY)}
    return nodes if nodes and not is_of_udev(tree, int(pid)) and tree.exists(f"proc/{pid}") else set()


def process_name(tree: HostTree, pid: int) -> str | None:
    """The command name of a process; None if it has ended."""
    text = tree.text(f"proc/{pid}/comm")
    return None if text is None else text.strip()


def find_node_use(
    tree: HostTree, nodes: OpenNodes, blocks: BlockDevices | None, paths: FunctionPaths, findings: UseFindings
) -> None:
    """Adds the processes of the host that hold a node of a function: of disks, GPUs, RDMA, uio."""
    owners = _functions_by_node(tree, nodes, paths)
    if blocks is not None:
        owners.update((name.replace("!", "/"), functions) for name, functions in blocks.functions.items())
    for node, functions in owners.items():
        for pid in nodes.holders.get(node, ()):
            name = process_name(tree, pid)
            findings.add(functions, UseCode.DEVICE_NODE_OPEN, f"/dev/{node} by {name or 'a process'} ({pid})")
    if not nodes.complete:
        findings.not_known(
            set().union(*owners.values()) - findings.uses.keys(),
            "which processes hold device nodes open can be seen by root only, and not in a tree without /proc/PID/fd",
        )


def _functions_by_node(tree: HostTree, nodes: OpenNodes, paths: FunctionPaths) -> dict[str, frozenset[PciAddress]]:
    found: dict[str, frozenset[PciAddress]] = {}
    for kind, folder in _NODE_CLASSES.items():
        for name in tree.names(f"sys/class/{kind}") or ():
            path = device_path(tree.link(f"sys/class/{kind}/{name}") or "")
            functions = frozenset(paths.functions_of(path))
            if functions:
                found[folder + name] = functions
    if any(node.startswith("nvidia") for node in nodes.holders):
        found.update(_nvidia_nodes(tree, paths))
    return found


def _nvidia_nodes(tree: HostTree, paths: FunctionPaths) -> dict[str, frozenset[PciAddress]]:
    """NVIDIA's own driver has no class in sysfs; its /proc tells the minor of each GPU."""
    found = {}
    for bus in tree.names("proc/driver/nvidia/gpus") or ():
        text = tree.text(f"proc/driver/nvidia/gpus/{bus}/information") or ""
        minor = next(
            (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Device Minor")), ""
        )
        functions = paths.functions_of(device_path(tree.link(f"sys/bus/pci/devices/{bus}") or ""))
        if minor.isdigit() and functions:
            found[f"nvidia{minor}"] = frozenset(functions)
    return found


class OpenableFunction(Protocol):
    """What has to be known of a function to tell who holds its vfio or vhost-vdpa node."""

    @property
    def address(self) -> PciAddress: ...
    @property
    def iommu_group(self) -> int | None: ...
    @property
    def driver(self) -> str | None: ...
    @property
    def vdpa(self) -> Vdpa | None: ...
    @property
    def is_bridge(self) -> bool: ...


class Openers:
    """Tells of any function which processes hold its vfio or vhost-vdpa node."""

    def __init__(self, tree: HostTree, nodes: OpenNodes) -> None:
        self._tree = tree
        self._nodes = nodes
        self._groups_with_node = frozenset(tree.names("sys/class/vfio") or ())
        self._character_devices = _vfio_character_devices(tree)
        self._names: dict[int, str | None] = {}

    def of(
        self,
        address: PciAddress,
        *,
        iommu_group: int | None,
        driver: str | None,
        vdpa: Vdpa | None,
        is_bridge: bool,
    ) -> tuple[Opener, ...] | None:
        """The processes, by id; None where that is not known.

        A group's node stands for all its functions but bridges (class 06). A function that has no
        node has no openers: none of its group is bound to a vfio driver, and it has no vDPA device.
        """
        group_names = () if iommu_group is None or is_bridge else (str(iommu_group), f"noiommu-{iommu_group}")
        candidates = [f"vfio/{name}" for name in group_names]
        own = self._character_devices.get(str(address))
        if own is not None:
            candidates.append(f"vfio/devices/{own}")
        if vdpa is not None and vdpa.vhost_node is not None:
            candidates.append(vdpa.vhost_node.removeprefix("/dev/"))
        held = {pid for node in candidates for pid in self._nodes.holders.get(node, ())}
        if not held and not self._nodes.complete:
            bound = driver is not None and is_vfio_driver(driver)
            if bound or own is not None or vdpa is not None or not self._groups_with_node.isdisjoint(group_names):
                return None
        return tuple(Opener(pid=pid, name=self._name(pid)) for pid in sorted(held))

    def _name(self, pid: int) -> str | None:
        if pid not in self._names:
            self._names[pid] = process_name(self._tree, pid)
        return self._names[pid]


def _vfio_character_devices(tree: HostTree) -> dict[str, str]:
    """The names of vfio's character devices (``vfio0``) by the address they are for."""
    found = {}
    for name in tree.names("sys/class/vfio-dev") or ():
        parts = (tree.link(f"sys/class/vfio-dev/{name}") or "").split("/")
        if len(parts) > 3:
            found[parts[-3]] = name  # .../0000:01:00.0/vfio-dev/vfio0
    return found
