"""A host with an IOMMU that does not remap interrupts, as old ones."""

from pathlib import Path

import pytest

from laneway.domain.inventory import Inventory
from laneway.hosts.linux import LinuxHostDriver
from vm.commands import output_of
from vm.devices import GPU, GPU_AUDIO, NIC_PORT_0, NIC_PORT_1, NVME
from vm.host_use import look

UNSAFE = Path("/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts")


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return LinuxHostDriver().discover()


def test_its_kind(inventory: Inventory) -> None:
    assert inventory.platform is not None
    assert (inventory.platform.iommu, inventory.platform.interrupt_remapping) == ("virtio", False)


def test_it_has_groups(inventory: Inventory) -> None:
    groups = {str(function.address): function.iommu_group for function in inventory.functions}
    assert groups[GPU] == groups[GPU_AUDIO] is not None
    assert groups[NIC_PORT_0] == groups[NIC_PORT_1] is not None
    assert groups[NVME] not in {group for address, group in groups.items() if address != NVME}


def test_interrupts_are_not_remapped_until_that_is_allowed(inventory: Inventory) -> None:
    worst = inventory.readiness[0]
    assert (worst.code, worst.severity) == ("interrupt_remapping_off", "error")
    output_of("modprobe", "-a", "vfio-pci", "vfio_iommu_type1")
    UNSAFE.write_text("Y")
    allowed = {note.code: note.severity for note in look().readiness}
    assert allowed.get("unsafe_interrupts") == "warning"
    assert "interrupt_remapping_off" not in allowed
