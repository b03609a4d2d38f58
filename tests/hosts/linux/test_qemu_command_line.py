"""Command lines of QEMU."""

import shlex

import pytest

from laneway.hosts.linux.qemu_command_line import parse_qemu_command_line
from laneway.hosts.observed_vm import ObservedVm

UUID = "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60"


def parse(line: str) -> ObservedVm | None:
    return parse_qemu_command_line(shlex.split(line), 4711)


def addresses(line: str) -> list[str]:
    vm = parse(line)
    assert vm is not None
    return [str(address) for address in vm.addresses]


@pytest.mark.parametrize(
    "program", ["/usr/bin/qemu-system-x86_64", "qemu-system-aarch64", "/usr/libexec/qemu-kvm", "/usr/bin/kvm"]
)
def test_programs_that_are_qemu(program: str) -> None:
    assert parse(f"{program} -m 4G") == ObservedVm(source="qemu", pid=4711)


@pytest.mark.parametrize("line", ["", "qemu-img convert a b", "cloud-hypervisor --device path=/x", "bash -name x"])
def test_programs_that_are_not(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("options", "name", "uuid"),
    [
        (f"-name guest=db-1,debug-threads=on -uuid {UUID}", "db-1", UUID),
        ("-name db-1", "db-1", None),
        ("-name 'a,,b,process=x'", "a,b", None),
        ("--name db-1,debug-threads=on", "db-1", None),
        (f"-uuid {UUID} -nodefaults", None, UUID),
        ("-nodefaults -name", None, None),
    ],
)
def test_the_name_and_the_uuid(options: str, name: str | None, uuid: str | None) -> None:
    vm = parse(f"kvm {options}")
    assert vm is not None
    assert (vm.name, vm.uuid) == (name, uuid)


@pytest.mark.parametrize(
    "options",
    [
        "-device vfio-pci,host=0000:3b:02.1,id=hostdev0,bus=pci.5,addr=0x0",
        "-device vfio-pci,host=3b:02.1",
        "-device driver=vfio-pci,host=0000:3b:02.1",
        "-device vfio-pci-nohotplug,host=0000:3b:02.1",
        "--device vfio-pci,sysfsdev=/sys/bus/pci/devices/0000:3b:02.1",
        """-device '{"driver":"vfio-pci","host":"0000:3b:02.1","id":"hostdev0","multifunction":true}'""",
    ],
)
def test_functions_by_every_way_of_writing_them(options: str) -> None:
    assert addresses(f"kvm {options} -display none") == ["0000:3b:02.1"]


@pytest.mark.parametrize(
    "options",
    [
        "-device virtio-net-pci,host=0000:3b:02.1",
        "-device vfio-pci,fd=32",
        "-device vfio-pci,sysfsdev=/sys/bus/mdev/devices/c2177883",
        "-device '{broken'",
        "-device",
    ],
)
def test_devices_that_name_no_function(options: str) -> None:
    assert addresses(f"kvm {options}") == []


@pytest.mark.parametrize(
    "options",
    [
        "-netdev vhost-vdpa,vhostdev=/dev/vhost-vdpa-0,id=n0",
        "-netdev type=vhost-vdpa,vhostdev=/dev/vhost-vdpa-0,id=n0",
        """-netdev '{"type":"vhost-vdpa","vhostdev":"/dev/vhost-vdpa-0","id":"n0"}'""",
    ],
)
def test_vdpa_devices(options: str) -> None:
    vm = parse(f"kvm {options} -netdev tap,id=n1 -netdev vhost-vdpa,id=n2")
    assert vm is not None
    assert vm.vhost_nodes == ("/dev/vhost-vdpa-0",)
