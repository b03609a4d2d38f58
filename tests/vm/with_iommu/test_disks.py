"""Disks that the host needs, by the kernel's real layers: each is traced to the functions below, until it is gone."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from vm.commands import output_of
from vm.devices import GPU, NVME, NVME_PF, NVME_WITHOUT_ACS, controller_of, disk_of, settle
from vm.host_use import functions_now, uses, uses_of

PAIR = (NVME, NVME_WITHOUT_ACS)
ALL = (*PAIR, NVME_PF)


@pytest.fixture(autouse=True)
def blank_disks() -> Iterator[None]:
    """Nothing takes up by itself what stands on the disks, and nothing stays on them."""
    Path("/etc/mdadm").mkdir(exist_ok=True)
    Path("/etc/mdadm/mdadm.conf").write_text("AUTO -all\n")
    yield
    for address in ALL:
        output_of("wipefs", "--all", "--force", node_of(address))
        output_of("blockdev", "--rereadpt", node_of(address))
    settle()
    now = functions_now()
    assert [uses_of(now[address]) for address in ALL] == [set(), set(), set()]


def node_of(address: str) -> str:
    return f"/dev/{disk_of(address)}"


@contextmanager
def undone_by(*command: str) -> Iterator[None]:
    try:
        yield
    finally:
        output_of(*command)


@contextmanager
def mounted(node: str, point: Path) -> Iterator[None]:
    point.mkdir(exist_ok=True)
    output_of("mount", node, str(point))
    with undone_by("umount", str(point)):
        yield


@dataclass(frozen=True, slots=True)
class Layer:
    """How something is put on disks and taken away, and the use that it is."""

    make: Sequence[Sequence[str]]
    undo: Sequence[str]
    use: tuple[str, str]


def raid(*nodes: str) -> Layer:
    create = ("mdadm", "--create", "/dev/md0", "--run", "--assume-clean", "--level=1", "--metadata=1.2")
    return Layer(
        [(*create, f"--raid-devices={len(nodes)}", *nodes)], ("mdadm", "--stop", "/dev/md0"), ("held_by_md", "md0")
    )


def encryption(node: str, key: Path) -> Layer:
    key.write_bytes(bytes(range(64)))
    kind = ("--type=plain", "--cipher=aes-xts-plain64", "--key-size=512", f"--key-file={key}")
    return Layer(
        [("cryptsetup", "open", *kind, node, "secret")], ("cryptsetup", "close", "secret"), ("held_by_dm", "secret")
    )


def volume(node: str) -> Layer:
    return Layer(
        [
            ("vgcreate", "-ff", "-y", "group", node),
            ("lvcreate", "-y", "-Wn", "-Zn", "-L", "24M", "-n", "data", "group"),
            ("mkfs.ext4", "-q", "/dev/group/data"),
        ],
        ("vgchange", "-an", "group"),
        ("held_by_lvm", "group-data"),
    )


def mount_of(node: str, point: Path) -> Layer:
    point.mkdir()
    return Layer([("mount", node, str(point))], ("umount", str(point)), ("mounted", str(point)))


def test_lvm_on_dm_crypt_on_a_raid_over_two_nvme(tmp_path: Path) -> None:
    """Every layer is seen from both disks, from the day it is made to the day it is taken away."""
    layers = [
        raid(*map(node_of, PAIR)),
        encryption("/dev/md0", tmp_path / "key"),
        volume("/dev/mapper/secret"),
        mount_of("/dev/group/data", tmp_path / "data"),
    ]
    standing: list[Layer] = []
    try:
        for layer in layers:
            for command in layer.make:
                output_of(*command)
            standing.append(layer)
            assert_used_by(standing)
        while standing:
            output_of(*standing[-1].undo)
            standing.pop()
            assert_used_by(standing)
    finally:
        for layer in reversed(standing):
            output_of(*layer.undo)


def assert_used_by(standing: Sequence[Layer]) -> None:
    settle()
    now = functions_now()
    expected = {layer.use for layer in standing}
    assert [uses_of(now[address]) for address in ALL] == [expected, expected, set()]


def test_a_file_system_over_two_nvme(tmp_path: Path) -> None:
    nodes = [node_of(address) for address in PAIR]
    output_of("mkfs.btrfs", "-q", "-f", "-M", *nodes)
    output_of("modprobe", "btrfs")
    output_of("btrfs", "device", "scan", *nodes)
    with mounted(nodes[0], tmp_path / "pool"):
        now = functions_now()
        assert [uses_of(now[address]) for address in PAIR] == [{("mounted", str(tmp_path / "pool"))}] * 2


def test_a_namespace_that_could_have_several_paths(tmp_path: Path) -> None:
    output_of("mkfs.ext4", "-q", node_of(NVME_PF))
    with mounted(node_of(NVME_PF), tmp_path / "data"):
        now = functions_now()
        assert uses_of(now[NVME_PF]) == {("mounted", str(tmp_path / "data"))}
        assert uses_of(now[NVME]) == set()


def test_a_partition(tmp_path: Path) -> None:
    node = node_of(NVME)
    output_of("sfdisk", "--wipe=always", node, given="start=2048, size=65536\n")
    settle()
    output_of("mkfs.ext4", "-q", f"{node}p1")
    with mounted(f"{node}p1", tmp_path / "data"):
        assert uses(NVME) == {("mounted", str(tmp_path / "data"))}


def test_swap() -> None:
    node = node_of(NVME)
    output_of("mkswap", node)
    output_of("swapon", node)
    with undone_by("swapoff", node):
        assert uses(NVME) == {("swap", disk_of(NVME))}
    assert uses(NVME) == set()


def test_a_loop_device() -> None:
    output_of("modprobe", "loop")
    loop = output_of("losetup", "--find", "--show", node_of(NVME)).strip()
    with undone_by("losetup", "--detach", loop):
        assert ("held_open", loop.removeprefix("/dev/")) in (uses(NVME) or ())


def test_a_disk_that_a_process_holds_for_itself_alone() -> None:
    descriptor = os.open(node_of(NVME), os.O_RDWR | os.O_EXCL)
    try:
        assert ("device_node_open", f"{node_of(NVME)} by python3 ({os.getpid()})") in (uses(NVME) or ())
    finally:
        os.close(descriptor)


def test_a_file_system_that_only_a_container_sees(tmp_path: Path) -> None:
    """No table that is seen from here tells of it; the kernel does, when the disk is asked for."""
    output_of("mkfs.ext4", "-q", node_of(NVME))
    script = f"mount {node_of(NVME)} {tmp_path} && echo mounted && read line"
    container = subprocess.Popen(
        ["unshare", "--mount", "--propagation=private", "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with container:
        assert container.stdout is not None
        assert container.stdout.readline() == "mounted\n"
        assert uses(NVME) == {("held_open", disk_of(NVME))}
        container.communicate("\n")


def test_a_volume_that_is_not_active() -> None:
    """What is on a disk that nobody uses is not in use: LVM has not taken it up."""
    output_of("vgcreate", "-ff", "-y", "group", node_of(NVME))
    settle()
    assert uses(NVME) == set()


@pytest.mark.parametrize("address", [NVME, NVME_PF])
def test_a_controller_that_a_process_has_open(address: str) -> None:
    node = f"/dev/{controller_of(address)}"
    descriptor = os.open(node, os.O_RDWR)
    try:
        assert uses(address) == {("device_node_open", f"{node} by python3 ({os.getpid()})")}
    finally:
        os.close(descriptor)


def test_a_graphics_card_that_a_process_has_open() -> None:
    descriptor = os.open("/dev/dri/card0", os.O_RDWR)
    try:
        assert ("device_node_open", f"/dev/dri/card0 by python3 ({os.getpid()})") in (uses(GPU) or ())
    finally:
        os.close(descriptor)


def test_the_console_is_on_the_graphics_card() -> None:
    assert uses(GPU) == {("boot_console", "fb0")}
