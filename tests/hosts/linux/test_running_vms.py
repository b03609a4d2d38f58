"""The VMs that run on a Linux host already, by its files."""

import pytest

from hosts.host_tree import HostTreeBuilder
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, Opener, PciFunction
from laneway.hosts.linux.running_vms import running_vms
from laneway.interfaces.running_vms import RunningVms

GPU, VF = map(PciAddress.parse, ("3b:00.0", "81:02.0"))
UUID = "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60"
STATUS = f"""<domstatus state='running' pid='4711'><domain type='kvm'><name>db-1</name><uuid>{UUID}</uuid><devices>
<hostdev mode='subsystem' type='pci'><source><address domain='0x0000' bus='0x3b' slot='0x00' function='0x0'/></source>
</hostdev></devices></domain></domstatus>"""


def function(address: PciAddress, *, held_by: tuple[int, ...] = ()) -> PciFunction:
    return PciFunction(
        address=address,
        vendor_id="10de",
        product_id="20b0",
        dev_type=DevType.PCI,
        opened_by=tuple(Opener(pid=pid, name="qemu") for pid in held_by),
    )


def test_a_libvirt_domain_and_a_qemu_process_side_by_side(host: HostTreeBuilder) -> None:
    host.write("run/libvirt/qemu/db-1.xml", STATUS)
    host.write("run/libvirt/qemu/db-1.pid", "4711")
    host.write("proc/4711/cmdline", f"kvm\0-name\0guest=db-1\0-uuid\0{UUID}\0")
    host.write("proc/5000/cmdline", "qemu-system-x86_64\0-name\0router\0-device\0vfio-pci,host=0000:81:02.0\0")
    host.write("proc/5001/cmdline", "")
    functions = [function(GPU, held_by=(4711,)), function(VF, held_by=(5000,))]
    found = running_vms(host.root, functions)
    assert [(vm.consumer, vm.pid, vm.source, vm.addresses) for vm in found.vms] == [
        ("db-1", 4711, "libvirt", (GPU,)),
        ("router", 5000, "qemu", (VF,)),
    ]
    assert found.problems == ()


def test_a_domain_without_a_process_id_is_known_by_its_uuid(host: HostTreeBuilder) -> None:
    host.write("run/libvirt/qemu/db-1.xml", STATUS.replace(" pid='4711'", ""))
    host.write("proc/4711/cmdline", f"kvm\0-name\0db-1\0-uuid\0{UUID}\0-device\0vfio-pci,host=0000:3b:00.0\0")
    assert [vm.source for vm in running_vms(host.root, [function(GPU)]).vms] == ["libvirt"]


def test_a_domain_without_a_name_has_that_of_its_file(host: HostTreeBuilder) -> None:
    host.write("run/libvirt/qemu/web.xml", STATUS.replace("<name>db-1</name>", ""))
    assert [vm.consumer for vm in running_vms(host.root, [function(GPU)]).vms] == ["web"]


@pytest.mark.parametrize("unreadable", [False, True], ids=["nonsense", "unreadable"])
def test_a_status_file_that_cannot_be_understood_is_noted(host: HostTreeBuilder, unreadable: bool) -> None:
    if unreadable:
        (host.root / "run/libvirt/qemu/db-1.xml").mkdir(parents=True)
    else:
        host.write("run/libvirt/qemu/db-1.xml", "<domstatus>")
    found = running_vms(host.root, [function(GPU)])
    assert found.vms == ()
    assert (found.problems[0].message or "").startswith("/run/libvirt/qemu/db-1.xml cannot be understood")


def test_status_files_that_may_not_be_read_are_noted(host: HostTreeBuilder) -> None:
    host.write("run/libvirt/qemu", "not a directory, so that listing it fails though it is there")
    found = running_vms(host.root, [])
    assert [problem.message for problem in found.problems] == [
        "/run/libvirt/qemu can be read by root only: its domains are not known"
    ]


def test_a_host_without_vms(host: HostTreeBuilder) -> None:
    assert running_vms(host.root, [function(GPU)]) == RunningVms(vms=())
