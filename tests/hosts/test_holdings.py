"""Which VM holds which function, and what cannot be given to any of them."""

from dataclasses import replace

import pytest

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.inventory import DevType, NetDevice, Opener, PciFunction, Problem, Vdpa
from laneway.hosts.holdings import assign_functions
from laneway.hosts.observed_vm import ObservedVm
from laneway.interfaces.running_vms import RunningVm, RunningVms

GPU, AUDIO, VF = map(PciAddress.parse, ("3b:00.0", "3b:00.1", "81:02.0"))
UUID = "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60"


def function(
    address: PciAddress, *, group: int | None = None, held_by: tuple[int, ...] | None = (), vdpa: Vdpa | None = None
) -> PciFunction:
    return PciFunction(
        address=address,
        vendor_id="10de",
        product_id="20b0",
        dev_type=DevType.PCI,
        iommu_group=group,
        vdpa=vdpa,
        opened_by=None if held_by is None else tuple(Opener(pid=pid, name="qemu") for pid in held_by),
    )


def qemu(pid: int, *addresses: PciAddress, name: str | None = "vm", uuid: str | None = None) -> ObservedVm:
    return ObservedVm(source="qemu", name=name, uuid=uuid, pid=pid, addresses=addresses)


def domain(pid: int, *addresses: PciAddress, name: str = "db-1") -> ObservedVm:
    return ObservedVm(source="libvirt", name=name, uuid=UUID, pid=pid, addresses=addresses)


def owners(found: RunningVms) -> dict[str, dict[PciAddress, Attach]]:
    return {vm.consumer: dict(vm.devices) for vm in found.vms}


def test_a_vm_has_what_it_says_and_its_process_holds() -> None:
    functions = [function(GPU, group=1, held_by=(7,)), function(VF, group=2)]
    assert assign_functions([qemu(7, GPU, VF)], functions) == RunningVms(
        vms=(RunningVm(consumer="vm", uuid=None, pid=7, devices={GPU: Attach.VFIO}, source="qemu"),)
    )


def test_what_a_command_line_names_counts_where_handles_cannot_be_seen() -> None:
    assert owners(assign_functions([qemu(7, GPU)], [function(GPU, held_by=None)])) == {"vm": {GPU: Attach.VFIO}}


def test_what_libvirt_says_counts_though_no_handle_is_seen() -> None:
    assert owners(assign_functions([domain(7, GPU)], [function(GPU)])) == {"db-1": {GPU: Attach.VFIO}}


def test_a_handle_adds_a_function_of_a_group_that_the_vm_says_nothing_of() -> None:
    functions = [function(GPU, group=1, held_by=(7,)), function(AUDIO, group=1, held_by=(7,))]
    assert owners(assign_functions([qemu(7, GPU)], functions)) == {"vm": {GPU: Attach.VFIO}}
    assert owners(assign_functions([qemu(7)], functions)) == {"vm": {GPU: Attach.VFIO, AUDIO: Attach.VFIO}}


def test_vdpa_and_macvtap_are_told_from_vfio() -> None:
    vm = ObservedVm(source="libvirt", name="a", pid=7, vhost_nodes=("/dev/vhost-vdpa-0",), macvtap_parents=("ens5v1",))
    functions = [
        function(VF, vdpa=Vdpa(name="vdpa0", vhost_node="/dev/vhost-vdpa-0")),
        replace(function(GPU), netdevs=(NetDevice(name="ens5v1"),)),
        function(AUDIO, vdpa=Vdpa(name="vdpa1", vhost_node="/dev/vhost-vdpa-1"), held_by=(7,)),
    ]
    assert owners(assign_functions([vm], functions)) == {
        "a": {VF: Attach.VDPA, GPU: Attach.MACVTAP, AUDIO: Attach.VDPA}
    }


def test_a_function_that_two_vms_have_goes_to_neither() -> None:
    found = assign_functions([domain(7, GPU, VF), qemu(8, GPU)], [function(GPU, held_by=None), function(VF)])
    assert owners(found) == {"db-1": {VF: Attach.VFIO}}
    message = "the libvirt domain db-1 and the QEMU process vm both have this function; it is given to neither"
    assert found.problems == (Problem(address="0000:3b:00.0", message=message),)


def test_a_function_that_the_host_does_not_list_is_noted() -> None:
    found = assign_functions([domain(7, GPU)], [])
    assert found.vms == ()
    assert [problem.address for problem in found.problems] == ["0000:3b:00.0"]


def test_a_process_that_is_no_vm_is_noted() -> None:
    found = assign_functions([qemu(7)], [function(GPU, held_by=(7, 9)), function(VF, held_by=None)])
    assert [(problem.address, problem.attribute) for problem in found.problems] == [("0000:3b:00.0", "opened_by")]
    assert "process 9 (qemu)" in (found.problems[0].message or "")
    assert owners(found) == {"vm": {GPU: Attach.VFIO}}


@pytest.mark.parametrize(
    ("vms", "consumers"),
    [
        ([qemu(7, GPU, name="a"), qemu(8, VF, name="b")], ["a", "b"]),
        ([qemu(7, GPU, name="a"), qemu(8, VF, name="a", uuid=UUID)], ["a-7", UUID]),
        ([qemu(7, GPU, name=None, uuid=UUID), qemu(8, VF, name=None)], [UUID, "qemu-8"]),
    ],
    ids=["names", "names that are not unique", "no names"],
)
def test_consumers_are_unique(vms: list[ObservedVm], consumers: list[str]) -> None:
    functions = [function(GPU, held_by=None), function(VF, held_by=None)]
    assert [vm.consumer for vm in assign_functions(vms, functions).vms] == consumers


def test_addresses_of_a_vm_are_in_order() -> None:
    (vm,) = assign_functions([domain(7, VF, GPU)], [function(GPU), function(VF)]).vms
    assert vm.addresses == (GPU, VF)
