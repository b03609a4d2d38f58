"""A host whose kernel uses no IOMMU, and that has not loaded vfio-pci."""

import pytest

from laneway.domain.inventory import Inventory
from laneway.hosts.linux import LinuxHostDriver
from vm.commands import output_of
from vm.devices import DEVICES, NIC_PF, make_vfs
from vm.host_use import functions_now, look


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return LinuxHostDriver().discover()


def codes(inventory: Inventory) -> set[str]:
    return {note.code for note in inventory.readiness}


def test_the_iommu_is_off(inventory: Inventory) -> None:
    assert inventory.platform is not None
    assert (inventory.platform.iommu, inventory.platform.interrupt_remapping) == ("off", False)
    worst = inventory.readiness[0]
    assert (worst.code, worst.severity) == ("iommu_off", "error")
    assert worst.remedy


def test_no_function_has_a_group(inventory: Inventory) -> None:
    assert {function.iommu_group for function in inventory.functions} == {None}
    assert {function.not_assignable for function in inventory.functions} <= {None, ()}


def test_vfio_pci_is_there_but_not_loaded_until_it_is(inventory: Inventory) -> None:
    assert inventory.platform is not None
    assert inventory.platform.vfio_pci is True
    assert "vfio_pci_not_loaded" in codes(inventory)
    output_of("modprobe", "vfio-pci")
    assert codes(inventory) - codes(look()) == {"vfio_pci_not_loaded"}


def test_virtual_functions_come_and_go_all_the_same() -> None:
    before = functions_now()
    make_vfs(NIC_PF, 2)
    there = functions_now()
    vfs = there.keys() - before.keys()
    assert [str(there[vf].parent_addr) for vf in vfs] == [NIC_PF, NIC_PF]
    sriov = there[NIC_PF].sriov
    assert sriov is not None
    assert sriov.num_vfs == 2
    make_vfs(NIC_PF, 0)
    assert functions_now() == before
    assert not [vf for vf in vfs if (DEVICES / vf).exists()]
