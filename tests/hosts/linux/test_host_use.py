"""What the host itself needs, on hosts of many layouts."""

from collections.abc import Callable, Iterable, Mapping

import pytest

from hosts.host_tree import HostTreeBuilder
from laneway.domain.address import PciAddress
from laneway.domain.inventory import HostUse
from laneway.hosts.linux.exclusive_open import ExclusiveProbe, nobody_can_be_asked
from laneway.hosts.linux.host_use import host_use

Uses = dict[str, list[tuple[str, str | None]] | None]

NVME_A, NVME_B, AHCI, NIC_A, NIC_B, GPU = (
    "0000:01:00.0",
    "0000:02:00.0",
    "0000:00:1f.2",
    "0000:81:00.0",
    "0000:81:00.1",
    "0000:3b:00.0",
)


def nobody(disks: Iterable[str]) -> Mapping[str, bool | None]:
    return dict.fromkeys(disks, False)


def somebody_holds(name: str) -> ExclusiveProbe:
    return lambda disks: {disk: disk == name for disk in disks}


def uses_of(host: HostTreeBuilder, exclusive: ExclusiveProbe = nobody) -> Uses:
    found, _ = host_use(host.root, host.functions, live=False, exclusive=exclusive)
    return {
        str(address): None if uses is None else [(u.code, u.detail) for u in uses] for address, uses in found.items()
    }


def two_nvme_disks(host: HostTreeBuilder) -> None:
    for number, address in enumerate((NVME_A, NVME_B)):
        place = host.function(address, driver="nvme")
        host.disk(f"nvme{number}n1", f"{place}/nvme/nvme{number}", [f"nvme{number}n1p1", f"nvme{number}n1p2"])


def two_ports(host: HostTreeBuilder) -> None:
    for name, address in (("ens1f0", NIC_A), ("ens1f1", NIC_B)):
        host.interface(name, host.function(address, driver="ice"))


# layouts of disks


def mounted_partition(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mount("/boot\\040efi", device="nvme0n1p1")


def lvm_on_dm_crypt_on_md(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.array("md0", ["nvme0n1p2", "nvme1n1p2"])
    host.mapped("dm-0", "luks-root", "CRYPT-LUKS2-0a1b", ["md0"])
    host.mapped("dm-1", "vg0-root", "LVM-abc", ["dm-0"])
    host.mount("/", device="dm-1", source="/dev/mapper/vg0-root")


def swap_on_a_logical_volume(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mapped("dm-0", "vg0-swap", "LVM-abc", ["nvme1n1p1"])
    host.swap("/dev/dm-0")


def volume_that_nobody_mounts(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mapped("dm-0", "vg0-vm1", "LVM-abc", ["nvme1n1"])


def multipath_map(host: HostTreeBuilder) -> None:
    for disk, address in (("sda", NVME_A), ("sdb", NVME_B)):
        host.disk(disk, host.function(address, driver="qla2xxx") + "/host7/rport-7:0-0/target7:0:0/7:0:0:1")
    host.mapped("dm-0", "mpatha", "mpath-3600a0b80", ["sda", "sdb"])
    host.mapped("dm-1", "mpatha1", "part1-mpath-3600a0b80", ["dm-0"])
    host.mount("/srv", device="dm-1")


def btrfs_over_two_disks(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mapped("dm-0", "luks-b", "CRYPT-LUKS2-1", ["nvme1n1p2"])
    for member in ("nvme0n1p2", "dm-0"):
        host.link(f"sys/fs/btrfs/7d2a/devices/{member}", f"../../../../class/block/{member}")
    host.mount("/", source="/dev/nvme0n1p2", kind="btrfs")
    host.mount("/home", source="/dev/nvme0n1p2", kind="btrfs")


def bcachefs_over_two_disks(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mount("/tank", source="/dev/nvme0n1:/dev/nvme1n1", kind="bcachefs")


def overlay_on_a_mounted_disk(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mount("/var/lib/docker", device="nvme1n1p1")
    host.mount("/var/lib/docker/overlay2/x/merged", source="overlay", kind="overlay")


def mounted_for_process_1_only(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.write("proc/1/mountinfo", "")
    host.mount("/", device="nvme0n1p1", table="proc/1/mountinfo")


def nvme_multipath(host: HostTreeBuilder) -> None:
    for number, address in enumerate((NVME_A, NVME_B)):
        place = host.function(address, driver="nvme")
        host.disk(f"nvme0c{number}n1", f"{place}/nvme/nvme{number}")
    host.disk("nvme0n1", "virtual/nvme-subsystem/nvme-subsys0", ["nvme0n1p1"])
    host.mount("/", device="nvme0n1p1")


def nvme_multipath_without_listed_paths(host: HostTreeBuilder) -> None:
    for number, address in enumerate((NVME_A, NVME_B)):
        place = host.function(address, driver="nvme")
        host.node_class("nvme", f"nvme{number}", place)
        host.link(
            f"sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme{number}",
            f"../../../{place}/nvme/nvme{number}",
        )
    host.disk("nvme0n1", "virtual/nvme-subsystem/nvme-subsys0")
    host.mount("/", device="nvme0n1")


def sata_behind_ahci(host: HostTreeBuilder) -> None:
    place = host.function(AHCI, driver="ahci")
    host.disk("sda", f"{place}/ata1/host0/target0:0:0/0:0:0:0", ["sda1"])
    host.mount("/", device="sda1")


def usb_stick(host: HostTreeBuilder) -> None:
    place = host.function("0000:00:14.0", driver="xhci_hcd")
    host.disk("sdb", f"{place}/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0", ["sdb1"])
    host.mount("/media/stick", device="sdb1")


def virtio_disk(host: HostTreeBuilder) -> None:
    host.disk("vda", host.function("0000:00:02.0", driver="virtio-pci") + "/virtio1")
    host.mount("/", device="vda")


def disk_behind_vmd(host: HostTreeBuilder) -> None:
    vmd = host.function("0000:64:00.5", driver="vmd")
    port = host.function("10000:00:02.0", below=f"{vmd}/pci10000:00", driver="pcieport")
    place = host.function("10000:01:00.0", below=port, driver="nvme")
    host.disk("nvme0n1", f"{place}/nvme/nvme0")
    host.mount("/", device="nvme0n1")


def disk_of_a_virtual_function(host: HostTreeBuilder) -> None:
    host.function("0000:21:00.0", driver="nvme")
    host.disk("nvme1n1", host.function("0000:21:00.1", driver="nvme") + "/nvme/nvme1")
    host.mount("/scratch", device="nvme1n1")


def iscsi_disk(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.disk("sdc", "platform/host8/session1/target8:0:0/8:0:0:0")
    host.mount("/mnt/iscsi", device="sdc")


def loop_over_a_file(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mount("/", device="nvme0n1p1")
    host.disk("loop0", "virtual/block")
    host.write("sys/class/block/loop0/loop/backing_file", "/images/a.img\n")
    host.mount("/snap/a", device="loop0")


def loop_over_a_disk(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.disk("loop0", "virtual/block")
    host.write("sys/class/block/loop0/loop/backing_file", "/dev/nvme1n1\n")
    host.mount("/mnt", device="loop0")


def partitions_of_an_array(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.array("md126", ["nvme0n1", "nvme1n1"])
    host.disk("md126p1", "virtual/block/md126")
    host.mount("/", device="md126p1")


def zfs_pool_found_by_udev(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.write("proc/spl/kstat/zfs/tank/state", "ONLINE\n")
    for part, pool in (("nvme0n1p1", "tank"), ("nvme1n1p1", "exported")):
        host.write(f"run/udev/data/b{host.number(part)}", f"S:disk/x\nE:ID_FS_TYPE=zfs_member\nE:ID_FS_LABEL={pool}\n")


def old_table_of_mounts(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.mapped("dm-0", "vg0-root", "LVM-a", ["nvme0n1"])
    host.remove("proc/self/mountinfo")
    host.write("proc/mounts", "/dev/mapper/vg0-root / ext4 rw 0 0\n/dev/nvme1n1p1 /boot ext4 rw 0 0\n")


def name_by_a_link_in_dev(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.write("dev/nvme1n1", "")
    host.link("dev/disk/by-uuid/11-22", "../../nvme1n1")
    host.mount("/data", source="/dev/disk/by-uuid/11-22", kind="btrfs")


def both(*uses: tuple[str, str | None]) -> Uses:
    return {NVME_A: list(uses), NVME_B: list(uses)}


ROOT: tuple[str, str | None] = ("mounted", "/")
DISKS: list[tuple[Callable[[HostTreeBuilder], None], Uses]] = [
    (two_nvme_disks, {NVME_A: [], NVME_B: []}),
    (mounted_partition, {NVME_A: [("mounted", "/boot efi")], NVME_B: []}),
    (
        lvm_on_dm_crypt_on_md,
        both(ROOT, ("held_by_lvm", "vg0-root"), ("held_by_md", "md0"), ("held_by_dm", "luks-root")),
    ),
    (swap_on_a_logical_volume, {NVME_A: [], NVME_B: [("swap", "vg0-swap"), ("held_by_lvm", "vg0-swap")]}),
    (volume_that_nobody_mounts, {NVME_A: [], NVME_B: [("held_by_lvm", "vg0-vm1")]}),
    (
        multipath_map,
        both(("mounted", "/srv"), ("held_by_dm", "mpatha"), ("held_by_dm", "mpatha1")),
    ),
    (btrfs_over_two_disks, {NVME_A: [ROOT], NVME_B: [ROOT, ("held_by_dm", "luks-b")]}),
    (bcachefs_over_two_disks, both(("mounted", "/tank"))),
    (overlay_on_a_mounted_disk, {NVME_A: [], NVME_B: [("mounted", "/var/lib/docker")]}),
    (mounted_for_process_1_only, {NVME_A: [ROOT], NVME_B: []}),
    (nvme_multipath, {NVME_A: [ROOT], NVME_B: [ROOT]}),
    (nvme_multipath_without_listed_paths, {NVME_A: [ROOT], NVME_B: [ROOT]}),
    (sata_behind_ahci, {AHCI: [ROOT]}),
    (usb_stick, {"0000:00:14.0": [("mounted", "/media/stick")]}),
    (virtio_disk, {"0000:00:02.0": [ROOT]}),
    (disk_behind_vmd, {"0000:64:00.5": [ROOT], "10000:00:02.0": [], "10000:01:00.0": [ROOT]}),
    (disk_of_a_virtual_function, {"0000:21:00.0": [], "0000:21:00.1": [("mounted", "/scratch")]}),
    (iscsi_disk, {NIC_A: [], NIC_B: []}),
    (loop_over_a_file, {NVME_A: [ROOT], NVME_B: []}),
    (loop_over_a_disk, {NVME_A: [], NVME_B: [("mounted", "/mnt"), ("held_open", "loop0")]}),
    (partitions_of_an_array, both(ROOT, ("held_by_md", "md126"))),
    (old_table_of_mounts, {NVME_A: [ROOT, ("held_by_lvm", "vg0-root")], NVME_B: [("mounted", "/boot")]}),
    (name_by_a_link_in_dev, {NVME_A: [], NVME_B: [("mounted", "/data")]}),
]


@pytest.mark.parametrize(("layout", "expected"), DISKS, ids=[layout.__name__ for layout, _ in DISKS])
def test_disks_are_traced_down_to_all_functions_below(
    host: HostTreeBuilder, layout: Callable[[HostTreeBuilder], None], expected: Uses
) -> None:
    layout(host)
    assert uses_of(host) == expected


# layouts of interfaces


def port_that_is_up_without_an_address(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.address6("ens1f0", scope="20")


def port_with_the_default_route(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.address("ens1f0", "192.0.2.7")
    host.default_route("ens1f0")


def ipv6_only_default_route(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.default_route6("ens1f1")
    host.default_route6("lo", "00200200")


def port_with_an_ipv6_address(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.address6("ens1f1")
    host.address6("lo", scope="10")


def bond_over_two_ports(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.upper("bond0", "ens1f0", master=True)
    host.upper("bond0", "ens1f1", master=True)
    host.upper("br0", "bond0", master=True)
    host.address("br0", "198.51.100.2")
    host.default_route("br0")


def open_vswitch(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.upper("ovs-system", "ens1f1", master=True)


def master_alone(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.link("sys/class/net/ens1f0/master", "../../../../../virtual/net/ovs-system")


def vlan_with_an_address(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.upper("ens1f0.7", "ens1f0")
    host.address("ens1f0.7", "203.0.113.9")


def pppoe_session(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.upper("ens1f1.7", "ens1f1")
    host.write("proc/net/pppoe", "Id       Address              Device\n00000A01 02:00:00:00:00:01 ens1f1.7\n")
    host.interface("ppp0", "virtual")
    host.default_route("ppp0")


def virtual_function_with_an_address(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.interface("ens1f0v0", host.function("0000:81:02.0", driver="iavf"))
    host.address("ens1f0v0", "192.0.2.9")


def virtio_interface(host: HostTreeBuilder) -> None:
    host.interface("eth0", host.function("0000:00:03.0", driver="virtio-pci") + "/virtio2")
    host.address("eth0", "192.0.2.2")


def link_local_and_loopback_addresses(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.address("ens1f0", "169.254.3.4")
    host.address("lo", "127.0.0.1")


def unreachable_default(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.append("proc/net/route", "*\t00000000\t00000000\t0200\t0\t0\t0\t00000000\t0\t0\t0\n")


def virtual_interfaces_only(host: HostTreeBuilder) -> None:
    host.function(NIC_A, driver="vfio-pci")
    host.interface("docker0", "virtual")
    host.address("docker0", "172.17.0.1")
    host.write("sys/class/net/bonding_masters", "\n")


ON_BR0: list[tuple[str, str | None]] = [("default_route", "br0"), ("address", "br0"), ("upper_device", "bond0")]
INTERFACES: list[tuple[Callable[[HostTreeBuilder], None], Uses]] = [
    (port_that_is_up_without_an_address, {NIC_A: [], NIC_B: []}),
    (port_with_the_default_route, {NIC_A: [("default_route", "ens1f0"), ("address", "ens1f0")], NIC_B: []}),
    (ipv6_only_default_route, {NIC_A: [], NIC_B: [("default_route", "ens1f1")]}),
    (port_with_an_ipv6_address, {NIC_A: [], NIC_B: [("address", "ens1f1")]}),
    (bond_over_two_ports, {NIC_A: ON_BR0, NIC_B: ON_BR0}),
    (open_vswitch, {NIC_A: [], NIC_B: [("upper_device", "ovs-system")]}),
    (master_alone, {NIC_A: [("upper_device", "ovs-system")], NIC_B: []}),
    (vlan_with_an_address, {NIC_A: [("address", "ens1f0.7"), ("upper_device", "ens1f0.7")], NIC_B: []}),
    (pppoe_session, {NIC_A: [], NIC_B: [("upper_device", "PPPoE session on ens1f1.7"), ("upper_device", "ens1f1.7")]}),
    (virtual_function_with_an_address, {NIC_A: [], NIC_B: [], "0000:81:02.0": [("address", "ens1f0v0")]}),
    (virtio_interface, {"0000:00:03.0": [("address", "eth0")]}),
    (link_local_and_loopback_addresses, {NIC_A: [], NIC_B: []}),
    (unreachable_default, {NIC_A: [], NIC_B: []}),
    (virtual_interfaces_only, {NIC_A: []}),
]


@pytest.mark.parametrize(("layout", "expected"), INTERFACES, ids=[layout.__name__ for layout, _ in INTERFACES])
def test_interfaces_are_in_use_by_their_traffic_and_by_what_stands_on_them(
    host: HostTreeBuilder, layout: Callable[[HostTreeBuilder], None], expected: Uses
) -> None:
    layout(host)
    assert uses_of(host) == expected


# disks that are held without a trace in sysfs


def test_a_disk_that_open_exclusive_finds_busy_is_held(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    assert uses_of(host, somebody_holds("nvme1n1")) == {NVME_A: [], NVME_B: [("held_open", "nvme1n1")]}


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("zfs_member", ("held_by_zfs", "tank")),
        ("LVM2_member", ("held_by_lvm", "tank")),
        ("linux_raid_member", ("held_by_md", "tank")),
        ("drbd", ("held_open", "nvme0n1")),
    ],
)
def test_the_signature_on_a_busy_disk_tells_who_holds_it(
    host: HostTreeBuilder, signature: str, expected: tuple[str, str]
) -> None:
    two_nvme_disks(host)
    host.write("proc/spl/kstat/zfs/tank/state", "ONLINE\n")
    data = f"E:ID_FS_TYPE={signature}\nE:ID_FS_LABEL=tank\n"
    host.write(f"run/udev/data/b{host.number('nvme0n1p1')}", data)
    assert uses_of(host, somebody_holds("nvme0n1"))[NVME_A] == [expected]


def test_an_imported_zfs_pool_is_found_where_nobody_can_be_asked(host: HostTreeBuilder) -> None:
    zfs_pool_found_by_udev(host)
    assert uses_of(host, nobody_can_be_asked) == {NVME_A: [("held_by_zfs", "tank")], NVME_B: None}


def test_only_whole_disks_without_another_use_are_asked_about(host: HostTreeBuilder) -> None:
    nvme_multipath(host)
    place = host.function(AHCI, driver="ahci")
    host.disk("sda", f"{place}/ata1/host0/target0:0:0/0:0:0:0", ["sda1"])
    host.disk("loop0", "virtual/block")
    asked: list[str] = []

    def ask(disks: Iterable[str]) -> Mapping[str, bool | None]:
        asked.extend(disks)
        return nobody(asked)

    uses_of(host, ask)
    assert asked == ["sda"]


# what is not known


def test_a_tree_of_the_bus_alone_tells_nothing_of_any_function(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    (host.root / "sys/class").rename(host.root / "sys/nothing")
    (host.root / "proc").rename(host.root / "nothing")
    found, problems = host_use(host.root, host.functions, live=False)
    assert dict(found) == dict.fromkeys(host.functions)
    assert {problem.attribute for problem in problems} == {"in_use_by"}
    assert ["sys/class/block" in (problem.message or "") for problem in problems] == [True, False]


@pytest.mark.parametrize(
    ("missing", "unknown"),
    [
        ("proc/self/mountinfo", {NVME_A, NVME_B}),
        ("proc/swaps", {NVME_A, NVME_B}),
        ("proc/net/route", {NIC_A, NIC_B}),
        ("proc/net/fib_trie", {NIC_A, NIC_B}),
        ("proc/net/if_inet6", {NIC_A, NIC_B}),
        ("proc/net/ipv6_route", {NIC_A, NIC_B}),
    ],
)
def test_a_missing_table_leaves_open_only_what_it_would_tell(
    host: HostTreeBuilder, missing: str, unknown: set[str]
) -> None:
    two_nvme_disks(host)
    two_ports(host)
    host.function(GPU, driver="vfio-pci")
    host.remove(missing)
    found = uses_of(host)
    assert {address for address, uses in found.items() if uses is None} == unknown
    assert found[GPU] == []


def test_a_use_that_is_known_is_told_though_others_are_not(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.swap("/dev/nvme0n1p1")
    host.remove("proc/self/mountinfo")
    assert uses_of(host) == {NVME_A: [("swap", "nvme0n1p1")], NVME_B: None}


@pytest.mark.parametrize(
    "table",
    ["proc/net/route", "proc/net/fib_trie", "proc/net/if_inet6", "proc/net/ipv6_route", "proc/swaps"],
)
def test_a_table_of_nonsense_raises_nothing(host: HostTreeBuilder, table: str) -> None:
    two_ports(host)
    host.append(table, "x y z w v u t s r q\n|-- a.b\n/32 host LOCAL\n")
    assert set(uses_of(host)) == {NIC_A, NIC_B}


def test_an_address_that_no_route_covers_may_be_on_any_interface(host: HostTreeBuilder) -> None:
    two_ports(host)
    host.append("proc/net/fib_trie", "  |-- 203.0.113.255\n     /32 host LOCAL\n")
    assert uses_of(host) == {NIC_A: None, NIC_B: None}


def test_an_interface_in_another_namespace_is_noted(host: HostTreeBuilder) -> None:
    place = host.function(NIC_A, driver="ice")
    (host.root / "sys/devices" / place / "net").mkdir()
    found, problems = host_use(host.root, host.functions, live=False, exclusive=nobody)
    assert found[PciAddress.parse(NIC_A)] is None
    assert [(p.address, "namespace" in (p.message or "")) for p in problems] == [(NIC_A, True)]


def test_a_function_outside_the_device_tree_is_not_known(host: HostTreeBuilder) -> None:
    host.functions[PciAddress.parse(GPU)] = str(host.root / "sys/bus/pci/devices" / GPU)
    assert uses_of(host) == {GPU: None}


def test_whole_disks_alone_are_enough_to_find_their_partitions(host: HostTreeBuilder) -> None:
    place = host.function(AHCI, driver="ahci") + "/ata1/host0/target0:0:0/0:0:0:0"
    host.disk("sda", place, ["sda1"])
    number = host.number("sda1")
    (host.root / "sys/class/block").rename(host.root / "sys/block")
    host.remove("sys/block/sda1")
    host.remove("sys/block/sda")
    host.link("sys/block/sda", f"../devices/{place}/block/sda")
    host.append("proc/self/mountinfo", f"36 1 {number} / / rw - ext4 /dev/root rw\n")
    assert uses_of(host) == {AHCI: [ROOT]}


def test_device_numbers_are_read_from_the_devices_where_sys_dev_is_missing(host: HostTreeBuilder) -> None:
    mounted_partition(host)
    (host.root / "sys/dev").rename(host.root / "sys/gone")
    assert uses_of(host) == {NVME_A: [("mounted", "/boot efi")], NVME_B: []}


# processes and the console


NODES = [
    ("nvme", "nvme7", "/dev/nvme7"),
    ("nvme-generic", "ng7n1", "/dev/ng7n1"),
    ("drm", "card1", "/dev/dri/card1"),
    ("drm", "renderD129", "/dev/dri/renderD129"),
    ("infiniband_verbs", "uverbs3", "/dev/infiniband/uverbs3"),
    ("uio", "uio0", "/dev/uio0"),
    ("accel", "accel0", "/dev/accel/accel0"),
]


@pytest.mark.parametrize(("kind", "name", "node"), NODES, ids=[node for _, _, node in NODES])
def test_a_node_that_a_process_holds_puts_its_function_in_use(
    host: HostTreeBuilder, kind: str, name: str, node: str
) -> None:
    host.node_class(kind, name, host.function(GPU))
    host.function(NIC_A)
    host.process(812, "worker", "/dev/null", "socket:[1]", node)
    assert uses_of(host) == {GPU: [("device_node_open", f"{node} by worker (812)")], NIC_A: []}


def test_a_disk_that_a_process_holds_is_in_use(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.process(99, "qemu-system-x86", "/dev/nvme1n1p2")
    assert uses_of(host)[NVME_B] == [("device_node_open", "/dev/nvme1n1p2 by qemu-system-x86 (99)")]


def test_udev_which_looks_at_every_new_disk_does_not_use_it(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.process(99, "(udev-worker)", "/dev/nvme1n1", "/dev/nvme1n1p2")
    assert uses_of(host)[NVME_B] == []


def test_who_uses_a_disk_is_found_beside_udev(host: HostTreeBuilder) -> None:
    two_nvme_disks(host)
    host.process(99, "systemd-udevd", "/dev/nvme1n1")
    host.process(101, "qemu-system-x86", "/dev/nvme1n1")
    assert uses_of(host)[NVME_B] == [("device_node_open", "/dev/nvme1n1 by qemu-system-x86 (101)")]


def test_a_node_of_nvidias_driver_is_found_by_its_minor(host: HostTreeBuilder) -> None:
    host.function(GPU, driver="nvidia")
    host.write(f"proc/driver/nvidia/gpus/{GPU}/information", "Model: \t\t NVIDIA A100\nDevice Minor: \t 2\n")
    host.process(7, "python3", "/dev/nvidiactl", "/dev/nvidia2")
    assert uses_of(host) == {GPU: [("device_node_open", "/dev/nvidia2 by python3 (7)")]}


def test_without_the_processes_functions_with_nodes_are_not_known(host: HostTreeBuilder) -> None:
    host.node_class("drm", "card0", host.function(GPU))
    host.function(NIC_A)
    (host.root / "proc/1/fd").rmdir()
    assert uses_of(host) == {GPU: None, NIC_A: []}


def test_the_boot_vga_device_is_the_consoles(host: HostTreeBuilder) -> None:
    place = host.function(GPU, driver="ast")
    host.write(f"sys/devices/{place}/boot_vga", "1\n")
    other = host.function(NIC_A, driver="amdgpu")
    host.write(f"sys/devices/{other}/boot_vga", "0\n")
    assert uses_of(host) == {GPU: [("boot_console", "boot_vga")], NIC_A: []}


def test_a_boot_vga_device_on_vfio_pci_has_lost_its_console(host: HostTreeBuilder) -> None:
    place = host.function(GPU, driver="vfio-pci")
    host.write(f"sys/devices/{place}/boot_vga", "1\n")
    assert uses_of(host) == {GPU: []}


def test_the_first_framebuffer_is_the_consoles_and_others_are_not(host: HostTreeBuilder) -> None:
    for name, address in (("fb10", NIC_A), ("fb2", GPU)):
        host.node_class("graphics", name, host.function(address))
    host.write("sys/class/graphics/fbcon/uevent", "")
    assert uses_of(host) == {GPU: [("boot_console", "fb2")], NIC_A: []}


def test_a_directory_may_be_given_relative_to_the_root(host: HostTreeBuilder) -> None:
    mounted_partition(host)
    functions = {a: d.removeprefix(f"{host.root}") for a, d in host.functions.items()}
    found, problems = host_use(host.root, functions, live=False, exclusive=nobody)
    assert found[PciAddress.parse(NVME_A)] == (HostUse(code="mounted", detail="/boot efi"),)
    assert problems == []


def test_entries_that_are_listed_already_are_not_looked_for_again(host: HostTreeBuilder) -> None:
    gpu, nic = host.function(GPU, driver="ast"), host.function(NIC_A, driver="ice")
    host.write(f"sys/devices/{gpu}/boot_vga", "1\n")
    (host.root / "sys/devices" / nic / "net").mkdir()
    addresses = PciAddress.parse(GPU), PciAddress.parse(NIC_A)

    def codes(*entries: set[str]) -> list[list[str] | None]:
        found, _ = host_use(
            host.root, host.functions, live=False, exclusive=nobody, entries=dict(zip(addresses, entries, strict=False))
        )
        return [None if uses is None else [use.code for use in uses] for uses in map(found.get, addresses)]

    assert codes({"boot_vga", "net"}, {"net"}) == [["boot_console"], None]
    assert codes({"config"}) == [[], []]
