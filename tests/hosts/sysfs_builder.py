"""Makes directory trees that look like the /sys and /proc of a Linux host.

    host = SysfsBuilder(tmp_path)
    port = host.function("0000:80:01.0", "8086", "2030", class_code="060400")
    card = host.function("0000:81:00.0", "8086", "1572", below=port, driver="i40e", total_vfs=64)
    card.netdev("ens1f0", mac="3c:fd:fe:00:00:01")
    card.vf("0000:81:02.0", "154c", driver="iavf")

Attributes have the kernel's form (drivers/pci/pci-sysfs.c); ``attribute`` sets and ``without``
takes away single ones, so that a test shows what is special about its host.
"""

import os
import shutil
from pathlib import Path
from typing import Self, TypedDict, Unpack

_COMMON = {
    "ari_enabled": "0",
    "broken_parity_status": "0",
    "consistent_dma_mask_bits": "64",
    "d3cold_allowed": "1",
    "dma_mask_bits": "64",
    "enable": "1",
    "irq": "16",
    "local_cpulist": "0-7",
    "local_cpus": "ff",
    "msi_bus": "1",
    "power_state": "D0",
    "remove": "",
    "rescan": "",
}
_UNUSED_REGISTER = "0x0000000000000000 0x0000000000000000 0x0000000000000000"
MEMORY_64_BITS = 0x140204
MEMORY_32_BITS = 0x40200
PREFETCHABLE_64_BITS = 0x14220C
IO_PORTS = 0x40101


def register(size: int, flags: int = MEMORY_64_BITS, start: int = 0xFBA00000) -> str:
    """A line of ``resource``."""
    return f"0x{start:016x} 0x{start + size - 1:016x} 0x{flags:016x}"


class Facts(TypedDict, total=False):
    """What may be special about a function; what is not given is as of a network card."""

    class_code: str
    subsystem: str
    """Vendor and device, such as ``8086:0001``."""
    revision: str
    driver: str
    numa_node: int
    iommu_group: int
    link: str | None
    """The speed; None is a function that is not on PCIe."""
    reset_method: str | None
    """None is a function that cannot be reset."""
    total_vfs: int
    vf_device: str


class Directory:
    """A directory of the tree, with attributes and links."""

    def __init__(self, host: "SysfsBuilder", path: Path) -> None:
        self.host = host
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def attribute(self, name: str, value: str | bytes) -> Self:
        """Text gets the line end that the kernel writes; bytes are written as they are."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else f"{value}\n".encode())
        return self

    def without(self, *names: str) -> Self:
        for name in names:
            path = self.path / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        return self

    def link(self, name: str, target: Path) -> Self:
        """A relative link, as all links of sysfs are; it may lead nowhere."""
        (self.path / name).symlink_to(os.path.relpath(target, self.path))
        return self


class FunctionDirectory(Directory):
    """The directory of a PCI function."""

    def __init__(self, host: "SysfsBuilder", path: Path, *, root: str) -> None:
        super().__init__(host, path)
        self.root = root
        self.vfs = 0

    @property
    def name(self) -> str:
        return self.path.name

    def vf(self, address: str, device: str, **facts: Unpack[Facts]) -> "FunctionDirectory":
        """A VF of this function, the next by index, linked both ways; ``facts`` as of ``function``."""
        vendor = (self.path / "vendor").read_text().strip().removeprefix("0x")
        vf = self.host.place(self.path.parent / address, root=self.root, vendor=vendor, device=device, **facts)
        vf.link("physfn", self.path)
        self.link(f"virtfn{self.vfs}", vf.path)
        self.vfs += 1
        self.attribute("sriov_numvfs", str(self.vfs))
        return vf

    def netdev(self, name: str, *, mac: str = "02:00:00:00:00:01", port: int = 0, bus: str = "") -> Directory:
        """A network interface; ``bus`` is the directory between, such as ``virtio0``."""
        netdev = Directory(self.host, self.path / bus / "net" / name)
        for attribute, value in {
            "address": mac,
            "addr_assign_type": "0",
            "dev_port": str(port),
            "flags": "0x1003",
            "operstate": "up",
            "phys_port_name": f"p{port}",
            "speed": "25000",
        }.items():
            netdev.attribute(attribute, value)
        netdev.link("device", self.path / bus)
        self.host.list_in("sys/class/net", netdev.path)
        return netdev

    def block_device(self, disk: str, *, number: str = "259:0", bus: str = "nvme/nvme0") -> Directory:
        """A disk below this function; ``bus`` are the directories between."""
        block = Directory(self.host, self.path / bus / disk).attribute("dev", number).attribute("size", "2048")
        self.host.list_in("sys/class/block", block.path)
        self.host.list_in("sys/block", block.path)
        return block

    def vdpa(self, name: str, *, driver: str | None = "vhost_vdpa", bus: str = "") -> Directory:
        """A vDPA device on this function; ``bus`` is the auxiliary device between, if any."""
        vdpa = Directory(self.host, self.path / bus / name)
        if driver is not None:
            vdpa.link("driver", self.host.root / "sys/bus/vdpa/drivers" / driver)
        if driver == "vhost_vdpa":
            Directory(self.host, vdpa.path / f"vhost-vdpa-{name.lstrip('vdpa')}")
        self.host.list_in("sys/bus/vdpa/devices", vdpa.path)
        return vdpa

    def registers(self, *lines: str) -> Self:
        """The lines of ``resource`` from the first; the rest of the 13 are unused."""
        return self.attribute("resource", "\n".join((*lines, *[_UNUSED_REGISTER] * (13 - len(lines)))))


class SysfsBuilder:
    """A host below ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "sys/bus/pci/devices").mkdir(parents=True)

    def function(
        self,
        address: str,
        vendor: str = "8086",
        device: str = "1572",
        *,
        below: FunctionDirectory | None = None,
        root: str | None = None,
        **facts: Unpack[Facts],
    ) -> FunctionDirectory:
        """A PCI function, on a root bus or ``below`` a bridge; ``root`` names a bus other than its own."""
        bus = root or address.rpartition(":")[0]
        parent = below.path if below is not None else self.root / f"sys/devices/pci{bus}"
        place = below.root if below is not None else bus
        return self.place(parent / address, root=place, vendor=vendor, device=device, **facts)

    def place(self, path: Path, *, root: str, vendor: str, device: str, **facts: Unpack[Facts]) -> FunctionDirectory:
        """A PCI function whose directory is ``path``."""
        function = FunctionDirectory(self, path, root=root)
        _write_identity(function, vendor, device, facts)
        _write_facts(function, facts)
        self.list_in("sys/bus/pci/devices", path)
        return function

    def list_in(self, directory: str, path: Path) -> None:
        """Links to ``path`` under its own name from a directory of links."""
        Directory(self, self.root / directory).link(path.name, path)

    def broken(self, address: str) -> Directory:
        """A directory in the list of functions that has none of the attributes of one."""
        directory = Directory(self, self.root / f"sys/devices/pci{address.rpartition(':')[0]}" / address)
        self.list_in("sys/bus/pci/devices", directory.path)
        return directory

    def dangling(self, name: str) -> None:
        """A link in the list of functions that leads nowhere."""
        Directory(self, self.root / "sys/bus/pci/devices").link(name, self.root / "sys/devices/pci0000:00" / name)

    def remove(self, address: str) -> None:
        """Takes a function away, as a hot unplug does."""
        link = self.root / "sys/bus/pci/devices" / address
        shutil.rmtree(link.resolve())
        link.unlink()

    def numa_node(
        self, node: int, *, cpus: str = "", distances: str | None = None, socket: int | None = None, siblings: str = ""
    ) -> Self:
        """A NUMA node; ``siblings`` are the CPUs of its first CPU's socket, the node's own if not given."""
        directory = Directory(self, self.root / f"sys/devices/system/node/node{node}").attribute("cpulist", cpus)
        if distances is not None:
            directory.attribute("distance", distances)
        if socket is not None:
            first = cpus.partition(",")[0].partition("-")[0]
            topology = Directory(self, self.root / f"sys/devices/system/cpu/cpu{first}/topology")
            topology.attribute("physical_package_id", str(socket))
            topology.attribute("package_cpus_list", siblings or cpus)
        return self

    def reserved_regions(self, group: int, *regions: str) -> Self:
        return self.file(f"sys/kernel/iommu_groups/{group}/reserved_regions", "\n".join(regions) + "\n")

    def file(self, path: str, content: str | bytes) -> Self:
        """Any file, such as ``proc/cmdline``."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self


def _write_identity(function: FunctionDirectory, vendor: str, device: str, facts: Facts) -> None:
    class_code, driver = facts.get("class_code", "020000"), facts.get("driver")
    subsystem = facts.get("subsystem", "8086:0001")
    subvendor, _, subdevice = subsystem.partition(":")
    modalias = (
        f"pci:v0000{vendor.upper()}d0000{device.upper()}sv0000{subvendor.upper()}sd0000{subdevice.upper()}"
        f"bc{class_code[:2].upper()}sc{class_code[2:4].upper()}i{class_code[4:].upper()}"
    )
    uevent = [
        *([f"DRIVER={driver}"] if driver else []),
        f"PCI_CLASS={int(class_code, 16):X}",
        f"PCI_ID={vendor}:{device}".upper(),
        f"PCI_SUBSYS_ID={subsystem}".upper(),
        f"PCI_SLOT_NAME={function.name}",
        f"MODALIAS={modalias}",
    ]
    for name, value in {
        "class": f"0x{class_code}",
        "device": f"0x{device}",
        "modalias": modalias,
        "revision": f"0x{facts.get('revision', '02')}",
        "subsystem_device": f"0x{subdevice}",
        "subsystem_vendor": f"0x{subvendor}",
        "uevent": "\n".join(uevent),
        "vendor": f"0x{vendor}",
    }.items():
        function.attribute(name, value)
    if driver:
        drivers = Directory(function.host, function.host.root / "sys/bus/pci/drivers" / driver)
        function.link("driver", drivers.path)
        drivers.link(function.name, function.path)


def _write_facts(function: FunctionDirectory, facts: Facts) -> None:
    attributes = _COMMON | {"driver_override": "(null)", "numa_node": str(facts.get("numa_node", -1))}
    link, reset_method = facts.get("link", "16.0 GT/s PCIe"), facts.get("reset_method", "flr bus")
    if link is not None:
        attributes |= {
            "current_link_speed": link,
            "current_link_width": "8",
            "max_link_speed": link,
            "max_link_width": "16",
        }
    if reset_method is not None:
        attributes["reset_method"] = reset_method
    if "total_vfs" in facts:
        attributes |= {
            "sriov_drivers_autoprobe": "1",
            "sriov_numvfs": "0",
            "sriov_offset": "16",
            "sriov_stride": "1",
            "sriov_totalvfs": str(facts["total_vfs"]),
            "sriov_vf_device": facts.get("vf_device", "154c"),
        }
    for name, value in attributes.items():
        function.attribute(name, value)
    function.registers(register(65536, PREFETCHABLE_64_BITS), _UNUSED_REGISTER, _UNUSED_REGISTER, register(16384))
    function.attribute("config", bytes(4096))
    if "iommu_group" in facts:
        group = Directory(function.host, function.host.root / f"sys/kernel/iommu_groups/{facts['iommu_group']}")
        function.link("iommu_group", group.path)
        Directory(function.host, group.path / "devices").link(function.name, function.path)
        if not (group.path / "reserved_regions").exists():
            group.attribute("reserved_regions", "0x00000000fee00000 0x00000000feefffff msi")
