"""The driver as a whole: what is listed, what is left out, and the host around it."""

import sys
from pathlib import Path

import pytest

from hosts.sysfs_builder import SysfsBuilder
from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import OperatingSystem, Problem
from laneway.hosts.linux import LinuxHostDriver, LinuxHostDriverFactory, discovery
from laneway.hosts.linux.functions import Surroundings, read_functions
from laneway.hosts.linux.iommu_groups import ReservedMemory
from laneway.hosts.linux.listing import list_functions
from laneway.hosts.linux.netdevs import NetdevReader
from laneway.hosts.linux.openers import Openers, OpenNodes
from laneway.hosts.linux.tree import HostTree

CARD = "0000:81:00.0"


@pytest.fixture
def sysfs(tmp_path: Path) -> SysfsBuilder:
    return SysfsBuilder(tmp_path)


def addresses(sysfs: SysfsBuilder) -> list[str]:
    return [str(function.address) for function in LinuxHostDriver(sysfs.root).discover().functions]


def notes(sysfs: SysfsBuilder) -> dict[str | None, str | None]:
    """What is noted, but for what a tree cannot tell of the host's use."""
    problems = LinuxHostDriver(sysfs.root).discover().problems
    return {problem.address: problem.message for problem in problems if problem.attribute != "in_use_by"}


def test_every_function_is_listed_in_bus_order_bridges_and_32_bit_domains_too(sysfs: SysfsBuilder) -> None:
    """Rule C14."""
    vmd = sysfs.function("0000:64:00.5", class_code="010400")
    for address in ("10000:e1:00.0", "0001:00:00.0", CARD):
        sysfs.function(address)
    sysfs.function("0000:00:1f.0", class_code="060100")
    sysfs.function("10001:00:01.0", below=vmd)
    assert addresses(sysfs) == [
        *("0000:00:1f.0", "0000:64:00.5", CARD),
        *("0001:00:00.0", "10000:e1:00.0", "10001:00:01.0"),
    ]
    assert notes(sysfs) == {}


def test_a_directory_without_ids_is_noted_and_left_out(sysfs: SysfsBuilder) -> None:
    sysfs.function("0000:00:02.0")
    sysfs.broken("0000:00:03.0")
    sysfs.function("0000:00:04.0").without("uevent").attribute("vendor", "what")
    sysfs.function("0000:00:05.0").without("uevent", "device")
    assert addresses(sysfs) == ["0000:00:02.0"]
    assert notes(sysfs).keys() == {"0000:00:03.0", "0000:00:04.0", "0000:00:05.0"}


def test_a_link_that_leads_nowhere_and_a_name_that_is_no_address_are_noted(sysfs: SysfsBuilder) -> None:
    sysfs.function("0000:00:02.0")
    sysfs.dangling("0000:00:03.0")
    sysfs.dangling("lost+found")
    assert addresses(sysfs) == ["0000:00:02.0"]
    found = notes(sysfs)
    assert "cannot be read: No such file or directory" in str(found["0000:00:03.0"])
    assert "'lost+found' is not a PCI address" in str(found["lost+found"])


def read_after(sysfs: SysfsBuilder, vanished: str, *, but_lists: bool) -> list[str]:
    """The functions that are found when one vanishes after it was listed, all of it or all but its directory."""
    tree, problems = HostTree(sysfs.root), list[Problem]()
    listed = list_functions(tree, problems)
    if but_lists:
        for file in (sysfs.root / "sys/bus/pci/devices" / vanished).resolve().iterdir():
            if file.name != "uevent":
                file.unlink()
    else:
        sysfs.remove(vanished)
    found = read_functions(listed, surroundings_of(tree))
    return [str(function.address) for function in found]


def surroundings_of(tree: HostTree) -> Surroundings:
    return Surroundings(
        netdevs=NetdevReader(None),
        reserved_memory=ReservedMemory(tree),
        vdpa={},
        in_use_by={},
        openers=Openers(tree, OpenNodes({}, complete=True)),
    )


class ComingFunction:
    """A function whose ids cannot be read before so many moments have passed; then it is whole, or gone."""

    def __init__(self, sysfs: SysfsBuilder, address: str, *, comes_after: int | None, goes_after: int | None) -> None:
        self.waited = 0
        self._sysfs = sysfs
        self._address = address
        self._comes_after = comes_after
        self._goes_after = goes_after
        folder = (sysfs.root / "sys/bus/pci/devices" / address).resolve()
        self._ids = {file: file.read_text() for file in (folder / "uevent", folder / "vendor")}
        for file in self._ids:
            file.unlink()

    def wait(self, seconds: float) -> None:
        assert 0 < seconds < 0.1
        self.waited += 1
        if self.waited == self._comes_after:
            for file, text in self._ids.items():
                file.write_text(text)
        if self.waited == self._goes_after:
            self._sysfs.remove(self._address)


@pytest.mark.parametrize(
    ("comes_after", "goes_after", "found", "noted", "waited"),
    [
        pytest.param(1, None, True, False, 1, id="it comes"),
        pytest.param(3, None, True, False, 3, id="it comes slowly"),
        pytest.param(None, 2, False, False, 2, id="it goes"),
        pytest.param(None, None, False, True, 5, id="it is broken"),
    ],
)
def test_a_function_that_comes_or_goes_is_read_again_until_it_is_whole_or_gone(
    sysfs: SysfsBuilder, comes_after: int | None, goes_after: int | None, found: bool, noted: bool, waited: int
) -> None:
    sysfs.function("0000:00:03.0")
    coming = ComingFunction(sysfs, "0000:00:03.0", comes_after=comes_after, goes_after=goes_after)
    tree, problems = HostTree(sysfs.root), list[Problem]()
    functions = read_functions(list_functions(tree, problems), surroundings_of(tree), coming.wait)
    assert [str(function.address) for function in functions] == ["0000:00:03.0"] * found
    assert [problem.attribute for problem in problems] == ["vendor_id"] * noted
    assert coming.waited == waited


def test_a_function_that_vanishes_while_it_is_read_is_left_out(sysfs: SysfsBuilder) -> None:
    """Rule C32."""
    sysfs.function("0000:00:02.0")
    sysfs.function("0000:00:03.0")
    assert read_after(sysfs, "0000:00:03.0", but_lists=False) == ["0000:00:02.0"]


def test_single_attributes_that_vanish_do_not_take_the_function_with_them(sysfs: SysfsBuilder) -> None:
    sysfs.function("0000:00:02.0")
    assert read_after(sysfs, "0000:00:02.0", but_lists=True) == ["0000:00:02.0"]


def test_a_host_without_functions_is_a_host(sysfs: SysfsBuilder) -> None:
    assert LinuxHostDriver(sysfs.root).discover().functions == ()


def test_what_is_no_host_is_refused_with_the_place_named(tmp_path: Path) -> None:
    with pytest.raises(LanewayError, match=str(tmp_path)) as caught:
        LinuxHostDriver(tmp_path).discover()
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE


def test_the_host_has_name_kernel_boot_nodes_and_readiness(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, numa_node=1).host.numa_node(0, cpus="0-3").numa_node(1, cpus="4-7")
    sysfs.file("proc/sys/kernel/hostname", "gpu-1\n").file("proc/sys/kernel/osrelease", "6.12.0\n")
    sysfs.file("proc/sys/kernel/random/boot_id", "3f0c\n").file("proc/cmdline", "quiet\n")
    inventory = LinuxHostDriver(sysfs.root).discover()
    assert (inventory.host, inventory.boot_id, inventory.driver) == ("gpu-1", "3f0c", "linux")
    assert inventory.os == OperatingSystem(family="linux", release="6.12.0")
    assert [node.id for node in inventory.numa_nodes] == [0, 1]
    assert inventory.functions[0].numa_node == 1
    assert inventory.platform is not None


def test_what_a_captured_tree_does_not_tell_is_not_known(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, driver="vfio-pci")
    inventory = LinuxHostDriver(sysfs.root).discover()
    assert (inventory.host, inventory.boot_id, inventory.captured_at) == (None, None, None)
    assert inventory.os == OperatingSystem(family="linux")
    assert (inventory.functions[0].in_use_by, inventory.functions[0].opened_by) == (None, None)


def test_other_files_may_tell_name_and_kernel(sysfs: SysfsBuilder) -> None:
    sysfs.file("etc/hostname", "gpu-2\n").file("proc/version", "Linux version 5.15.0-1 (gcc) #1\n")
    inventory = LinuxHostDriver(sysfs.root).discover()
    assert (inventory.host, inventory.os) == ("gpu-2", OperatingSystem(family="linux", release="5.15.0-1"))


def test_facts_of_host_use_and_openers_are_in_the_functions(sysfs: SysfsBuilder) -> None:
    disk = sysfs.function("0000:01:00.0", class_code="010802", driver="nvme")
    disk.block_device("nvme0n1", number="259:0")
    guest = sysfs.function("0000:02:00.0", driver="vfio-pci", iommu_group=9)
    sysfs.file("proc/self/mountinfo", "22 1 259:0 / / rw - ext4 /dev/nvme0n1 rw\n").file("proc/swaps", "Filename\n")
    (sysfs.root / "proc/77/fd").mkdir(parents=True)
    (sysfs.root / "proc/77/fd/5").symlink_to("/dev/vfio/9")
    sysfs.file("proc/77/comm", "qemu-system-x86\n")
    by_address = {str(f.address): f for f in LinuxHostDriver(sysfs.root).discover().functions}
    assert [use.code for use in by_address[disk.name].in_use_by or ()] == ["mounted"]
    openers = by_address[guest.name].opened_by
    assert openers is not None
    assert [(opener.pid, opener.name) for opener in openers] == [(77, "qemu-system-x86")]


def test_names_that_are_not_utf_8_can_be_printed_and_written(sysfs: SysfsBuilder) -> None:
    disk = sysfs.function("0000:01:00.0", class_code="010802", driver="nvme", iommu_group=9)
    disk.block_device("nvme0n1", number="259:0")
    sysfs.file("proc/self/mountinfo", b"22 1 259:0 / /mnt/\xff rw - ext4 /dev/nvme0n1 rw\n")
    sysfs.file("proc/sys/kernel/hostname", b"gpu-\xff\n").file("proc/77/comm", b"vm-\xff\n")
    (sysfs.root / "proc/77/fd").mkdir(parents=True)
    (sysfs.root / "proc/77/fd/5").symlink_to("/dev/vfio/9")
    inventory = LinuxHostDriver(sysfs.root).discover()
    (function,) = inventory.functions
    assert inventory.host == "gpu-\ufffd"
    assert [use.detail for use in function.in_use_by or ()] == ["/mnt/\ufffd"]
    assert [opener.name for opener in function.opened_by or ()] == ["vm-\ufffd"]
    assert decode_inventory(encode_inventory(inventory)) == inventory


def test_it_is_the_same_each_time(sysfs: SysfsBuilder) -> None:
    card = sysfs.function(CARD, total_vfs=8, iommu_group=1)
    card.vf("0000:81:02.0", "154c", iommu_group=2).netdev("ens1v0")
    driver = LinuxHostDriver(sysfs.root)
    assert driver.discover() == driver.discover()


def test_the_running_system_is_read_at_a_time_or_says_why_it_cannot_be() -> None:
    driver = LinuxHostDriver(clock=lambda: 1_796_115_600.9)
    if LinuxHostDriverFactory().unavailable() is None:
        assert driver.discover().captured_at == "2026-12-01T09:00:00Z"
    else:
        with pytest.raises(LanewayError, match="no Linux host with a PCI bus"):
            driver.discover()


def test_the_driver_says_what_it_is(tmp_path: Path) -> None:
    told = LinuxHostDriver(tmp_path).describe()
    assert (told.name, told.os_family, told.abilities) == ("linux", "linux", frozenset())
    assert "location_path" not in told.facts


def test_the_factory_refuses_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert LinuxHostDriverFactory().unavailable() == "this machine runs win32, not Linux"


def test_the_factory_makes_the_driver_for_this_machine() -> None:
    assert isinstance(LinuxHostDriverFactory()(), LinuxHostDriver)


def test_the_factory_refuses_a_machine_without_a_pci_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "DEVICES", "sys/bus/none")
    assert LinuxHostDriverFactory().unavailable() == "there is no /sys/bus/none: the kernel shows no PCI bus here"
