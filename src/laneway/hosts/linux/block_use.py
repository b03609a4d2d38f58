"""Block devices that the host needs: mounted, swapped to, part of an array or a volume, or opened for itself alone."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from laneway.domain.address import PciAddress
from laneway.hosts.linux.block_devices import BlockDevices
from laneway.hosts.linux.exclusive_open import ExclusiveProbe
from laneway.hosts.linux.mounts import Mount, parse_swaps, read_mounts
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.linux.use_findings import UseCode, UseFindings

_HELD_BY_SIGNATURE = {
    "zfs_member": UseCode.HELD_BY_ZFS,
    "LVM2_member": UseCode.HELD_BY_LVM,
    "linux_raid_member": UseCode.HELD_BY_MD,
}


class BlockUse:
    """Finds the uses of a host's block devices."""

    def __init__(self, tree: HostTree, devices: BlockDevices, findings: UseFindings) -> None:
        self._tree = tree
        self._devices = devices
        self._findings = findings
        self._mapped = dict(_device_mapper_names(tree, devices))
        self._by_mapped = {label: name for name, label in self._mapped.items()}

    def find(self, exclusive: ExclusiveProbe) -> None:
        self._find_mounts()
        self._find_swaps()
        self._find_holders()
        self._find_exclusive(exclusive)

    def _add(self, name: str, code: UseCode, detail: str) -> None:
        self._findings.add(self._devices.functions.get(name, ()), code, detail)

    def _all_functions(self) -> set[PciAddress]:
        return set().union(*self._devices.functions.values())

    def _find_mounts(self) -> None:
        mounts = read_mounts(self._tree)
        if mounts is None:
            self._findings.not_known(
                self._all_functions(), "neither /proc/self/mountinfo nor /proc/mounts tells which disks are mounted"
            )
            return
        by_number = _NamesByNumber(self._tree, self._devices)
        members = self._members_of_btrfs()
        seen: set[str] = set()
        for mount in mounts:
            for name in self._devices_of(mount, by_number, members):
                if name not in seen:
                    seen.add(name)
                    self._add(name, UseCode.MOUNTED, mount.point)

    def _devices_of(self, mount: Mount, by_number: "_NamesByNumber", members: Mapping[str, list[str]]) -> set[str]:
        numbered = by_number.get(mount.device) if mount.device and not mount.device.startswith("0:") else None
        if numbered is not None:
            return {numbered}
        found: set[str] = set()
        for source in mount.source.split(":"):  # bcachefs joins its devices so
            name = self._named(source)
            if name is not None:
                found.add(name)
                found.update(members.get(name, ()))
        return found

    def _named(self, node: str) -> str | None:
        """The kernel's name of a device node."""
        if not node.startswith("/dev/"):
            return None
        name = node.removeprefix("/dev/")
        if name.startswith("mapper/") and name.removeprefix("mapper/") in self._by_mapped:
            return self._by_mapped[name.removeprefix("mapper/")]
        kernel = name.replace("/", "!")
        if kernel in self._devices.paths:
            return kernel
        target = PurePosixPath(self._tree.real(node.lstrip("/"))).name
        return target if target in self._devices.paths else None

    def _members_of_btrfs(self) -> dict[str, list[str]]:
        """For each device of a mounted btrfs all devices of it: mountinfo names one of them only."""
        found: dict[str, list[str]] = {}
        for filesystem in self._tree.names("sys/fs/btrfs") or ():
            devices = self._tree.names(f"sys/fs/btrfs/{filesystem}/devices") or []
            found.update(dict.fromkeys(devices, devices))
        return found

    def _find_swaps(self) -> None:
        swaps = self._tree.text("proc/swaps")
        if swaps is None:
            self._findings.not_known(self._all_functions(), "no /proc/swaps tells which disks are swapped to")
            return
        for node in parse_swaps(swaps):
            name = self._named(node)
            if name is not None:
                self._add(name, UseCode.SWAP, self._mapped.get(name, name))

    def _find_holders(self) -> None:
        for name, lower in self._devices.below.items():
            code = self._holder_code(name)
            if code is not None:
                for member in lower:
                    self._add(member, code, self._mapped.get(name, name))

    def _holder_code(self, name: str) -> UseCode | None:
        if self._devices.is_partition(name):
            return None
        if name.startswith("md"):
            return UseCode.HELD_BY_MD
        if name not in self._mapped:
            return UseCode.HELD_OPEN if name.startswith(("bcache", "loop")) else None
        identity = self._tree.text(f"sys/devices/{self._devices.paths[name]}/dm/uuid") or ""
        return UseCode.HELD_BY_LVM if identity.startswith("LVM-") else UseCode.HELD_BY_DM

    def _find_exclusive(self, exclusive: ExclusiveProbe) -> None:
        """Looks at the disks that no other use was found of: those of ZFS, DRBD, a mount in a container."""
        unknown: set[PciAddress] = set()
        disks = [disk for disk in self._disks() if not self._devices.functions[disk] <= self._findings.uses.keys()]
        answers = exclusive(disks)
        for disk in disks:
            functions = self._devices.functions[disk]
            held = answers.get(disk)
            if held is False or functions <= self._findings.uses.keys():
                continue
            code, detail = self._signature_use(disk) or (UseCode.HELD_OPEN, disk)
            if held or code is UseCode.HELD_BY_ZFS:
                self._add(disk, code, detail)
            else:
                unknown |= functions
        self._findings.not_known(
            unknown - self._findings.uses.keys(),
            "whether a disk is held by open(O_EXCL), as by ZFS, cannot be told from a captured tree or without root",
        )

    def _disks(self) -> Iterable[str]:
        """Whole disks on PCI functions; the kernel answers for their partitions too."""
        for name, functions in self._devices.functions.items():
            lower = self._devices.below[name]
            if functions and not self._devices.is_nvme_path(name) and all(map(self._devices.is_nvme_path, lower)):
                yield name

    def _signature_use(self, disk: str) -> tuple[UseCode, str] | None:
        """What udev found on the disk or a partition of it, with the name of the pool or volume.

        A ZFS pool counts only while it is imported.
        """
        is_partition = self._devices.is_partition
        parts = [name for name, lower in self._devices.below.items() if disk in lower and is_partition(name)]
        for name in (disk, *parts):
            number = (self._tree.text(f"sys/devices/{self._devices.paths[name]}/dev") or "").strip()
            properties = _udev_properties(self._tree.text(f"run/udev/data/b{number}") or "") if number else {}
            code = _HELD_BY_SIGNATURE.get(properties.get("ID_FS_TYPE", ""))
            label = properties.get("ID_FS_LABEL", name)
            if code is UseCode.HELD_BY_ZFS and not self._tree.exists(f"proc/spl/kstat/zfs/{label}"):
                continue
            if code is not None:
                return code, label
        return None


class _NamesByNumber:
    """Kernel names by major:minor, looked up as needed."""

    def __init__(self, tree: HostTree, devices: BlockDevices) -> None:
        self._tree = tree
        self._paths = devices.paths
        self._all: dict[str, str] | None = None

    def get(self, number: str) -> str | None:
        target = self._tree.link(f"sys/dev/block/{number}")
        if target is not None:
            name = target.rpartition("/")[2]
            return name if name in self._paths else None
        if self._all is None:
            numbers = {name: self._tree.text(f"sys/devices/{path}/dev") for name, path in self._paths.items()}
            self._all = {text.strip(): name for name, text in numbers.items() if text}
        return self._all.get(number)


def _device_mapper_names(tree: HostTree, devices: BlockDevices) -> Iterator[tuple[str, str]]:
    for name, path in devices.paths.items():
        if name.startswith("dm-"):
            yield name, (tree.text(f"sys/devices/{path}/dm/name") or name).strip()


def _udev_properties(text: str) -> dict[str, str]:
    """The properties of a device in udev's database (the lines ``E:KEY=value``)."""
    pairs = (line[2:].partition("=") for line in text.splitlines() if line.startswith("E:"))
    return {key: value for key, _, value in pairs}
