"""Virtual machines of the test host itself, with its devices: QEMU processes, and domains of libvirt.

Their processors start only where the firmware is asked what it sees.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from laneway.domain.address import PciAddress
from vm.commands import output_of

_DOMAIN = """<domain type='qemu'><name>{name}</name>{uuid}<memory unit='MiB'>64</memory><vcpu>1</vcpu>
<os><type arch='x86_64' machine='q35'>hvm</type></os>
<devices><emulator>/usr/bin/qemu-system-x86_64</emulator>
{devices}
<controller type='usb' model='none'/><memballoon model='none'/></devices></domain>"""

_HOSTDEV = """<hostdev mode='subsystem' type='pci' managed='yes'>
<source><address domain='0x{one.domain:04x}' bus='0x{one.bus:02x}' slot='0x{one.slot:02x}' function='0x{one.function}'/>
</source></hostdev>"""


def vfio_devices(*addresses: str) -> list[str]:
    """QEMU's arguments for devices."""
    return [word for address in addresses for word in ("-device", f"vfio-pci,host={address}")]


@contextmanager
def running_vm(name: str, *arguments: str) -> Iterator[int]:
    """A QEMU with these arguments besides; gives the id of its process.

    It greets at once, and answers when it has its devices.
    """
    process = subprocess.Popen(
        [
            *("qemu-system-x86_64", "-name", f"guest={name}", "-machine", "q35", "-accel", "tcg", "-m", "64", "-S"),
            *("-display", "none", "-nodefaults", "-qmp", "stdio", *arguments),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write('{"execute": "qmp_capabilities"}\n')
            process.stdin.flush()
            told = process.stdout.readline(), process.stdout.readline()
            assert [next(iter(json.loads(line))) for line in told] == ["QMP", "return"]
            yield process.pid
        finally:
            process.terminate()


def is_set_up_by_firmware(ids: str, *addresses: str) -> bool:
    """Whether the firmware of a VM with these devices sets up a function with this vendor and product.

    SeaBIOS logs each (src/fw/pciinit.c).
    """
    boot = subprocess.Popen(
        [
            *(
                "timeout",
                "120",
                "qemu-system-x86_64",
                "-machine",
                "q35",
                "-accel",
                "tcg",
                "-m",
                "64",
                "-display",
                "none",
            ),
            *("-nodefaults", "-debugcon", "stdio", "-global", "isa-debugcon.iobase=0x402", *vfio_devices(*addresses)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    with boot:
        assert boot.stdout is not None
        is_seen = any(line.startswith("PCI: init ") and line.rstrip().endswith(f"id={ids}") for line in boot.stdout)
        boot.terminate()
    return is_seen


def managed_hostdevs(*addresses: str) -> str:
    """libvirt's elements for devices that it takes from their drivers, and gives back."""
    return "".join(_HOSTDEV.format(one=PciAddress.parse(address)) for address in addresses)


def domain_xml(name: str, devices: str, uuid: str | None = None) -> str:
    """The definition of a domain with these elements among its devices."""
    return _DOMAIN.format(name=name, uuid="" if uuid is None else f"<uuid>{uuid}</uuid>", devices=devices)


@contextmanager
def running_domain(libvirt: Any, name: str, devices: str, uuid: str | None = None) -> Iterator[None]:
    """A domain of libvirt with these elements among its devices."""
    output_of("modprobe", "vfio-pci")  # without it libvirt says that the host cannot do this
    connection = libvirt.open("qemu:///system")
    try:
        domain = connection.createXML(domain_xml(name, devices, uuid), libvirt.VIR_DOMAIN_START_PAUSED)
        try:
            yield
        finally:
            domain.destroy()
    finally:
        connection.close()
