"""Which driver serves a guest: as the kernel's own aliases say."""

from pathlib import Path

import pytest

from hosts.linux.changes.kernels import CARD, at, with_card
from hosts.linux.fake_kernel import FakeKernel
from laneway.hosts.linux.changes.vfio_drivers import VfioDriver, most_specific_module, plain_driver, variant_driver
from laneway.hosts.linux.tree import HostTree

NIC_VF = "pci:v000015B3d0000101Esv000015B3sd00000023bc02sc00i00"
ANY, MELLANOX = "vfio_pci:v*d*sv*sd*bc*sc*i*", "vfio_pci:v000015B3d0000101Esv*sd*bc*sc*i*"
TABLES: dict[str, tuple[list[tuple[str, str]], str | None]] = {
    "none": ([], None),
    "one for any device": ([(ANY, "vfio_pci")], "vfio_pci"),
    "one for this device, which is more specific": ([(ANY, "vfio_pci"), (MELLANOX, "mlx5")], "mlx5"),
    "the same the other way round": ([(MELLANOX, "mlx5"), (ANY, "vfio_pci")], "mlx5"),
    "one for this card": ([(MELLANOX, "a"), (MELLANOX.replace("sv*", "sv000015B3"), "b")], "b"),
    "one for another device": ([(MELLANOX.replace("101E", "1018"), "mlx5")], None),
    "one of a driver of the host": ([(MELLANOX.replace("vfio_pci:", "pci:"), "mlx5_core")], None),
}


@pytest.mark.parametrize(("aliases", "module"), TABLES.values(), ids=TABLES.keys())
def test_of_the_aliases_that_fit_the_most_specific_counts(aliases: list[tuple[str, str]], module: str | None) -> None:
    assert most_specific_module(aliases, NIC_VF) == module


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    return with_card(FakeKernel(tmp_path))


def variant(kernel: FakeKernel) -> VfioDriver:
    return variant_driver(HostTree(kernel.root), at(CARD))


ALIAS = "vfio_pci:v00008086d000010D3sv*sd*bc*sc*i*"


def test_modules_have_their_aliases_in_a_table(kernel: FakeKernel) -> None:
    kernel.host.write(
        "lib/modules/6.12.0/modules.alias",
        f"# Aliases\nalias pci:v00008086d000010D3sv*sd*bc*sc*i* e1000e\nalias {ALIAS} nic_vfio_pci\nalias odd\n",
    )
    assert variant(kernel) == VfioDriver(name="nic_vfio_pci", module="nic_vfio_pci", is_loaded=False)


def test_what_is_built_into_the_kernel_has_them_elsewhere(kernel: FakeKernel) -> None:
    kernel.host.write(
        "lib/modules/6.12.0/modules.builtin.modinfo", f"nic_vfio_pci.license=GPL\0nic_vfio_pci.alias={ALIAS}\0"
    )
    (kernel.root / "sys/bus/pci/drivers/nic_vfio_pci").mkdir()
    assert variant(kernel) == VfioDriver(name="nic_vfio_pci", module="nic_vfio_pci", is_loaded=True)


def test_a_module_that_is_loaded_tells_the_name_of_its_driver(kernel: FakeKernel) -> None:
    kernel.host.write("lib/modules/6.12.0/modules.alias", f"alias {ALIAS} nic_vfio_pci\n")
    (kernel.root / "sys/module/nic_vfio_pci/drivers/pci:nic-vfio-pci").mkdir(parents=True)
    (kernel.root / "sys/bus/pci/drivers/nic-vfio-pci").mkdir()
    assert variant(kernel) == VfioDriver(name="nic-vfio-pci", module="nic_vfio_pci", is_loaded=True)


def test_without_one_it_is_vfio_pci(kernel: FakeKernel) -> None:
    assert variant(kernel) == plain_driver(HostTree(kernel.root)) == VfioDriver()


def test_vfio_pci_may_not_be_loaded_yet(tmp_path: Path) -> None:
    kernel = FakeKernel(tmp_path, loaded=())
    assert plain_driver(HostTree(kernel.root)) == VfioDriver(is_loaded=False)
